# SPDX-License-Identifier: Apache-2.0
"""Random robots over a floor, and both executors that step them, for the laws that hold for any robot."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.mujoco import ServoActuation, compile_robot, equip
from bam_core.mujoco.native import NativeServo, NativeState, equip_native
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from test.core.physics_cases import servo

Array = NDArray[np.float64]

_RADIUS = 0.015  # m, of the segments
_CLEARANCE = 0.005  # m, between floor and robot at the start


@dataclass(frozen=True, kw_only=True)
class _Segment:
    """A capsule on a joint; `parent` is the number of an earlier one, or -1 for the base."""

    parent: int
    is_slide: bool
    axis: Array
    end: Array  # m, where children are
    position: float  # of the joint at the start, rad or m
    velocity: float  # likewise, per second
    servo: ServoModel


@dataclass(frozen=True, kw_only=True)
class RandomRobot:
    """A tree of three to six segments on a base that is fixed or free, in motion just above a floor.

    Servos are of M1 to M6. The floor is all that anything touches.
    """

    segments: tuple[_Segment, ...]
    is_free: bool
    height: float = 0.0  # of the base at the start, m

    @classmethod
    def of(cls, seed: int) -> RandomRobot:
        """Return the robot of a seed."""
        rng = np.random.default_rng(seed)
        segments = []
        for number in range(rng.integers(3, 7)):
            is_slide = bool(rng.random() < 0.25)
            axis, end = rng.normal(size=(2, 3))
            segments.append(
                _Segment(
                    parent=int(rng.integers(-1, number)) if number else -1,
                    is_slide=is_slide,
                    axis=axis / np.linalg.norm(axis),
                    end=end / np.linalg.norm(end) * rng.uniform(0.08, 0.2),
                    position=rng.uniform(-0.05, 0.05) if is_slide else rng.uniform(-1.0, 1.0),
                    velocity=rng.uniform(-0.3, 0.3) if is_slide else rng.uniform(-3.0, 3.0),
                    servo=servo(model=str(rng.choice(list(FRICTION_MODELS)))),
                )
            )
        robot = cls(segments=tuple(segments), is_free=bool(rng.random() < 0.5))
        return dataclasses.replace(robot, height=_CLEARANCE - robot._lowest())

    @property
    def servos(self) -> dict[str, ServoModel]:
        """Servo by joint."""
        return {f"j{number}": segment.servo for number, segment in enumerate(self.segments)}

    def spec(self, timestep: float, *, is_reversed: bool = False) -> mujoco.MjSpec:
        """Return the description; reversed, branches come in the opposite order."""
        spec = mujoco.MjSpec()
        spec.option.timestep = timestep
        spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5.0, 5.0, 0.1])
        base = spec.worldbody.add_body(name="base", pos=[0.0, 0.0, self.height])
        base.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.06, 0.05, 0.02], mass=0.6, contype=0)
        if self.is_free:
            base.add_freejoint()
        self._grow(base, -1, np.zeros(3), is_reversed)
        return spec

    def start(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        """Write positions and velocities of the start into data."""
        mujoco.mj_resetData(model, data)
        for name, segment in zip(self.servos, self.segments, strict=True):
            data.joint(name).qpos[0], data.joint(name).qvel[0] = segment.position, segment.velocity

    def _lowest(self) -> float:
        """Height of the lowest point at the start where the base is at zero, m."""
        model = self.spec(1e-3).compile()
        data = mujoco.MjData(model)
        self.start(model, data)
        mujoco.mj_kinematics(model, data)
        middles, halves = data.geom_xpos[1:, 2], np.abs(data.geom_xmat[1:, 8]) * model.geom_size[1:, 1]
        return float((middles - halves).min()) - _RADIUS

    def _grow(self, body: mujoco.MjsBody, number: int, end: Array, is_reversed: bool) -> None:
        children = [n for n, segment in enumerate(self.segments) if segment.parent == number]
        for child in reversed(children) if is_reversed else children:
            segment = self.segments[child]
            kind = mujoco.mjtJoint.mjJNT_SLIDE if segment.is_slide else mujoco.mjtJoint.mjJNT_HINGE
            link = body.add_body(name=f"segment{child}", pos=end)
            link.add_joint(name=f"j{child}", type=kind, axis=segment.axis)
            link.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                size=[_RADIUS, 0.0, 0.0],
                fromto=[0.0, 0.0, 0.0, *segment.end],
                mass=0.15,
                contype=0,
            )
            self._grow(link, child, segment.end, is_reversed)


class Executor(ABC):
    """What steps a robot: the engine plugin or `ServoActuation`, seen alike. Arrays are (servos,).

    Attributes:
        model: simulated.
        data: its state.
        dof: of the servos' joints.
    """

    def __init__(self, model: mujoco.MjModel, servos: Mapping[str, ServoModel]) -> None:
        self.model, self.data = model, mujoco.MjData(model)
        self.dof = np.array([model.joint(name).dofadr[0] for name in servos])

    @classmethod
    @abstractmethod
    def compiled(cls, spec: mujoco.MjSpec, servos: Mapping[str, ServoModel]) -> mujoco.MjModel:
        """Return the model of a robot with servos."""

    @classmethod
    def of(
        cls, robot: RandomRobot, timestep: float = 1e-3, *, model: mujoco.MjModel | None = None
    ) -> Executor:
        """Return a robot at its start; one that shares `model` with others if that is given."""
        servos = robot.servos
        found = cls(model or cls.compiled(robot.spec(timestep), servos), servos)
        robot.start(found.model, found.data)
        return found

    @classmethod
    def reversed(cls, robot: RandomRobot, timestep: float = 1e-3) -> Executor:
        """Return the same with branches and servos in the opposite order."""
        servos = dict(reversed(robot.servos.items()))
        found = cls(cls.compiled(robot.spec(timestep, is_reversed=True), servos), servos)
        robot.start(found.model, found.data)
        return found

    @abstractmethod
    def step(self, goal: Array, enabled: float) -> None:
        """Advance by one step with goals (servos,) in rad and torque on or off."""

    @property
    @abstractmethod
    def friction(self) -> Array:
        """Torque in the last step, N·m."""

    @property
    @abstractmethod
    def budget(self) -> Array:
        """Of friction in the last step, N·m."""

    @property
    @abstractmethod
    def motor(self) -> Array:
        """Torque in the last step, N·m."""

    @property
    @abstractmethod
    def external(self) -> Array:
        """Torque in the last step, N·m."""


class Python(Executor):
    def __init__(self, model: mujoco.MjModel, servos: Mapping[str, ServoModel]) -> None:
        super().__init__(model, servos)
        self._actuation = ServoActuation(model, self.data, servos)

    @classmethod
    def compiled(cls, spec: mujoco.MjSpec, servos: Mapping[str, ServoModel]) -> mujoco.MjModel:
        equip(spec, servos)
        return compile_robot(spec)

    def step(self, goal: Array, enabled: float) -> None:
        self._actuation.goal_position[:], self._actuation.torque_enabled[:] = goal, enabled
        self._actuation.step()

    @property
    def friction(self) -> Array:
        return self._actuation.friction_torque.copy()

    @property
    def budget(self) -> Array:
        return self._actuation.friction_budget.copy()

    @property
    def motor(self) -> Array:
        return self._actuation.motor_torque.copy()

    @property
    def external(self) -> Array:
        return self._actuation.external_torque.copy()


class Native(Executor):
    def __init__(self, model: mujoco.MjModel, servos: Mapping[str, ServoModel]) -> None:
        super().__init__(model, servos)
        self._states = [NativeState(model, self.data, joint) for joint in servos]

    @classmethod
    def compiled(cls, spec: mujoco.MjSpec, servos: Mapping[str, ServoModel]) -> mujoco.MjModel:
        equip_native(
            spec, {joint: NativeServo(servo=each, has_torque_enable=True) for joint, each in servos.items()}
        )
        return compile_robot(spec)

    def step(self, goal: Array, enabled: float) -> None:
        self.data.ctrl[0::2], self.data.ctrl[1::2] = goal, enabled
        mujoco.mj_step(self.model, self.data)

    @property
    def friction(self) -> Array:
        return np.array([state.friction_torque for state in self._states])

    @property
    def budget(self) -> Array:
        return np.array([state.friction_budget for state in self._states])

    @property
    def motor(self) -> Array:
        return np.array([state.motor_torque for state in self._states])

    @property
    def external(self) -> Array:
        return np.array([state.external_torque for state in self._states])


EXECUTORS = {"python": Python, "native": Native}
