# SPDX-License-Identifier: Apache-2.0
"""Deliberate bugs in a small project: noticed or not, in a copy, once."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from bam_core.errors import Unavailable
from studies.mutants.python_mutations import python_mutations
from studies.mutants.record import NOTICED, SURVIVED, UNFINISHED, Outcome, Record, share_table, survivors
from studies.mutants.rooms import ROOMS, Room
from studies.mutants.trial import Trial, drawn

SOURCE = "def limited(a, b):\n    while a > b:\n        a = min(a, b)\n    return a + 0 * b\n"
TEST = (
    "import pytest\nfrom room.law import limited\n\n\ndef test_law():\n"
    "    assert limited(3, 1) == 1\n    assert limited(1, 3) == 1\n\n\n"
    "@pytest.mark.long\ndef test_long():\n    assert False\n"
)
ROOM = Room(group="law", sources=("room/law.py",), tests=("test",))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    files = {
        "room/__init__.py": "",
        "room/law.py": SOURCE,
        "test/test_law.py": TEST,
        ".gitignore": "build/\n",
    }
    files["pyproject.toml"] = '[tool.pytest.ini_options]\nmarkers = ["long: long"]\n'
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", root], check=True)
    return root


SURVIVES = "sign: return a + 0 * b -> return a - 0 * b"
FAILS = "comparison: while a > b: -> while a < b:"
HANGS = "min, max: a = min(a, b) -> a = max(a, b)"


def outcomes(
    project: Path, patch: pytest.MonkeyPatch, *bugs: str, seconds: float = 600.0
) -> dict[str, Outcome]:
    """Try some of the bugs of the project."""
    patch.setattr(
        "studies.mutants.rooms.python_mutations",
        lambda *given: [each for each in python_mutations(*given) if each.key.endswith(bugs)],
    )
    trial = Trial(project, project / "build", seconds=seconds, libraries=("pytest",), least=5.0)
    return {each.key.partition(": ")[2]: each for each in trial.run({"law": ROOM}, seed=0, count=99)}


@pytest.mark.long
def test_bugs_are_noticed_by_tests_that_fail_or_hang_and_others_survive(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = outcomes(project, monkeypatch, SURVIVES, FAILS, HANGS)
    assert {key: (each.outcome, each.by) for key, each in found.items()} == {
        SURVIVES: (SURVIVED, ""),
        FAILS: (NOTICED, "test/test_law.py::test_law"),
        HANGS: (NOTICED, "limit of processor time"),
    }


def test_a_bug_whose_tests_all_fail_without_it_is_no_survivor(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "test" / "test_law.py").write_text("def test_law():\n    assert False\n")
    monkeypatch.chdir(project.parent)
    with pytest.raises(Unavailable, match=r"tests of room/law\.py: all fail without a bug"):
        outcomes(project.relative_to(project.parent), monkeypatch, FAILS)


def test_what_is_known_is_not_tried_again_until_its_tests_change(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    first = outcomes(project, monkeypatch, SURVIVES, FAILS)
    assert [first[bug].outcome for bug in (SURVIVES, FAILS)] == [SURVIVED, NOTICED]
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert outcomes(project, monkeypatch, SURVIVES, FAILS) == first
    assert capsys.readouterr().out == ""
    for place in (project, project / "build" / "tree"):
        assert (place / "room" / "law.py").read_text() == SOURCE
    (project / "test" / "test_law.py").write_text(TEST + "\n")
    assert outcomes(project, monkeypatch, FAILS)[FAILS].outcome == NOTICED
    assert len(capsys.readouterr().out.splitlines()) == 1


def test_tests_that_fail_without_a_bug_are_left_out(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "test" / "test_red.py").write_text("def test_red():\n    assert False\n")
    assert outcomes(project, monkeypatch, SURVIVES)[SURVIVES].outcome == SURVIVED
    assert "left out: test/test_red.py" in capsys.readouterr().out


def test_the_end_of_the_time_ends_a_trial(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcomes(project, monkeypatch, SURVIVES, seconds=0.0) == {}


def test_a_larger_count_begins_with_the_same_bugs_and_another_seed_draws_others() -> None:
    bugs = python_mutations("a.py", SOURCE.encode())
    assert drawn(bugs, 1, "law", 9)[:3] == drawn(bugs, 1, "law", 3)
    assert drawn(bugs, 1, "law", 9) != drawn(bugs, 2, "law", 9)


def outcome(room: str, key: str, result: str) -> Outcome:
    return Outcome(room=room, key=key, line=1, outcome=result, by="", state="", seconds=0.0)


def test_shares_are_of_bugs_that_are_not_harmless_unfinished_ones_as_not_noticed() -> None:
    room = next(iter(ROOMS))
    found = [outcome(room, f"{i}", NOTICED) for i in range(8)]
    found += [outcome(room, "late", UNFINISHED)]
    found += [outcome(room, "open", SURVIVED), outcome(room, "alike", SURVIVED)]
    reasons = {"alike": "both are the same number"}
    row = next(line for line in share_table(found, reasons).splitlines() if room in line)
    assert row.split()[-7:] == ["11", "8", "1", "1", "1", "80.0", "%"]
    text = survivors(found, reasons)
    assert text.index("open: write a test") < text.index("both are the same number")


def test_a_record_keeps_the_last_outcome_of_a_bug(tmp_path: Path) -> None:
    record = Record(tmp_path / "record.jsonl")
    record.add(outcome("law", "a", SURVIVED))
    record.add(outcome("law", "a", NOTICED))
    again = Record(tmp_path / "record.jsonl")
    assert again.known("a") == outcome("law", "a", NOTICED)
    assert again.known("b") is None
