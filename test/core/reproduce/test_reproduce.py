# SPDX-License-Identifier: Apache-2.0
"""Papers redone: claims as tables and JSON, papers by name, the command."""

from __future__ import annotations

import json
import math
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from bam_core.cli import main
from bam_core.errors import UnknownName
from bam_core.reproduce import PAPERS, Claim, claims_table, reproduce, write_claims
from bam_core.reproduce.paper import Paper

CLAIMS = [
    Claim(claim="table 1, error", paper=0.25, ours=np.float64(0.2513), unit="rad", holds=np.bool_(True)),
    Claim(claim="it sticks", paper=True, ours=False, holds=False),
    Claim(claim="no figure", paper=None, ours=math.inf, unit="N", holds=False),
]


def test_the_table_shows_paper_beside_ours_and_shouts_where_they_differ() -> None:
    lines = claims_table(CLAIMS).splitlines()
    assert lines[0].split() == ["claim", "paper", "ours", "unit", "holds"]
    assert "0.25" in lines[2]
    assert "0.2513" in lines[2]
    assert lines[2].endswith("yes")
    assert lines[3].split()[-3:] == ["yes", "no", "NO"]
    assert lines[4].split()[-4:] == ["-", "inf", "N", "NO"]


def test_claims_are_written_as_plain_json(tmp_path: Path) -> None:
    write_claims(CLAIMS, tmp_path / "summary.json")
    entries = json.loads((tmp_path / "summary.json").read_text())
    assert [list(entry) for entry in entries] == [["claim", "paper", "ours", "unit", "holds"]] * 3
    assert entries[0] == {
        "claim": "table 1, error",
        "paper": 0.25,
        "ours": 0.2513,
        "unit": "rad",
        "holds": True,
    }
    assert entries[1]["paper"] is True
    assert entries[2]["ours"] == "inf"
    assert entries[2]["paper"] is None


def test_a_paper_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    with refused(UnknownName, kind="paper", name="kikuwe"):
        reproduce("kikuwe", tmp_path)


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> str:
    """A paper with one claim and one picture."""

    def run(output: Path, say) -> list[Claim]:
        say("drawing")
        output.mkdir(parents=True, exist_ok=True)
        (output / "figure_1.png").write_bytes(b"picture")
        return CLAIMS

    module = types.ModuleType("a_paper")
    module.run = run
    monkeypatch.setitem(sys.modules, "a_paper", module)
    # The command offers the papers that there are, so one of them stands in.
    name = next(iter(PAPERS))
    patched = dict(PAPERS) | {name: Paper(name=name, title="A paper, 2022", module="a_paper")}
    monkeypatch.setattr("bam_core.reproduce.paper.PAPERS", patched)
    monkeypatch.setattr("bam_core.cli.reproduce.PAPERS", patched)
    return name


def test_the_command_prints_the_table_and_leaves_summary_and_plots(
    paper: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "redone"
    assert main(["reproduce", paper, "--output", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "A paper, 2022" in printed
    assert "1 of 3 hold" in printed
    assert "figure_1.png" in printed
    assert len(json.loads((output / "summary.json").read_text())) == 3


def test_a_place_that_cannot_be_written_to_is_told_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["reproduce", "kikuuwe", "--output", str(tmp_path / "file")]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert errors.startswith("bam reproduce: ")
    assert "file" in errors


def test_a_wrong_name_on_the_command_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "newton", "--output", "x"]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "'newton'" in errors
    assert "kikuuwe" in errors
