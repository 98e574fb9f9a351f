# SPDX-License-Identifier: Apache-2.0
"""What recordings of real servos show beyond motor constants and friction; every effect is off at zero.

- torque_saturation s: a small motor's torque grows less than its current, τ = k_t·I/(1 + s·|I|). Fitted to
  recordings of an XL330 as well, an exponent on the second term came out at 1 within 2 %. Its manual agrees
  in kind: stall torque per current falls from 0.378 to 0.345 N·m/A between 3.7 and 6 V.
- winding_heating h: copper loss warms the winding by h kelvin per joule, and its resistance grows with it. A
  stalled XL330 gains about 20 K/s. The heat leaves within `motor.WINDING_COOLING_TIME`, down to the
  temperature that the recording says the servo has.
- zero_offset: where the encoder stands when the arm hangs straight down; how the horn was screwed on.
- command_delay: from the stamp of a command to the time the firmware obeys it: bus and driver.
- arm_compliance: how far horn and arm bend between the encoder and the mass; see `arm_link`.
- arm_backlash: their play, from end to end.

The first two belong to the servo and go wherever it is simulated. The others belong to the rig it was
recorded on, see `Rig`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bam_core._checks import require_not_negative
from bam_core.errors import BamError, unknown_name


@dataclass(frozen=True, kw_only=True)
class Effect:
    """One effect with its one parameter.

    Attributes:
        name: of both.
        unit: of the parameter.
        low: where the search for it begins, SI; below zero where either sign is possible.
        high: where it ends.
    """

    name: str
    unit: str
    low: float
    high: float


EFFECTS: Mapping[str, Effect] = MappingProxyType(
    {
        effect.name: effect
        for effect in (
            Effect(name="torque_saturation", unit="1/A", low=0.0, high=3.0),
            Effect(name="winding_heating", unit="K/J", low=0.0, high=20.0),
            Effect(name="zero_offset", unit="rad", low=-0.1, high=0.1),
            Effect(name="command_delay", unit="s", low=-0.002, high=0.02),
            Effect(name="arm_compliance", unit="rad/(N·m)", low=0.0, high=1.0),
            Effect(name="arm_backlash", unit="rad", low=0.0, high=0.06),
        )
    }
)
"""All effects by name."""


@dataclass(frozen=True, kw_only=True)
class Rig:
    """What a fit found about the rig that a servo was recorded on; no part of the servo.

    Attributes:
        zero_offset: encoder position of the arm that hangs straight down, rad.
        command_delay: from the stamp of a command to its effect, s.
        arm_compliance: of horn and arm, between encoder and mass, rad/(N·m), zero or more.
        arm_backlash: free play between encoder and mass, from end to end, rad, zero or more.

    Raises:
        BamError: a value is not finite, or below zero where it must not be.
    """

    zero_offset: float = 0.0
    command_delay: float = 0.0
    arm_compliance: float = 0.0
    arm_backlash: float = 0.0

    def __post_init__(self) -> None:
        for name in ("zero_offset", "command_delay"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not math.isfinite(value):
                raise BamError(f"rig {name}: is {value!r} (expected a finite number); correct it")
        require_not_negative("rig", arm_compliance=self.arm_compliance, arm_backlash=self.arm_backlash)


def resolve_effects(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of effects, each once, in the order of EFFECTS.

    Raises:
        BamError: a name is unknown.
    """
    wanted = set(names)
    for name in sorted(wanted):
        if name not in EFFECTS:
            raise unknown_name("effect", name, EFFECTS)
    return tuple(name for name in EFFECTS if name in wanted)
