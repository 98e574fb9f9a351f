# SPDX-License-Identifier: Apache-2.0
"""Writes docs/papers.md from the pages of `python -m papers`: what is redone, what does not hold.

All claims, by kind and with the reasons of their thresholds, go to a page for each paper beside it.

make papers DATA=RECORDINGS
.venv/bin/python -m papers.overview build/papers/*/page.md
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from papers.claim import KINDS, TITLES
from papers.page import CHECKS, NOTES
from papers.redone import DEVICES

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
_TESTS = "test/papers"

BUGS: dict[str, dict[str, tuple[str, ...]]] = {
    "BAM": {
        "bam/test_mistakes.py": (
            "test_mistakes_turn_claims_about_the_humanoid_to_no",
            "test_a_wrong_sign_of_the_load_turns_a_claim_about_a_synthetic_servo_to_no",
            "test_goals_that_are_20_ms_late_turn_a_claim_about_a_synthetic_servo_to_no",
            "test_servos_without_friction_show_in_the_arm_and_on_the_bench",
        ),
    },
    "Dynaban": {
        "dynaban/test_redo.py": (
            "test_an_error_in_the_simulation_turns_claims_to_no",
            "test_an_error_in_the_law_turns_the_claim_about_recordings_that_counts_to_no",
            "test_friction_off_turns_the_claim_about_the_authors_recordings_that_counts_to_no",
        ),
    },
    "Egle": {
        "egle/test_redo.py": (
            "test_deliberate_bugs_turn_claims_to_no",
            "test_deliberate_bugs_in_the_walk_turn_claims_on_synthetic_data_to_no",
            "test_deliberate_bugs_in_the_estimate_turn_claims_on_synthetic_data_to_no",
        ),
        "egle/test_tables.py": (
            "test_deliberate_bugs_turn_claims_about_table_6_1_to_no",
            "test_deliberate_bugs_turn_claims_about_table_6_2_to_no",
        ),
        "egle/test_squats.py": ("test_deliberate_bugs_turn_checks_to_no",),
    },
    "Kikuuwe": {
        "kikuuwe/test_redo.py": ("test_deliberate_bugs_turn_claims_to_no",),
    },
}
"""Tests with deliberate bugs (sign of the load, friction off, delays), by paper and file."""

FROZEN: dict[str, dict[str, tuple[str, ...]]] = {
    "BAM": {
        "test_frozen.py": (
            "test_no_claim_of_bam_holds_of_servos_that_never_move",
            "test_no_claim_of_bam_holds_of_arms_that_never_move",
            "test_no_claim_of_bam_holds_of_a_humanoid_that_never_moves",
        ),
    },
    "Dynaban": {
        "test_frozen.py": (
            "test_no_claim_of_dynaban_holds_of_robots_that_never_move",
            "test_no_claim_of_dynaban_about_recordings_counts_of_a_servo_that_never_moves",
        ),
    },
    "Egle": {
        "test_frozen.py": (
            "test_no_claim_of_egle_that_speaks_of_motion_holds_of_a_humanoid_that_never_moves",
        ),
    },
    "Kikuuwe": {
        "kikuuwe/test_redo.py": (
            "test_a_program_that_never_moves_bears_nothing_out_that_is_said_of_the_rod",
            "test_a_program_that_returns_zeros_bears_no_law_lemma_or_remark_out",
            "test_robots_that_never_move_bear_nothing_out_that_is_said_of_the_wall",
        ),
    },
}
"""Tests with simulations that never move, by paper and file."""


def _tests(of_papers: dict[str, dict[str, tuple[str, ...]]]) -> str:
    """Return tests as a list; each is looked up."""
    lines = []
    for paper, files in of_papers.items():
        for name, tests in files.items():
            text = (ROOT / _TESTS / name).read_text(encoding="utf-8")
            missing = [test for test in tests if f"def {test}(" not in text]
            if missing:
                raise SystemExit(f"{name}: has no {', '.join(missing)}; mend the list in {__file__}")
            lines.append(f"- {paper}: `{_TESTS}/{name}`: {', '.join(f'`{test}`' for test in tests)}")
    return "\n".join(lines)


HEAD = f"""# Papers redone

`.venv/bin/python -m papers PAPER --output DIR` redoes a paper: it prints each claim beside what is found
here, and writes pictures, `summary.json` and a page with all claims. `--data DIR` names recordings of real
devices, a folder each; without them, what needs them is left out and named. The recordings can be had here:

{chr(10).join(f"- `{device}`: {source}" for device, source in DEVICES.items())}

Every claim has a kind:

- *By construction*: the paper's equations are solved as they stand. This checks the code, and settings that
  the paper leaves open.
