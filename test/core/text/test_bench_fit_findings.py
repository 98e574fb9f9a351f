# SPDX-License-Identifier: Apache-2.0
"""How much of an error is due to the bench, in words."""

from __future__ import annotations

from dataclasses import replace

from bam_core.text.bench_fit_findings import BenchFitted


def test_a_bench_that_matters_is_told_from_one_that_does_not() -> None:
    fitted = BenchFitted(
        servo="sts3215",
        zero_offset=0.0123,
        command_delay=0.0086,
        recordings=12,
        error=0.0369,
        fitted_error=0.011,
    )
    assert fitted.sentences == (
        "sts3215: 36.9 mrad as given, 11.0 mrad with the bench fitted.",
        "Fitted to 12 of these logs: zero offset 12.3 mrad, command delay 8.6 ms.",
        "The difference belongs to the bench, not to the servo (--bench-effects none: no fit).",
    )
    alike = replace(fitted, fitted_error=0.036, recordings=1)
    assert alike.sentences[1:] == (
        "Fitted to this log: zero offset 12.3 mrad, command delay 8.6 ms.",
        "The bench's offset and delay hardly matter here.",
    )
