# SPDX-License-Identifier: Apache-2.0
"""Papers redone: claims as tables and JSON, papers by name, the command."""

from __future__ import annotations

import json
import math
import re
import sys
import types
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bam_core.errors import UnknownName
from papers.claim import UNEXPECTED, Claim, claim, claims_table, write_claims
from papers.command import main
from papers.paper import PAPERS, Paper, reproduce
from papers.redone import DEVICES, Exhibit, Redone, Task
from papers.tally import ClaimCount, ExtentCount, Tally
from test.core.refusals import refused

REASON = "the paper's figure"
CLAIMS = (
    Claim(
        claim="table 1, error",
        paper=0.25,
        ours=np.float64(0.2513),
        unit="rad",
        holds=np.bool_(True),
        kind="construction",
        threshold_reason=REASON,
    ),
    Claim(
        claim="it sticks",
        paper=True,
        ours=False,
        holds=False,
        kind="synthetic",
        threshold_reason=REASON,
        contradicts=True,
        reason="it slides",
    ),
    Claim(
        claim="it ends soon",
        paper="soon",
        ours=math.inf,
        unit="N",
        holds=False,
        kind="synthetic",
        threshold_reason=REASON,
        reason="it does not end",
    ),
    Claim(
        claim="it grows",
        paper=1.0,
        ours=1.1,
        holds=True,
        kind="real",
        threshold_reason=REASON,
        chosen_after="twenty per cent were allowed",
    ),
    Claim(
        claim="it ends",
        paper=1.0,
        ours=1.1,
        holds=False,
        kind="real",
        threshold_reason=REASON,
        undecided=True,
        reason="the end is not told",
    ),
)
CHECK = Claim(
    claim="no figure", paper=None, ours=math.inf, holds=False, kind="synthetic", threshold_reason=REASON
)
EXHIBITS = (
    Exhibit(name="fig. 1", subject="a rod", remark="as in the paper", pictures=("figure_1.png",)),
    Exhibit(name="fig. 2", subject="a photograph", redone=False, remark="needs the robot"),
    Exhibit(
        name="table II",
        subject="two rods",
        missing="the second, which is not told",
        remark="the first",
        pictures=("one.png", "two.png"),
        table=(("rod", "m"), ("1", "0.5")),
    ),
    Exhibit(
        name="lemma 1",
        subject="a lemma",
        remark="random rods",
        pictures=("a.png", "b.png"),
        captions=("A", "B"),
    ),
    Exhibit(name="fig. 1, another rod", subject="added", redone=False, remark="needs that rod"),
)
KEYS = ["claim", "paper", "ours", "unit", "holds", "kind", "threshold_reason", "contradicts", "missed"]
KEYS += ["undecided", "chosen_after", "reason", "table"]


def test_tables_are_by_kind_and_shout_where_paper_and_ours_differ() -> None:
    construction, others = claims_table(CLAIMS).split("On synthetic data")
    synthetic, real = others.split("On real data")
    lines = construction.splitlines()
    assert lines[0] == "By construction"
    assert lines[2].split() == ["claim", "paper", "ours", "unit", "holds"]
    assert "0.25" in lines[4]
    assert "0.2513" in lines[4]
    assert lines[4].endswith("yes")
    lines = synthetic.strip().splitlines()
    assert lines[2].split()[-4:] == ["yes", "no", "NO:", "contradicted"]
    assert lines[3].split()[-5:] == ["soon", "inf", "N", "NO:", "missed"]
    lines = real.strip().splitlines()
    assert lines[2].split()[-3:] == ["yes,", "chosen", "after"]
    assert lines[3].split()[-3:] == ["NO:", "not", "decided"]


