# SPDX-License-Identifier: Apache-2.0
"""Findings of a fit of the bench about the error of a servo."""

from __future__ import annotations

from dataclasses import dataclass, field

from bam_core.text.finding import Finding

_CLEAR = 0.9
"""Share of the error: where less than this is left, the bench makes a part of it that matters."""


@dataclass(frozen=True, kw_only=True)
class BenchFitted(Finding):
    """How much of a servo's error is due to the bench.

    Attributes:
        servo: name.
        zero_offset: fitted, rad.
        command_delay: fitted, s.
        recordings: number that they were fitted to.
        error: mean absolute error with the bench as given, rad.
        fitted_error: with the values fitted, rad.
    """

    kind: str = field(default="bench_fitted", init=False)
    servo: str
    zero_offset: float
    command_delay: float
    recordings: int
    error: float
    fitted_error: float

    @property
    def matters(self) -> bool:
        """The bench makes a part of the error that matters."""
        return self.fitted_error < _CLEAR * self.error

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both errors, what was fitted to how many logs, and what follows."""
        offset, delay = f"{1e3 * self.zero_offset:.1f} mrad", f"{1e3 * self.command_delay:.1f} ms"
        logs = f"{self.recordings} of these logs" if self.recordings > 1 else "this log"
        return (
            f"{self.servo}: {1e3 * self.error:.1f} mrad as given, {1e3 * self.fitted_error:.1f} mrad with the"
            " bench fitted.",
            f"Fitted to {logs}: zero offset {offset}, command delay {delay}.",
            "The difference belongs to the bench, not to the servo (--bench-effects none: no fit)."
            if self.matters
            else "The bench's offset and delay hardly matter here.",
        )
