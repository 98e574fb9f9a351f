# SPDX-License-Identifier: Apache-2.0
"""Why a parameter is not identifiable, in words, and which run would help."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bam_core.text.uncertainty_findings import ParameterRemark, RunAdvice
from test.core.finding_cases import RECORD


@pytest.mark.parametrize(
    ("factor", "words"),
    [(4.0, "by a factor of 4.0."), (1.34, "by a factor of 1.3."), (11.0, "more than tenfold.")],
)
def test_a_run_has_its_factor(factor: float, words: str) -> None:
    advice = replace(RECORD, factor=factor)
    assert advice.sentences[0] == "Record lift_and_drop with 1 kg at 0.15 m, kp 8."
    assert advice.sentences[1] == f"That reduces its standard error {words}"


def test_open_loop_is_cured_by_a_pendulum() -> None:
    assert RunAdvice(kind="pendulum").sentence.startswith("Record runs on a pendulum")
    assert "would help" in RunAdvice(kind="no_run").sentence


def test_a_remark_says_why_then_what_helps_then_what_a_negative_delay_is() -> None:
    remark = ParameterRemark(
        kind="related", parameters=("load", "viscous"), advice=RECORD, is_late_stamped=True
    )
    assert remark.sentences == (
        "Hardly distinguishable from load and viscous in these recordings.",
        *RECORD.sentences,
        "Below zero means that commands are stamped late, or positions early.",
    )
    assert ParameterRemark(kind="trades", parameters=("load",)).sentences == (
        "Trades with load.",
        "These recordings determine only their combination.",
    )
