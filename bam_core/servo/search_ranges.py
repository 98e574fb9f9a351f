# SPDX-License-Identifier: Apache-2.0
"""What an identification of a servo fits, and within which ranges."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from bam_core.errors import BamError, OutOfRange, UnknownName
from bam_core.servo.effects import EFFECTS, BenchEffects, ServoEffects, resolve_effects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import (
    BENCH_EFFECTS,
    MOTOR_EFFECTS,
    MOTOR_PARAMETERS,
    PARAMETER_UNITS,
    SERVO_EFFECTS,
)


@dataclass(frozen=True, kw_only=True)
class SearchRanges:
    """What an identification fits besides motor and friction, and between which values it searches.

    Attributes:
        effects: which of `effects.EFFECTS` are fitted, of servo and bench.
        ranges: (low, high) of parameters by name, in their unit; what is missing follows from the recordings.

    Raises:
        BamError: a name is unknown, or one end of a range is no value of its parameter.
    """

    effects: tuple[str, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "effects", resolve_effects(self.effects))
        for name, (low, high) in self.ranges.items():
            if name not in PARAMETER_UNITS:
                raise UnknownName("parameter", name, PARAMETER_UNITS)
            least = -math.inf if name in EFFECTS and EFFECTS[name].low < 0.0 else 0.0
            if not least <= low < high < math.inf or not math.isfinite(low):
                raise OutOfRange(
                    f"search {name}",
                    (low, high),
                    "0 <= low < high, finite" if least == 0.0 else "low < high, finite",
                    printed=f"[{low:g}, {high:g}]",
                )
            for value in (low, high):
                _require_value(name, value)


def _require_value(name: str, value: float) -> None:
    """Raise BamError where the type that holds a parameter refuses this value of it."""
    try:
        if name in (*MOTOR_PARAMETERS, *MOTOR_EFFECTS):
            anything = {"torque_constant": 1.0, "resistance": 1.0, "armature": 1.0}
            DcMotor(**{**anything, name: value})
        elif name in SERVO_EFFECTS:
            ServoEffects(**{name: value})
        elif name in BENCH_EFFECTS:
            BenchEffects(**{name: value})
        for model in FRICTION_MODELS.values():
            if name in model.parameters:
                model.friction({name: value})
    except BamError as error:
        raise error.within(f"search {name}") from None
