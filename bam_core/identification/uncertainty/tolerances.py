# SPDX-License-Identifier: Apache-2.0
"""How well the bench is known: how far masses, lengths, supply, zero and delay may be off their headers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from types import MappingProxyType

from bam_core.text.tolerance_words import require_tolerances

UNITS: Mapping[str, str] = MappingProxyType(
    {
        "mass": "%",
        "arm_mass": "%",
        "supply": "%",
        "length": "m",
        "zero": "rad",
        "delay": "s",
        "inertia": "%",
    }
)
"""How each is printed; what is in percent is given as a share."""


@dataclass(frozen=True, kw_only=True)
class Tolerances:
    """One standard deviation of what may be wrong with the bench; zero: it is exact.

    Attributes:
        mass: of loads, share. A kitchen scale with screws and nuts forgotten is good for 1 %.
        arm_mass: of the arm, share. It is no uniform rod, and the horn is weighed with it or not.
        length: from the axis to the load, m. A ruler, and a middle of the load that is guessed.
        supply: of voltages, measured ones as well, share. The converter of a servo is good for 1 %.
        zero: of the angle at which the arm hangs straight down, rad; of no account where a fit finds it.
        delay: of commands, s; of no account where a fit finds it.
        inertia: of balanced loads, share. A mass at the end of a rod, weighed and measured.

    Raises:
        BamError: a value is negative, not finite or far beyond any bench.
    """

    mass: float = 0.01
    arm_mass: float = 0.05
    length: float = 0.001
    supply: float = 0.01
    zero: float = 0.002
    delay: float = 0.0005
    inertia: float = 0.03

    def __post_init__(self) -> None:
        require_tolerances(self)

    @property
    def words(self) -> str:
        """What is not exact, in words."""
        shown = [
            f"{name.replace('_', ' ')} {100.0 * value:g} %"
            if UNITS[name] == "%"
            else f"{name} {value:g} {UNITS[name]}"
            for name, value in asdict(self).items()
            if value > 0.0
        ]
        return ", ".join(shown)


DEFAULT = Tolerances()
"""Of a bench as labs have it."""

EXACT = Tolerances(mass=0.0, arm_mass=0.0, length=0.0, supply=0.0, zero=0.0, delay=0.0, inertia=0.0)
"""Of a simulated bench."""