- *On synthetic data*: simulated servos and robots differ from what is fitted or compensated, as real ones do.
- *On real data*: recordings of real devices.

Thresholds follow the paper's figures. Each paper has a page with all of its claims, by kind, and the reason
of every threshold.

A claim that does not hold has one of three outcomes:

- *Contradicted*: the opposite of what the paper states comes out, by more than the margin that the threshold
  names. Where our figure has an interval, all of the interval is beyond that margin. Where the paper gives
  the size of an effect, such as "3 times higher", the opposite is no effect, a ratio of 1: each of our ratios
  is then nearer to 1 than to 3, on a logarithmic scale. Simulations of a paper's devices can contradict what
  it says of them. Recordings of other devices cannot, nor can another search contradict what a paper says of
  its own search.
- *Not decided*: only a part of our figure's interval is where the claim would hold. Or the outcome depends on
  a setting that the paper does not give, and the claim holds with another value of it.
- *Missed*: everything else. Examples are a figure outside the threshold, and an improvement that is smaller
  than the margin.

*Chosen after* marks claims whose threshold or setting was chosen when results had been seen; they are not
counted among those that hold. After such choices, some data were drawn anew, with seeds whose results nobody
had seen: Dynaban's robots and kicks, and the steps and the humanoid of Egle's fig. 7.6. Their claims are not
marked. Egle's hip rolls have new noise, but the same steps; their claims are marked.

*Checks* are no statements of the paper, such as a parameter that is identified beside the one that the
simulation has. The page of each paper lists them. They are in no number of claims.

The number of what is not redone counts the rows of both tables of a paper: its figures and tables, and
beside these its lemmas and remarks and what was added here.

That claims can fail is tested. Deliberate bugs (sign of the load, friction off, delays) turn claims of each
paper to NO that count without them; those of Egle's table 6.1 are marked as chosen after.

In BAM's synthetic data goals are 2.5 ms late. With twice that no claim of the paper turns (tried with fewer
recordings): the claims compare models that are identified from the same recordings, and each model takes the
delay for inertia. Only a check, which identifies the delay itself, tells 5 ms from 2.5 ms. 20 ms turn a
claim.

{_tests(BUGS)}

Simulations that never move bear out no claim that counts, except for those that do not speak of motion: ranks
of matrices (Egle), and constants of gears (Kikuuwe).

{_tests(FROZEN)}

Made by `papers/overview.py` from runs of `python -m papers`.
"""
_END = (
    f"## {CHECKS}",
    "## What does not hold",
    "## What holds by",
    "## By construction",
    "## On synthetic data",
    "## On real data",
    "![",
)


def main(pages: list[str], docs: Path = DOCS) -> int:
    """Join the first parts of these pages, one heading lower, with what does not hold of `summary.json`.

    Args:
        pages: page.md of each run, in a folder with the paper's name.
        docs: where papers.md, and papers_NAME.md with all claims, are written.
    """
    parts = [HEAD]
    names = []
    overview = [_OVERVIEW]
    for page in map(Path, pages):
        lines = []
        for line in page.read_text(encoding="utf-8").splitlines():
            if line.startswith(_END):
                break
            lines.append(f"#{line}" if line.startswith("#") else line)
        name = f"papers_{page.resolve().parent.name}"
        names.append(name)
        parts.append("\n".join(lines).strip() + f"\n\n[All claims, by kind]({name}.md)\n")
        claims = json.loads((page.parent / "summary.json").read_text())
        overview.append(_counts(page.resolve().parent.name, claims, _checks(page.parent), parts[-1]))
        failed = [each for each in claims if not each["holds"]]
        if failed:
            parts.append(f"### What does not hold\n\n{_table(failed)}\n")
        late = [each for each in claims if each["holds"] and each["chosen_after"]]
        if late:
            parts.append(f"### What holds by choices made after results were seen\n\n{_late_table(late)}\n")
        all_claims = _all_claims(lines[0].lstrip("# "), claims, _checks(page.parent), _notes(lines))
        (docs / f"{name}.md").write_text(all_claims, encoding="utf-8")
    parts.insert(1, f"## All papers\n\n{_rows([*overview, _sums(overview[1:])])}\n")
    contents = "\n".join(names)
    parts.append(f"```{{toctree}}\n:hidden:\n\n{contents}\n```\n")
    (docs / "papers.md").write_text("\n".join(parts), encoding="utf-8")
    return 0


_OVERVIEW = (
    "paper",
    *(f"{TITLES[kind].lower()}, hold of all" for kind in KINDS),
    "hold, chosen after",
    "contradicted",
    "missed",
    "not decided",
    "checks apart, hold of all",
    "figures and tables: redone",
    "in part",
    "not redone",
    "of all",
)
_FIGURES = re.compile(r"figures and tables: (\d+) redone, (\d+) in part, (\d+) not redone of (\d+)")


def _checks(folder: Path) -> list[dict[str, Any]]:
    """Return what a run has beside claims; older runs have none."""
    path = folder / "checks.json"
    return list(json.loads(path.read_text())) if path.is_file() else []


def _notes(lines: Sequence[str]) -> list[str]:
    """Return what thresholds refer to, a line each, from the lines of a page."""
    notes: list[str] = []
    inside = False
    for line in lines:
        inside = line.lstrip("# ") == NOTES or (inside and not line.startswith("#"))
        if inside and line.startswith("- "):
            notes.append(line)
    return notes


def _counts(
    name: str, claims: list[dict[str, Any]], checks: list[dict[str, Any]], part: str
) -> tuple[str, ...]:
    """Return the row of a paper in the table of all; its figures are counted in the line below its title."""
    outcomes = [_outcome(each) for each in claims]
    of_kind = [[_outcome(each) for each in claims if each["kind"] == kind] for kind in KINDS]
    figures = _FIGURES.search(part)
    return (
        next((paper for paper in BUGS if paper.lower() == name), name),
        *(f"{each.count('holds')} of {len(each)}" for each in of_kind),
        *(
            str(outcomes.count(each))
            for each in ("holds, chosen after", "contradicted", "missed", "not decided")
        ),
        f"{sum(_outcome(each) == 'holds' for each in checks)} of {len(checks)}",
        *(figures.groups() if figures is not None else ("",) * 4),
    )


def _sums(rows: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the last row: the numbers of each column added up."""
    columns = [[re.findall(r"\d+", cell) for cell in column] for column in list(zip(*rows, strict=True))[1:]]
    return "all", *(
        " of ".join(str(sum(map(int, each))) for each in zip(*column, strict=True)) for column in columns
    )