def test_claims_are_written_as_plain_json(tmp_path: Path) -> None:
    write_claims(CLAIMS, tmp_path / "summary.json")
    entries = json.loads((tmp_path / "summary.json").read_text())
    assert [list(entry) for entry in entries] == [KEYS] * len(CLAIMS)
    assert entries[0] == {
        "claim": "table 1, error",
        "paper": 0.25,
        "ours": 0.2513,
        "unit": "rad",
        "holds": True,
        "kind": "construction",
        "threshold_reason": REASON,
        "contradicts": False,
        "missed": False,
        "undecided": False,
        "chosen_after": "",
        "reason": "",
        "table": "",
    }
    assert [(each["contradicts"], each["missed"], each["undecided"]) for each in entries[1:]] == [
        (True, False, False),
        (False, True, False),
        (False, False, False),
        (False, False, True),
    ]
    assert entries[3]["chosen_after"]
    assert entries[1]["paper"] is True
    assert entries[1]["contradicts"] is True
    assert entries[2]["ours"] == "inf"
    write_claims([CHECK], tmp_path / "checks.json")
    assert json.loads((tmp_path / "checks.json").read_text())[0]["paper"] is None


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "guess"},
        {"threshold_reason": ""},
        {"contradicts": True, "reason": "it slides"},  # though it holds
        {"undecided": True},
        {"holds": False, "contradicts": True, "undecided": True},
    ],
)
def test_a_claim_says_its_kind_its_threshold_and_why_it_does_not_hold(wrong: dict[str, object]) -> None:
    right = {"claim": "a", "paper": 1.0, "ours": 1.0, "holds": True, "kind": "real", "threshold_reason": "±1"}
    assert Claim(**{**right, "holds": False}).reason == UNEXPECTED
    with pytest.raises(ValueError, match="'a'"):
        Claim(**{**right, **wrong})


def test_reason_and_contradiction_of_a_claim_count_only_where_it_does_not_hold() -> None:
    for holds in (True, False):
        made = claim("real", "it grows", "yes", 2.0, holds, REASON, contradicts=True, reason="it shrinks")
        assert made.contradicts is not holds
        assert made.reason == ("" if holds else "it shrinks")
    assert claim("real", "it grows", "yes", 2.0, False, REASON).reason.startswith("not understood")


def test_a_contradiction_is_decided() -> None:
    made = claim("real", "it grows", "yes", 2.0, False, REASON, contradicts=True, undecided=True)
    assert made.contradicts
    assert not made.undecided


def test_counts_are_of_claims_by_kind_and_outcome_and_leave_out_what_was_chosen_after() -> None:
    counts = Redone(claims=CLAIMS, exhibits=EXHIBITS).counts()
    assert counts == Tally(
        kinds={
            "construction": ClaimCount(total=1, held=1),
            "synthetic": ClaimCount(total=2, held=0),
            "real": ClaimCount(total=2, held=0, late=1),
        },
        contradicted=1,
        missed=1,
        undecided=1,
        numbered=ExtentCount(redone=1, in_part=1, not_redone=1),
        beside=ExtentCount(redone=1, in_part=0, not_redone=1),
    )
    assert re.findall(r"\d+", str(counts)) == list("1120201111211131012")


def test_a_row_that_is_no_statement_of_the_paper_is_a_check_and_counted_apart() -> None:
    with pytest.raises(ValueError, match="'no figure'"):
        Redone(claims=(CHECK,), exhibits=())
    checks = (CHECK, CLAIMS[0], CLAIMS[3])
    counts = Redone(claims=CLAIMS[:1], exhibits=(), checks=checks).counts()
    assert counts.kinds["construction"] == ClaimCount(total=1, held=1)
    assert counts.kinds["synthetic"] == ClaimCount(total=0, held=0)
    assert counts.missed == 0
    assert counts.checks == ClaimCount(total=3, held=1, late=1)
    assert str(counts).endswith(f"({counts.checks})")


def test_counts_tell_how_many_of_those_that_hold_are_of_one_table() -> None:
    rows = [replace(CLAIMS[0], table="gains")] * 3
    made = Redone(claims=(*rows, replace(CLAIMS[0], table="alone"), *CLAIMS), exhibits=()).counts()
    assert made.kinds["construction"] == ClaimCount(total=5, held=5, of_one_table=3)
    assert re.findall(r"\d+", str(made))[:3] == ["5", "5", "3"]


@pytest.mark.parametrize(
    ("name", "numbered"),
    [
        ("fig. 5", True),
        ("fig. 7.8", True),
        ("table I", True),
        ("table 6.1", True),
        ("fig. 5, XL330", False),
        ("remark 1", False),
        ("section 4", False),
    ],
)
def test_figures_and_tables_are_told_by_their_number(name: str, numbered: bool) -> None:
    assert Exhibit(name=name, subject="a", remark="b").is_numbered is numbered


