# SPDX-License-Identifier: Apache-2.0
"""What units of a servo are compared by: few quantities that a fit knows well, however parameters trade.

Two fits of equal units may divide friction between K_v, K_c and the Stribeck term in different ways. Their
sums at a speed and at a load agree all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from bam_core.servo.model import ServoModel

SPEED = 2.0
"""rad/s, at which moving friction is compared: motions of a bench reach it, far above Stribeck velocities."""

LOAD_SHARE = 0.25
"""Of stall torque: a load that servos hold for long."""


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One of them.

    Attributes:
        title: in tables.
        unit: SI.
        of: its value in a servo, given the load [N·m] that units are compared at.
    """

    title: str
    unit: str
    of: Callable[[ServoModel, float], float]


def _friction_under_load(servo: ServoModel, load: float) -> float:
    """Return what a load that the motor holds adds to friction at rest (BAM eq. 10)."""
    return float(servo.friction.budget(load, -load, 0.0) - servo.friction.budget(0.0, 0.0, 0.0))


QUANTITIES: Mapping[str, Quantity] = MappingProxyType(
    {
        "torque_constant": Quantity(
            title="torque constant", unit="N·m/A", of=lambda servo, _: servo.motor.torque_constant
        ),
        "resistance": Quantity(title="resistance", unit="Ω", of=lambda servo, _: servo.motor.resistance),
        "armature": Quantity(title="armature", unit="kg·m²", of=lambda servo, _: servo.motor.armature),
        "friction_at_rest": Quantity(
            title="friction at rest",
            unit="N·m",
            of=lambda servo, _: float(servo.friction.budget(0.0, 0.0, 0.0)),
        ),
        "friction_moving": Quantity(
            title=f"friction at {SPEED:g} rad/s",
            unit="N·m",
            of=lambda servo, _: float(servo.friction.budget(0.0, 0.0, SPEED)),
        ),
        "friction_under_load": Quantity(title="friction added by load", unit="N·m", of=_friction_under_load),
    }
)
"""Name -> quantity; all are zero or more."""


def compared(servo: ServoModel, load: float) -> dict[str, float]:
    """Return every quantity of a servo, SI.

    Args:
        servo: one unit.
        load: N·m, that the motor holds where friction under load is compared.
    """
    return {name: quantity.of(servo, load) for name, quantity in QUANTITIES.items()}
