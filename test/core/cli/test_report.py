# SPDX-License-Identifier: Apache-2.0
"""``bam report``: a page, or one line with status 2 and nothing written."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from bam_core.cli import main
from bam_core.text.report_findings import NoTrajectories
from bam_core.text.verdict_words import headline
from test.core.finding_cases import logged
from test.core.report_cases import edit_summary


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    assert main(["report", *map(str, words)]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert shown.err.startswith("bam report: ")
    return shown.err


@pytest.mark.long
def test_the_page_lies_beside_the_results_unless_told_otherwise(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["report", str(results)]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == f"wrote {results / 'report.html'}"
    elsewhere = tmp_path / "page.html"
    assert main(["report", str(results), "--output", str(elsewhere)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"wrote {elsewhere}"
    assert elsewhere.read_text() == (results / "report.html").read_text()
    assert elsewhere.read_text().startswith("<!DOCTYPE html>")


def test_the_last_lines_are_the_verdict_and_its_rule(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    entry = json.loads((results / "summary.json").read_text())["verdict"]
    assert main(["report", str(results)]) == 0
    last, *findings, rule = capsys.readouterr().out.splitlines()[1:]
    assert findings == [finding["sentence"] for finding in entry["findings"]]
    assert last == f"{headline(entry['kind'])}: {entry['sentence']}"
    assert rule == f"rule: {entry['rule']}"


def test_a_verdict_of_no_known_colour_is_refused(results: Path, capsys: pytest.CaptureFixture[str]) -> None:
    entry = json.loads((results / "summary.json").read_text())["verdict"]
    edit_summary(results, {"verdict": {**entry, "kind": "blue"}})
    assert "green or yellow or red" in refused(capsys, results)


def test_lost_trajectories_are_told_on_the_terminal_too(
    results: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (results / "trajectories.npz").unlink()
    assert main(["report", str(results)]) == 0
    (finding,) = logged(caplog)
    assert finding == NoTrajectories(kind="missing_trajectories", file="trajectories.npz")
    assert str(results) in caplog.text
    assert (results / "report.html").is_file()


def test_a_servo_file_of_another_identification_is_refused_in_one_line(
    results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = results / "m4.yaml"
    file.write_text(re.sub(r"resistance: [\d.]+", "resistance: 2.5", file.read_text(), count=1))
    assert "m4.yaml: resistance is 2.5, in summary.json " in refused(capsys, results)
    assert not (results / "report.html").exists()


def test_bad_directories_are_refused_in_one_line(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "nowhere: is not there" in refused(capsys, tmp_path / "nowhere")
    assert "has no summary.json" in refused(capsys, empty)
    (results / "m6.yaml").write_text("name: [")
    assert "m6.yaml: is not YAML" in refused(capsys, results)
    (results / "m6.yaml").unlink()
    assert "m6.yaml: is not there" in refused(capsys, results)
    (results / "summary.json").write_text('{"models": ')
    assert "summary.json: is not JSON at line 1" in refused(capsys, results)
    assert not list(tmp_path.rglob("*.html"))


@pytest.mark.long
def test_a_place_that_cannot_be_written_is_refused(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "is a directory" in refused(capsys, results, "--output", tmp_path)
    assert "there is no directory" in refused(capsys, results, "--output", tmp_path / "no" / "page.html")
    assert not (tmp_path / "no").exists()
