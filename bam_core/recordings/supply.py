# SPDX-License-Identifier: Apache-2.0
"""Whether the supply voltage that was given is the one that recordings have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bam_core.servo.model import ServoModel
from bam_core.text.recording_findings import SupplyContradicted
from bam_core.text.supply_findings import UnusualSupply

_ALIKE = 0.03  # share; servos tell their supply in steps of 0.1 V, of 12 V or so

_USUAL = 0.65, 1.35
"""Of the nominal supply. The library's XL330 has 7.5 V and runs at 5 V; MX-106 for 12 V run at 15 V. The two
versions of the STS3215, for 7.4 V and 12 V, are further apart."""


@dataclass(frozen=True, kw_only=True)
class Supply:
    """Of one run.

    Attributes:
        used: V; NaN: none was given, the servos' nominal one counts.
        recorded: V, mean of what its servos measured or of its columns; NaN: none.
    """

    used: float
    recorded: float

    @property
    def is_contradicted(self) -> bool:
        """Whether the recording has another voltage than is used."""
        return abs(self.used - self.recorded) > _ALIKE * self.recorded  # never so of NaN


def supply_warning(supplies: Mapping[str, Supply], source: str = "") -> tuple[SupplyContradicted, ...]:
    """Return a finding about the runs whose recordings have another supply; none where there are none.

    Args:
        supplies: run -> its supply.
        source: of what is used, in words: an option, a file.
    """
    wrong = {name: supply for name, supply in supplies.items() if supply.is_contradicted}
    if not wrong:
        return ()
    return (
        SupplyContradicted(
            names=tuple(wrong),
            total=len(supplies),
            source=source,
            given=tuple(supply.used for supply in wrong.values()),
            recorded=tuple(supply.recorded for supply in wrong.values()),
            error=max((supply.used / supply.recorded - 1.0 for supply in wrong.values()), key=abs),
        ),
    )


def unusual_supplies(
    servos: Iterable[ServoModel], supplies: Iterable[float | None]
) -> Iterator[UnusualSupply]:
    """Return a finding about each servo that some supply, V, is not for; None: the nominal one."""
    given = {supply for supply in supplies if supply is not None}
    low, high = _USUAL
    for servo in {servo.name: servo for servo in servos}.values():
        nominal = servo.nominal_voltage
        odd = [supply for supply in given if not low * nominal <= supply <= high * nominal]
        if odd:
            furthest = max(odd, key=lambda supply: abs(supply - nominal))
            yield UnusualSupply(servo=servo.name, supply=furthest, nominal=nominal)
