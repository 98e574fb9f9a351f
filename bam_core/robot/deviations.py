# SPDX-License-Identifier: Apache-2.0
"""How one robot differs from its description, and its bus from one without delay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import mujoco

from bam_core.errors import OutOfRange, UnknownName
from bam_core.errors.checks import require_not_negative
from bam_core.servo.model import ServoModel

SHARES_BY_NAME = ("zero", "strength", "back_emf", "friction", "load_friction", "mass", "table")
"""Deviations that are one number of a joint, a body or a point."""

OF_A_UNIT = ("strength", "back_emf", "friction", "load_friction")
"""What differs between the units of a servo's type."""

_ABOVE_MINUS_ONE = ("strength", "back_emf", "mass")
_LARGEST = 100.0  # s, rad, m or shares; beyond, robot and description have nothing in common


@dataclass(frozen=True, kw_only=True)
class RobotDeviations:
    """What belongs to this robot and not to its servos' type.

    Attributes:
        delay: s from the time of a goal in the recording to when it takes effect.
        zero: joint -> reading of its encoder at the description's zero, rad.
        strength: joint -> share by which its motor's torque is larger than its type's.
        back_emf: joint -> share by which its torque constant, and so its back-EMF, is larger than its type's.
        friction: joint -> share by which its gear's friction without load is larger than its type's.
        load_friction: joint -> the same of its friction under load.
        mass: body -> share by which it is heavier than described.
        centre: body -> (3,) m by which its centre of mass is off, in the body's frame.
        table: site or body -> m, height at which it rests on a table that the description does not have.
    """

    delay: float = 0.0
    zero: Mapping[str, float] = field(default_factory=dict)
    strength: Mapping[str, float] = field(default_factory=dict)
    back_emf: Mapping[str, float] = field(default_factory=dict)
    friction: Mapping[str, float] = field(default_factory=dict)
    load_friction: Mapping[str, float] = field(default_factory=dict)
    mass: Mapping[str, float] = field(default_factory=dict)
    centre: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    table: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        require_not_negative("robot", delay=self.delay)
        for name, value in self.by_name().items():
            if not abs(value) <= _LARGEST:  # NaN neither
                raise OutOfRange(f"robot {name}", value, f"within ±{_LARGEST:g}", printed=f"{value:g}")
            if name.split()[0] in _ABOVE_MINUS_ONE and value <= -1.0:
                raise OutOfRange(
                    f"robot {name}", value, "above -1, which leaves nothing", printed=f"{value:g}"
                )

    def by_name(self) -> dict[str, float]:
        """Return all of them by the names of a fit's unknowns: "delay", "zero elbow", "centre trunk x"."""
        result = {"delay": self.delay}
        for section in SHARES_BY_NAME:
            result |= {f"{section} {name}": value for name, value in getattr(self, section).items()}
        for body, shift in self.centre.items():
            result |= {f"centre {body} {axis}": value for axis, value in zip("xyz", shift, strict=True)}
        return result

    def unit(self, servo: ServoModel, joint: str) -> ServoModel:
        """Return the unit of a servo's type that is on a joint.

        A stronger motor gives a larger torque at the same voltage: less resistance. One with more back-EMF
        has a larger torque constant, and as much more resistance, for its strength stays.
        """
        strength, back_emf = self.strength.get(joint, 0.0), self.back_emf.get(joint, 0.0)
        if strength or back_emf:
            motor = replace(
                servo.motor,
                torque_constant=servo.motor.torque_constant * (1.0 + back_emf),
                resistance=servo.motor.resistance * (1.0 + back_emf) / (1.0 + strength),
            )
            servo = replace(servo, motor=motor)
        friction = servo.friction.scaled(
            no_load=1.0 + self.friction.get(joint, 0.0), load=1.0 + self.load_friction.get(joint, 0.0)
        )
        return servo if friction is servo.friction else replace(servo, friction=friction)

    def apply(self, model: mujoco.MjModel) -> None:
        """Change masses and centres of a compiled robot, in place; inertias scale with the mass.

        Raises:
            UnknownName: the robot has no such body.
        """
        for name, share in self.mass.items():
            body = _body(model, name)
            model.body_mass[body] *= 1.0 + share
            model.body_inertia[body] *= 1.0 + share
        for name, shift in self.centre.items():
            model.body_ipos[_body(model, name)] += shift
        if self.mass or self.centre:
            mujoco.mj_setConst(model, mujoco.MjData(model))


def _body(model: mujoco.MjModel, name: str) -> int:
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, name)
    if number < 0:
        raise UnknownName("body", name, [model.body(index).name for index in range(1, model.nbody)])
    return int(number)


NO_DEVIATIONS = RobotDeviations()