def _all_claims(
    title: str, claims: list[dict[str, Any]], checks: list[dict[str, Any]], notes: Sequence[str]
) -> str:
    """Return the page of a paper: all claims by kind, with the reasons of their thresholds, and checks."""
    parts = [
        f"# All claims: {title}",
        "[Papers](papers.md) says what is redone of the paper, why claims do not hold, and what the words"
        " mean. Made by `papers/overview.py`.",
    ]
    if notes:
        parts += [f"## {NOTES}", "\n".join(notes)]
    for kind in KINDS:
        chosen = [each for each in claims if each["kind"] == kind]
        if chosen:
            parts += [f"## {TITLES[kind]}", _reasons(chosen, "paper")]
    if checks:
        parts += [f"## {CHECKS}", _reasons(checks, "expected")]
    return "\n\n".join(parts) + "\n"


def _reasons(claims: list[dict[str, Any]], theirs: str) -> str:
    """Return claims with the reasons of their thresholds, and why they do not hold where they are checks."""
    rows: list[tuple[str, ...]] = [("claim", theirs, "ours", "outcome", "threshold and its reason")]
    for each in claims:
        name, _, paper, ours = _compared(each)
        why = f". {each['reason']}" if theirs == "expected" and each["reason"] else ""
        rows.append((name, paper, ours, _outcome(each), each["threshold_reason"] + why))
    return _rows(rows)


def _table(claims: list[dict[str, Any]]) -> str:
    rows: list[tuple[str, ...]] = [("claim", "kind", "paper", "ours", "outcome", "why")]
    for each in claims:
        late = f"; chosen after results were seen: {each['chosen_after']}" if each["chosen_after"] else ""
        rows.append((*_compared(each), _outcome(each), each["reason"] + late))
    return _rows(rows)


def _late_table(claims: list[dict[str, Any]]) -> str:
    rows: list[tuple[str, ...]] = [("claim", "kind", "paper", "ours", "what was chosen after")]
    return _rows([*rows, *((*_compared(each), each["chosen_after"]) for each in claims)])


def _compared(claim: dict[str, Any]) -> tuple[str, str, str, str]:
    ours = f"{_text(claim['ours'])} {claim['unit']}".strip()
    return claim["claim"], claim["kind"], _text(claim["paper"]), ours


def _outcome(claim: dict[str, Any]) -> str:
    if claim["holds"]:
        return "holds, chosen after" if claim["chosen_after"] else "holds"
    return "contradicted" if claim["contradicts"] else "not decided" if claim["undecided"] else "missed"


def _rows(rows: list[tuple[str, ...]]) -> str:
    rows.insert(1, ("---",) * len(rows[0]))
    return "\n".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in row)} |" for row in rows)


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
