# SPDX-License-Identifier: Apache-2.0
"""What a fit to a robot's runs may change, and how far each of it is expected from where it begins.

Every unknown is a coordinate that is zero where it begins, with one standard deviation of what is known
beforehand as its unit. Every unknown has such a prior, because motions alone
cannot determine all of them.

Torque is linear in the coefficients of friction (eq. 10 of Duclusaud et al.), so their coordinates are, too,
and end where friction would be negative. What scales speed or stands in a power has a logarithmic one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.mujoco.robot import compile_robot
from bam_core.robot.deviations import OF_A_UNIT, RobotDeviations
from bam_core.robot.tolerances import RobotTolerances
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from bam_core.servo.parameters import MOTOR_PARAMETERS

_LOGARITHMIC = {
    "torque_constant": 0.1,  # units of one type differ by some percent, benches by as much
    "resistance": 0.1,
    "armature": 0.3,
    "stribeck_velocity": 0.5,
    "stribeck_exponent": 0.3,
}
"""Parameters whose size is known -> standard deviation of their logarithm."""

_SHARE_OF_STALL = {"viscous": 0.02, "coulomb": 0.02, "stribeck_coulomb": 0.02}  # N·m, at 1 rad/s
_LOAD = 0.2  # a load's share that a gear loses
_QUADRATIC = 0.02  # 1/(N·m)
_TYPICAL_WIDTH, _OWN_WIDTH = 0.5, 0.4  # of such a size, and of where it begins: one standard deviation


@dataclass(frozen=True, kw_only=True)
class Unknowns:
    """All unknowns of a robot, in the order of a vector of coordinates.

    Attributes:
        servos: servo -> the one to begin with, of the friction model that is fitted.
        joints: joint -> servo.
        tolerances: of the rest.
        bodies: that may be heavier or lighter than described.
        table: point -> m, height of a table that runs show.
    """

    servos: Mapping[str, ServoModel]
    joints: Mapping[str, str]
    tolerances: RobotTolerances
    bodies: tuple[str, ...]
    table: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        names = [
            f"{servo} {parameter}"
            for servo, model in self.servos.items()
            for parameter in (*MOTOR_PARAMETERS, *FRICTION_MODELS[model.friction_model].parameters)
        ]
        wide = self.tolerances
        names += ["delay"] if wide.delay else []
        names += [f"zero {joint}" for joint in self.joints if wide.zero]
        for name in OF_A_UNIT:
            names += [f"{name} {joint}" for joint in self.joints if getattr(wide, name)]
        names += [f"mass {body}" for body in self.bodies if wide.mass]
        names += [f"centre {body} {axis}" for body in self.bodies if wide.centre for axis in "xyz"]
        names += [f"table {point}" for point in self.table if wide.table]
        object.__setattr__(self, "names", tuple(names))

    def servos_at(self, point: Array) -> dict[str, ServoModel]:
        """Return the servo of every joint at a point, (unknowns,)."""
        servos = self.types_at(point)
        return {joint: servos[servo] for joint, servo in self.joints.items()}

    def types_at(self, point: Array) -> dict[str, ServoModel]:
        """Return servo -> what it is at a point, (unknowns,)."""
        value = dict(zip(self.names, point, strict=True))
        result = {}
        for name, servo in self.servos.items():
            model = FRICTION_MODELS[servo.friction_model]
            motor = {parameter: getattr(servo.motor, parameter) for parameter in MOTOR_PARAMETERS}
            begin = {**motor, **model.values(servo.friction)}
            moved = {
                parameter: _moved(parameter, start, float(value[f"{name} {parameter}"]), servo)
                for parameter, start in begin.items()
            }
            result[name] = replace(
                servo,
                motor=replace(servo.motor, **{parameter: moved[parameter] for parameter in MOTOR_PARAMETERS}),
                friction=model.friction(
                    {parameter: moved[parameter] for parameter in model.parameters},
                    quadratic_rule=servo.friction.quadratic_rule,
                ),
            )
        return result

    @property
    def least(self) -> Array:
        """(unknowns,) least coordinate of each: neither friction nor a delay is negative."""
        least = dict.fromkeys(self.names, -math.inf)
        for name, servo in self.servos.items():
            for parameter in FRICTION_MODELS[servo.friction_model].parameters:
                if parameter not in _LOGARITHMIC:
                    least[f"{name} {parameter}"] = _least(parameter, servo)
        if self.tolerances.delay:
            least["delay"] = -self.tolerances.expected_delay / self.tolerances.delay
        return np.array(list(least.values()))

    @property
    def is_wide(self) -> NDArray[np.bool_]:
        """(unknowns,) which are little known beforehand: servo types, delay and zeros.

        The others could take their place: heavier links, stronger motors and more friction move alike.
        """
        narrow = tuple(f"{name} " for name in (*OF_A_UNIT, "mass", "centre"))
        return np.array([not name.startswith(narrow) for name in self.names])

    def value(self, servo: str, parameter: str, coordinate: float) -> float:
        """Return a servo's parameter at one of its coordinates; it grows with it."""
        model = self.servos[servo]
        return _moved(parameter, model.parameters[parameter], coordinate, model)

    def deviations_at(self, point: Array) -> RobotDeviations:
        """Return how the robot deviates at a point, (unknowns,)."""
        value = dict(zip(self.names, map(float, point), strict=True))
        wide = self.tolerances
        units = {
            name: {
                joint: math.expm1(getattr(wide, name) * value.get(f"{name} {joint}", 0.0))
                for joint in self.joints
            }
            for name in OF_A_UNIT
        }
        return RobotDeviations(
            delay=max(wide.expected_delay + wide.delay * value.get("delay", 0.0), 0.0),
            zero={joint: wide.zero * value.get(f"zero {joint}", 0.0) for joint in self.joints},
            mass={body: math.expm1(wide.mass * value.get(f"mass {body}", 0.0)) for body in self.bodies},
            centre={
                body: (
                    wide.centre * value.get(f"centre {body} x", 0.0),
                    wide.centre * value.get(f"centre {body} y", 0.0),
                    wide.centre * value.get(f"centre {body} z", 0.0),
                )
                for body in self.bodies
            },
            table={
                point: height + wide.table * value.get(f"table {point}", 0.0)
                for point, height in self.table.items()
            },
            **units,
        )


