# SPDX-License-Identifier: Apache-2.0
"""A first model of a servo from its data sheet: where an identification starts from, and how far it looks."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bam_core.errors.checks import require_positive
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.friction import Friction
from bam_core.servo.model import Provenance, ServoModel
from bam_core.servo.motor import DcMotor
from bam_core.servo.search_ranges import SearchRanges

GUESSES = "friction and armature are guesses"
"""End of the source of a servo file that is made of a data sheet alone."""

_WIDTH = 2.5
"""Factor by which a motor constant may be off the data sheet. Those of the library's servos are
within 1.4 of their manuals; data sheets round, and stall currents are often those of a limit."""

_MECHANICAL_TIME = 0.02
"""s; J·R/k_t² of a typical servo: 13 (MX-106) to 31 ms (XL330) for those of the library,"""
_MECHANICAL_WIDTH = 10.0
"""within this factor."""

_FRICTION = 0.02  # of the stall torque, by Coulomb friction and, at no-load speed, by viscous friction each


@dataclass(frozen=True, kw_only=True)
class DataSheet:
    """Values of a data sheet, at the output shaft.

    Attributes:
        voltage: at which the following hold, V; also the nominal supply.
        stall_torque: N·m.
        stall_current: A.
        no_load_speed: rad/s.

    Raises:
        BamError: a value is not above zero.
    """

    voltage: float
    stall_torque: float
    stall_current: float
    no_load_speed: float

    def __post_init__(self) -> None:
        require_positive(
            "data sheet",
            voltage=self.voltage,
            stall_torque=self.stall_torque,
            stall_current=self.stall_current,
            no_load_speed=self.no_load_speed,
        )

    @property
    def torque_constants(self) -> tuple[float, float]:
        """k_t from stall (torque per current) and from no load (voltage per speed), N·m/A; alike if ideal."""
        return self.stall_torque / self.stall_current, self.voltage / self.no_load_speed


def servo_from_data_sheet(
    name: str,
    sheet: DataSheet,
    firmware: PositionFirmware,
    *,
    title: str = "",
    manufacturer: str = "",
    gain_factors: tuple[float, float] | None = None,
) -> ServoModel:
    """Return a servo with M1 friction whose parameters are likely, and search ranges that hold the true ones.

    k_t is the geometric mean of `DataSheet.torque_constants`, R the voltage per stall current, and the
    armature follows from a mechanical time constant that servos have in common.

    Args:
        name: as recordings name it.
        sheet: values of the data sheet.
        firmware: position controller.
        title: what is printed on it; default the name.
        manufacturer: who makes it.
        gain_factors: least and largest gain of the firmware, in gains of this one, where nobody knows it: an
            identification fits it as well, as the effect firmware_gain.

    Raises:
        BamError: a value is out of range.
    """
    by_stall, by_speed = sheet.torque_constants
    torque_constant = math.sqrt(by_stall * by_speed)
    resistance = sheet.voltage / sheet.stall_current
    armature = _MECHANICAL_TIME * torque_constant**2 / resistance
    friction = _FRICTION * sheet.stall_torque
    return ServoModel(
        name=name,
        title=title or name,
        manufacturer=manufacturer or "unknown",
        protocol=0,
        firmware=firmware,
        nominal_voltage=sheet.voltage,
        motor=DcMotor(
            torque_constant=_rounded(torque_constant),
            resistance=_rounded(resistance),
            armature=_rounded(armature),
        ),
        friction_model="m1",
        friction=Friction(viscous=_rounded(friction / sheet.no_load_speed), coulomb=_rounded(friction)),
        search=SearchRanges(
            effects=("firmware_gain",) if gain_factors else (),
            ranges={
                "torque_constant": _range(min(by_stall, by_speed), max(by_stall, by_speed), _WIDTH),
                "resistance": _range(resistance, resistance, _WIDTH),
                "armature": _range(armature, armature, _MECHANICAL_WIDTH),
                **({"firmware_gain": _relative(gain_factors)} if gain_factors else {}),
            },
        ),
        provenance=Provenance(
            source=(
                f"data sheet: {sheet.stall_torque:.4g} N·m and {sheet.stall_current:g} A at stall, "
                f"{sheet.no_load_speed:.4g} rad/s without load, at {sheet.voltage:g} V; "
                f"{GUESSES}"
            )
        ),
    )


def _relative(factors: tuple[float, float]) -> tuple[float, float]:
    return _rounded(factors[0] - 1.0, 5), _rounded(factors[1] - 1.0)


def _range(low: float, high: float, width: float) -> tuple[float, float]:
    return _rounded(low / width), _rounded(high * width)


def _rounded(value: float, digits: int = 3) -> float:
    return float(f"{value:.{digits}g}")
