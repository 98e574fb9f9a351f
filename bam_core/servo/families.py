# SPDX-License-Identifier: Apache-2.0
"""Control laws of known servo series, by the names that their makers print on them.

A series shares its position controller. A servo that the library does not have has the law of its series, so
nobody has to guess its gain per unit of kp.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.firmware_library import find_firmware


@dataclass(frozen=True, kw_only=True)
class ServoFamily:
    """Servos with one control law.

    Attributes:
        title: of the series.
        pattern: of their names: lower case, without spaces, dashes and underscores.
        firmware: name of their law, see `firmware_library.FIRMWARES`.
        factory_kp: position gain that they come with, in the firmware's units.
        gain_factors: least and largest gain per unit of kp, in those of the law, where no document or
            measurement proves it; None where one does.
    """

    title: str
    pattern: str
    firmware: str
    factory_kp: float
    gain_factors: tuple[float, float] | None = None

    @property
    def law(self) -> PositionFirmware:
        """Their position controller, with their factory gain."""
        return replace(find_firmware(self.firmware), factory_kp=self.factory_kp)


FAMILIES = (
    ServoFamily(title="Dynamixel XL330", pattern="xl330", firmware="xl330", factory_kp=400),
    # Manuals of the 330s give the X series' divisor of 128. The XL330's was measured as 256. The authors of
    # Open Duck Mini fitted their XC330 with that.
    ServoFamily(
        title="Dynamixel XC330",
        pattern="xc33[05]",
        firmware="xl330",
        factory_kp=1100,
        gain_factors=(0.5, 4.0),
    ),
    ServoFamily(title="Dynamixel XL-320", pattern="xl320", firmware="xl320", factory_kp=32),
    # Manuals of the 430s and 540s: K_P = kp/128 on counts, 885 is full PWM. Factory gains are those of their
    # control tables.
    ServoFamily(title="Dynamixel X", pattern="2?x[lc]430", firmware="mx-protocol2", factory_kp=640),
    ServoFamily(
        title="Dynamixel X", pattern="x(h430(?=w)|d430|w430)", firmware="mx-protocol2", factory_kp=900
    ),
    ServoFamily(title="Dynamixel X", pattern="2?x[lcmhdw](430|540)", firmware="mx-protocol2", factory_kp=800),
    ServoFamily(
        title="Dynamixel MX(2.0)", pattern="mx(28|64|106)[art]*20?", firmware="mx-protocol2", factory_kp=850
    ),
    ServoFamily(title="Dynamixel MX", pattern="mx(28|64|106)", firmware="mx-protocol1", factory_kp=32),
    ServoFamily(title="Feetech STS", pattern="sts?3[0-9]{3}", firmware="feetech-sts", factory_kp=32),
)
"""Known series; the first whose pattern starts a name counts."""


@dataclass(frozen=True, kw_only=True)
class CascadeFamily:
    """Servos whose position controller asks a velocity or current controller, in a law of current.

    No document or measurement gives the current per unit of their kp. Damping by a velocity controller acts
    as viscous friction does, and is fitted as such.

    Attributes:
        title: of the series.
        pattern: of their names, as of `ServoFamily`.
        factory_kp: position gain that they come with, in the firmware's units.
        counts_per_turn: of the encoder, at the output shaft.
    """

    title: str
    pattern: str
    factory_kp: float
    counts_per_turn: float


CASCADES = (
    CascadeFamily(title="Feetech HLS", pattern="hls[0-9]{2,4}", factory_kp=32, counts_per_turn=4096),
    # Control tables of the maker, as in bam_ros/dynamixel/tables/pro.yaml; encoders of the 200 W models.
    CascadeFamily(
        title="Dynamixel P and PRO(A)",
        pattern="(p[hm](54|42)|[hml](54|42)[0-9]*s[0-9]+ra)",
        factory_kp=314,
        counts_per_turn=1003846,
    ),
    CascadeFamily(title="Dynamixel PRO", pattern="(pro|[hml](54|42))", factory_kp=32, counts_per_turn=501923),
    CascadeFamily(title="Dynamixel Y", pattern="ym0[78]0", factory_kp=6283185, counts_per_turn=524288),
)
"""Known series with a law of current whose gain is unknown; the first whose pattern starts a name counts."""

LEROBOT_GAINS: Mapping[str, tuple[int, int, int]] = MappingProxyType({"feetech-sts": (16, 0, 32)})
"""Law -> P, I and D that LeRobot 0.4.4 sets on all joints of SO-100 and SO-101 (`configure` there)."""

_MAKERS = "(dynamixel|robotis|feetech|waveshare)?"


def family_of(name: str) -> ServoFamily | None:
    """Return the series of a servo's name, such as "XM430-W350"; None where it is of no known one."""
    return next((family for family in FAMILIES if _starts(name, f"{family.pattern}(?!\\d)")), None)


def cascade_of(name: str) -> CascadeFamily | None:
    """Return the series of a name such as "PH54-200-S500" whose law is one of current; None: no known one."""
    return next((family for family in CASCADES if _starts(name, family.pattern)), None)


def _starts(name: str, pattern: str) -> bool:
    plain = re.sub(r"[\W_]", "", name.lower())
    return re.match(f"{_MAKERS}{pattern}", plain) is not None
