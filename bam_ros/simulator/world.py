# SPDX-License-Identifier: Apache-2.0
"""The robot of a simulation at its initial state, with its servos, and where its joints are."""

from __future__ import annotations

import math
from itertools import combinations

import mujoco
import numpy as np

from bam_core.errors import BamError, OutOfRange, UnknownName
from bam_core.mujoco import BENCH_JOINT, ServoActuation, actuate, bench_spec, compile_robot, equip, load_robot
from bam_core.mujoco.start_contacts import exclude_start_contacts
from bam_ros.simulator.friction_state import FrictionState, JointPlace
from bam_ros.simulator.settings import SimulationSettings

_RANGE_SLACK = 1e-6  # rad; what rounding to text does to a limit


class World:
    """A robot that is ready to be stepped, with torque off.

    Args:
        settings: what it is.

    Attributes:
        actuation: steps it.
        position_limits: range of each joint with a servo in the model, else that of its servo, rad.
        free_joints: those that no servo drives.

    Raises:
        BamError: the model cannot be read, the servos do not fit it, or it cannot start as it shall.
    """

    def __init__(self, settings: SimulationSettings) -> None:
        self._settings = settings
        if settings.model:
            spec = load_robot(settings.model)
        else:
            spec = bench_spec(settings.bench, joint=next(iter(settings.servos), BENCH_JOINT))
        if settings.timestep > 0.0:
            spec.option.timestep = settings.timestep
        try:
            equip(spec, settings.servos, start_contacts=True)
        except BamError as error:
            raise error.within("joint_names") from None
        try:
            if not settings.start_contacts:
                start = np.array([list(settings.initial_position.values())])
                path = list(settings.initial_position), start
                exclude_start_contacts(spec, [path], keyframe=settings.keyframe)
            model = compile_robot(spec)
        except BamError as error:
            raise error.within(settings.model or "bench") from None
        self.actuation: ServoActuation = actuate(model, mujoco.MjData(model), settings.servos)
        if settings.supply_voltage:
            self.actuation.supply_voltage[:] = settings.supply_voltage
        ranges = [_joint_range(model, name) for name in settings.servos]
        self.position_limits: tuple[tuple[float, float], ...] = tuple(
            limits or settings.own_limits(joint)
            for joint, limits in zip(settings.servos, ranges, strict=True)
        )
        joints = [model.joint(index) for index in range(model.njnt)]
        self.free_joints: tuple[str, ...] = tuple(
            joint.name or f"number {joint.id}" for joint in joints if joint.name not in settings.servos
        )
        self._start()

    @property
    def places(self) -> tuple[JointPlace, ...]:
        """Where the joints with servos are on the robot."""
        model = self.actuation.model
        joints = [model.joint(name) for name in self.actuation.names]
        return tuple(
            JointPlace(
                name=joint.name,
                frame=model.body(joint.bodyid[0]).name,
                anchor=tuple(joint.pos.tolist()),
                axis=tuple(joint.axis.tolist()),
            )
            for joint in joints
        )

    @property
    def extent(self) -> float:
        """Size of the robot, m."""
        return float(self.actuation.model.stat.extent)

    @property
    def spacing(self) -> float:
        """Least way between two joints with servos, m; infinite of one, and where all are in one place."""
        model = self.actuation.model
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        anchors = [data.xanchor[model.joint(place.name).id] for place in self.places]
        ways = [float(np.linalg.norm(one - other)) for one, other in combinations(anchors, 2)]
        return min((way for way in ways if way > 1e-3), default=math.inf)

    @property
    def stall_torques(self) -> tuple[float, ...]:
        """Of each servo on its nominal supply, N·m."""
        return tuple(float(servo.stall_torque()) for servo in self.actuation.servos)

    @property
    def friction_states(self) -> tuple[FrictionState, ...]:
        """Torques on the joints in the last step."""
        actuation = self.actuation
        columns = zip(
            actuation.motor_torque.tolist(),
            actuation.external_torque.tolist(),
            actuation.friction_torque.tolist(),
            actuation.friction_budget.tolist(),
            actuation.velocity.tolist(),
            strict=True,
        )
        return tuple(
            FrictionState(
                motor_torque=motor,
                external_torque=external,
                friction_torque=friction,
                budget=budget,
                velocity=velocity,
            )
            for motor, external, friction, budget, velocity in columns
        )

    def _start(self) -> None:
        """Take the initial state."""
        settings, model, data = self._settings, self.actuation.model, self.actuation.data
        if settings.keyframe:
            names = [model.key(index).name for index in range(model.nkey)]
            if settings.keyframe not in names:
                raise UnknownName("keyframe", settings.keyframe, names)
            mujoco.mj_resetDataKeyframe(model, data, names.index(settings.keyframe))
        for name in settings.servos:
            position = settings.initial_position.get(name, math.nan)
            if math.isnan(position):
                continue
            low, high = limits = _joint_range(model, name) or (-math.inf, math.inf)
            if math.isinf(position) or not low - _RANGE_SLACK <= position <= high + _RANGE_SLACK:
                expected = "a finite number" if math.inf in limits else f"{low:.4g} to {high:.4g} rad"
                raise OutOfRange(
                    f"initial_position of joint {name!r}", position, expected, printed=f"{position:g} rad"
                )
            data.joint(name).qpos[0] = position


def _joint_range(model: mujoco.MjModel, name: str) -> tuple[float, float] | None:
    joint = model.joint(name)
    return tuple(joint.range.tolist()) if model.jnt_limited[joint.id] else None