@pytest.mark.parametrize(
    "wrong", [{"redone": False, "missing": "a half"}, {"pictures": ("a.png", "b.png"), "captions": ("A",)}]
)
def test_an_exhibit_that_contradicts_itself_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="fig"):
        Exhibit(name="fig. 1", subject="a", remark="b", **wrong)


def test_recordings_of_a_device_are_a_folder_that_may_be_absent(tmp_path: Path) -> None:
    (tmp_path / "xl330").mkdir()
    task = Task(output=tmp_path, data=tmp_path)
    assert task.recordings("xl330") == tmp_path / "xl330"
    assert task.recordings("sts3215") is None
    assert Task(output=tmp_path).recordings("xl330") is None


def test_a_paper_that_does_not_exist_is_named_with_those_that_do(tmp_path: Path) -> None:
    with refused(UnknownName, kind="paper", name="kikuwe"):
        reproduce("kikuwe", Task(output=tmp_path))


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> str:
    """A paper with one claim and one picture."""

    def run(task: Task) -> Redone:
        task.say("drawing")
        (task.output / "figure_1.png").write_bytes(b"picture")
        return Redone(claims=CLAIMS, exhibits=EXHIBITS, checks=(CHECK,), notes=("*A rule*: it ends",))

    module = types.ModuleType("a_paper")
    module.run = run
    monkeypatch.setitem(sys.modules, "a_paper", module)
    # The command offers the papers that there are, so one of them stands in.
    name = next(iter(PAPERS))
    patched = dict(PAPERS) | {name: Paper(name=name, title="A paper, 2022", module="a_paper")}
    monkeypatch.setattr("papers.paper.PAPERS", patched)
    monkeypatch.setattr("papers.command.PAPERS", patched)
    return name


def test_the_command_prints_the_table_and_leaves_summary_and_plots(
    paper: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "redone"
    assert main([paper, "--output", str(output)]) == 0
    printed = capsys.readouterr().out
    assert "A paper, 2022" in printed
    assert "1 of 5 hold" in printed
    assert "figure_1.png" in printed
    for exhibit in EXHIBITS[1:3]:
        (line,) = [line for line in printed.splitlines() if f"{exhibit.name}, {exhibit.subject}" in line]
        assert line.endswith(exhibit.missing or exhibit.remark)
    assert len(json.loads((output / "summary.json").read_text())) == len(CLAIMS)
    assert [each["claim"] for each in json.loads((output / "checks.json").read_text())] == ["no figure"]
    assert printed.index("Checks that are no statement of the paper") < printed.index("no figure")
    page = (output / "page.md").read_text()
    for part in (
        "# A paper, 2022",
        "## Figures and tables",
        "| table II | two rods | in part | the first; missing: the second, which is not told |",
        "## Beside figures and tables",
        "| rod | m |",
        "![table II: two rods (one)](one.png)",
        "![table II: two rods (two)](two.png)",
        "![lemma 1: B](b.png)",
        "## By construction",
        "## On synthetic data",
        "it slides",
        "(figure_1.png)",
        "## What holds by choices made after results were seen",
        "CHOSEN AFTER results were seen: twenty per cent were allowed",
        "## What several claims have in common\n\n- *A rule*: it ends",
        "## Checks that are no statement of the paper",
    ):
        assert part in page


def test_a_data_directory_that_is_not_there_is_told_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["kikuuwe", "--output", str(tmp_path / "out"), "--data", str(tmp_path / "none")]
    assert main(command) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "none" in errors
    command[-1] = str(tmp_path)
    assert main(command) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "xl330" in errors


def test_a_place_that_cannot_be_written_to_is_told_before_the_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["kikuuwe", "--output", str(tmp_path / "file")]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert errors.startswith("python -m papers: ")
    assert "file" in errors


def test_help_says_where_recordings_can_be_had(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    words = "".join(capsys.readouterr().out.split())
    for device, source in DEVICES.items():
        assert f"{device}:{''.join(source.split())}" in words


def test_a_wrong_name_on_the_command_line_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["newton", "--output", "x"]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert "'newton'" in errors
    assert "kikuuwe" in errors
