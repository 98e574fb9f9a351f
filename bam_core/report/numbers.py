# SPDX-License-Identifier: Apache-2.0
"""Numbers as text, and scales to draw them on. NaN is an en dash."""

from __future__ import annotations

import math
from dataclasses import dataclass

NOTHING = "–"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def quantity(value: float, digits: int = 4) -> str:
    """Text with so many significant digits and no trailing zeros: "2.31·10⁻⁵"."""
    if not math.isfinite(value):
        return NOTHING
    text, _, exponent = f"{value:.{digits}g}".partition("e")
    return f"{text}·10{str(int(exponent)).translate(_SUPERSCRIPT)}" if exponent else text.replace("-", "−")


def mrad(angle: float) -> str:
    """Text of an angle in rad as milliradians, three digits or more, without the unit."""
    if not math.isfinite(angle):
        return NOTHING
    return f"{1e3 * angle:.{1 if abs(angle) >= 0.1 else 2}f}"


def mrad_interval(ends: tuple[float, float]) -> str:
    """Text of an interval of angles, rad, as milliradians; empty where there is none."""
    return f"{mrad(ends[0])} to {mrad(ends[1])}" if all(map(math.isfinite, ends)) else ""


def interval(low: float, high: float) -> str:
    """Text of an interval, with two digits of its width: "2.049 to 2.131"."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return NOTHING
    largest, width = max(abs(low), abs(high)), high - low
    if width <= 0.0:
        return quantity(low)
    exponent = math.floor(math.log10(largest))
    exponent = 0 if -4 < exponent < 5 else exponent
    decimals = max(exponent - math.floor(math.log10(width)) + 1, 0)
    ends = " to ".join(_end(end / 10.0**exponent, decimals) for end in (low, high)).replace("-", "−")
    return f"({ends})·10{str(exponent).translate(_SUPERSCRIPT)}" if exponent else ends


def _end(value: float, decimals: int) -> str:
    """Round an end; one that is not zero does not become zero, which would then seem to be inside."""
    text = f"{value:.{decimals}f}"
    return text if value == 0.0 or float(text) != 0.0 else quantity(value, 2)


def change(before: float, after: float) -> str:
    """Text of a relative change: "−12.3 %"."""
    if not (math.isfinite(before) and math.isfinite(after)) or before == 0.0:
        return NOTHING
    return f"{100 * (after / before - 1):+.1f} %".replace("-", "−")


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high` over the whole width of a drawing."""

    low: float
    high: float

    def percent(self, value: float) -> float:
        """Return where a value lies, 0 to 100, clipped."""
        share = (value - self.low) / (self.high - self.low)
        return round(100 * min(max(share, 0.0), 1.0), 2)


def round_up(value: float) -> float:
    """Return the next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten; 1 for what is not above zero."""
    if not (math.isfinite(value) and value > 0.0):
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    steps = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
    return next(step for step in steps if step * power >= value * (1 - 1e-9)) * power


def ticks(high: float) -> list[float]:
    """Return three to six round numbers from zero to `high`, which is one that `round_up` gave."""
    power = 10.0 ** math.floor(math.log10(high) + 1e-9)
    lead = round(high / power, 6)
    count = {1.0: 5, 1.5: 3, 2.0: 4, 3.0: 3, 4.0: 4, 5.0: 5, 6.0: 3, 8.0: 4}[lead]
    return [high * i / count for i in range(count + 1)]
