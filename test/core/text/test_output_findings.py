# SPDX-License-Identifier: Apache-2.0
"""What happens to results on disk, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from bam_core.text.output_findings import Replaced, Unfinished, WillReplace

OUTPUT = Path("found")


def test_a_replaced_identification_is_named_with_what_was_removed() -> None:
    replaced = Replaced(
        directory=OUTPUT, models=("m1", "m2"), date="2026-01-02", files=("m2.yaml", "report.html"), plots=3
    )
    assert replaced.sentences == (
        "found: the identification of 2026-01-02 is replaced (m1, m2).",
        "Removed, as the new one does not have it: m2.yaml, report.html, plots of 3 logs.",
    )
    assert (
        Replaced(directory=OUTPUT, models=("m1",)).sentence == "found: the identification is replaced (m1)."
    )


def test_what_will_be_replaced_is_named_with_the_way_to_keep_it() -> None:
    there = WillReplace(directory=OUTPUT, models=("m1", "m2"), date="2026-01-02")
    assert there.sentences == (
        "found holds an identification of 2026-01-02 (m1, m2).",
        "This one replaces it when it is complete.",
        "To keep it, stop now and give another --output.",
    )


def test_a_stopped_identification_has_what_is_written_and_how_to_resume() -> None:
    stopped = Unfinished(
        kind="interrupted", directory=OUTPUT, models=("m1",), not_done=("m4", "uncertainty"), resume=""
    )
    assert stopped.sentences == (
        "Interrupted: m1 written to found.",
        "Not done: m4, uncertainty.",
        "Give the same command again to resume it.",
    )
    partly = replace(stopped, not_converged=("m5",), without_errors=("m2",), not_done=(), resume=None)
    assert partly.sentence == "Interrupted: m1, m5 (not converged), m2 (without errors) written to found."
    failed = Unfinished(kind="interrupted", directory=OUTPUT, error="disk full", resume="--storage URL")
    assert failed.sentences == (
        "Interrupted: nothing is written.",
        "Error: disk full.",
        "Add --storage URL, so that an interrupted search can resume.",
    )
    assert Unfinished(kind="cancelled", directory=OUTPUT, models=("m1",)).sentence == (
        "Cancelled: m1 written to found."
    )
