# SPDX-License-Identifier: Apache-2.0
"""Whether the supply voltage that was given is the one that recordings have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_ALIKE = 0.03  # share; servos tell their supply in steps of 0.1 V, of 12 V or so


@dataclass(frozen=True, kw_only=True)
class Supply:
    """Of one run.

    Attributes:
        used: V; NaN: none was given, the servos' nominal one counts.
        recorded: V, mean of what its servos measured or its columns say; NaN: nothing.
    """

    used: float
    recorded: float

    @property
    def is_contradicted(self) -> bool:
        """Whether the recording says another voltage than is used."""
        return abs(self.used - self.recorded) > _ALIKE * self.recorded  # never so of NaN


def supply_warning(supplies: Mapping[str, Supply], source: str = "") -> str:
    """Return one line about the runs whose recordings say something else; empty where none does.

    Args:
        supplies: run -> its supply.
        source: of what is used, in words: an option, a file.
    """
    wrong = {name: supply for name, supply in supplies.items() if supply.is_contradicted}
    if not wrong:
        return ""
    used, recorded = (
        range_words(getattr(supply, name) for supply in wrong.values()) for name in ("used", "recorded")
    )
    error = max((supply.used / supply.recorded - 1.0 for supply in wrong.values()), key=abs)
    where = ", ".join(wrong) if len(wrong) <= 3 else f"{len(wrong)} of {len(supplies)} logs"
    given = f"given by {source}" if source else "given"
    return (
        f"vin: {used} V {given}, {recorded} V recorded ({where}); motors will seem up to "
        f"{100.0 * abs(error):.0f} % {'weaker' if error > 0.0 else 'stronger'} than they are, so leave it "
        "out unless the recording is wrong"
    )


def range_words(values: Iterable[float]) -> str:
    """Return voltages, V, in three digits, such as "12" or "14.6 to 14.8"."""
    words = [f"{value:.3g}" for value in sorted(values)]
    return words[0] if words[0] == words[-1] else f"{words[0]} to {words[-1]}"
