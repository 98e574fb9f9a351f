# SPDX-License-Identifier: Apache-2.0
"""What a fit of the bench says about the error of a servo."""

from __future__ import annotations

_CLEAR = 0.9
"""Share of the error: where less than this is left, the bench makes a part of it that matters."""


def bench_fit_words(
    name: str, zero_offset: float, command_delay: float, *, recordings: int, error: float, fitted: float
) -> str:
    """Return in one line how much of an error is due to the bench.

    Args:
        name: of the servo.
        zero_offset: fitted, rad.
        command_delay: fitted, s.
        recordings: number that they were fitted to.
        error: mean absolute error with the bench as given, rad.
        fitted: with the values fitted, rad.
    """
    logs = f"{recordings} of these logs" if recordings > 1 else "this log"
    values = f"zero offset {1e3 * zero_offset:.1f} mrad and command delay {1e3 * command_delay:.1f} ms"
    line = (
        f"{name}: {1e3 * error:.1f} mrad as given, {1e3 * fitted:.1f} mrad with {values}, fitted to {logs}."
    )
    if fitted >= _CLEAR * error:
        return f"{line} The bench's offset and delay hardly matter here."
    return f"{line} The difference belongs to the bench, not to the servo (--bench-effects none: no fit)."
