# SPDX-License-Identifier: Apache-2.0
"""The demo ends with the verdict that the identification wrote."""

from __future__ import annotations

from bam_core.text.verdict_words import RULE, headline
from bam_ros.demo.pipeline import Outcome, Replayed
from bam_ros.demo.report import verdict_lines


def test_the_last_lines_are_the_verdict_and_its_rule() -> None:
    verdict = {"kind": "yellow", "sentence": "Use m6.yaml with care.", "rule": RULE}
    outcome = Outcome(
        resolution=1e-3,
        summary={"verdict": verdict},
        servos={},
        replayed=Replayed(runs=(), positions={}),
        hidden={},
    )
    assert verdict_lines(outcome) == (f"{headline('yellow')}: {verdict['sentence']}", f"rule: {RULE}")
