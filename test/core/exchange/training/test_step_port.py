# SPDX-License-Identifier: Apache-2.0
"""The law for compilers of Python passes all golden cases as plain Python, in float64."""

from __future__ import annotations

from bam_core.exchange.conformance import conformance
from bam_core.exchange.training.step_port import servo


def test_all_golden_cases_agree() -> None:
    outcome = conformance(servo)
    assert outcome.differences == ()
    assert outcome.largest_error < 1e-12