def with_friction_model(servo: ServoModel, name: str) -> ServoModel:
    """Return a servo with another friction model.

    Terms that it gains begin at zero; coefficients of motor and load that it ties begin at their mean.
    """
    model = FRICTION_MODELS[name]
    law = servo.friction.coefficients()
    values = {parameter: law[parameter] for parameter in model.parameters if parameter in law}
    if "load" in model.parameters:
        values["load"] = 0.5 * (law["load_motor"] + law["load_external"])
    if "load_stribeck" in model.parameters:
        values["load_stribeck"] = 0.5 * (law["load_motor_stribeck"] + law["load_external_stribeck"])
    friction = model.friction(values, quadratic_rule=servo.friction.quadratic_rule)
    return replace(servo, friction_model=name, friction=friction)


def heavy_bodies(spec: mujoco.MjSpec, share: float = 0.05) -> tuple[str, ...]:
    """Return the bodies that are at least such a share of a robot's mass, by name."""
    model = compile_robot(spec)
    total = float(model.body_mass.sum())
    names = (model.body(number).name for number in range(1, model.nbody))
    return tuple(name for name in names if name and total and model.body(name).mass[0] >= share * total)


def _moved(name: str, start: float, coordinate: float, servo: ServoModel) -> float:
    if name in _LOGARITHMIC:
        return start * math.exp(_LOGARITHMIC[name] * coordinate)
    return max(start + _width(name, start, servo) * coordinate, 0.0)


def _least(name: str, servo: ServoModel) -> float:
    start = servo.parameters[name]
    return -start / _width(name, start, servo)


def _width(name: str, start: float, servo: ServoModel) -> float:
    return math.hypot(_TYPICAL_WIDTH * _typical(name, servo), _OWN_WIDTH * start)


def _typical(name: str, servo: ServoModel) -> float:
    if name in _SHARE_OF_STALL:
        return _SHARE_OF_STALL[name] * servo.stall_torque()
    return _QUADRATIC if name.startswith("quadratic") else _LOAD


def bodies_for(spec: mujoco.MjSpec, tolerances: RobotTolerances) -> tuple[str, ...]:
    """Return the bodies whose mass or centre may be off."""
    return heavy_bodies(spec) if tolerances.mass or tolerances.centre else ()
