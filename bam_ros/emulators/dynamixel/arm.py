# SPDX-License-Identifier: Apache-2.0
"""A virtual arm: servos on one bus that move one another, as those of a real robot do.

The links are MuJoCo's, without its contacts and friction: it gives the joints' inertia and loads. The
servos are those of the bench: firmware, motor, supply and hidden friction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Conflict, Unsupported
from bam_core.mujoco.robot import compile_robot
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import arm_kernel
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.bench import Bench
from bam_ros.emulators.dynamixel.hidden_servo import draw_hidden_servo
from bam_ros.emulators.hidden_servo import HiddenServo

UNIT_SPREAD = 0.03
"""Standard deviation of the strength of single motors beside their type's, as a share."""
MASS_SPREAD = 0.02
"""Standard deviation of the masses of links beside the description's, as a share."""


class Arm:
    """All joints of a robot whose base is fixed, on a clock that the caller reads.

    There are no ends of joints and nothing to touch: keep motions within what a real arm could do.

    Args:
        spec: the robot; every joint is a hinge with a servo.
        hidden: joint -> physics of its servo.
        masses: body -> share by which it is heavier than described.
        now: clock of the caller, s.

    Raises:
        BamError: a joint is no hinge, or has no servo.
    """

    def __init__(
        self,
        spec: mujoco.MjSpec,
        hidden: Mapping[str, HiddenServo],
        masses: Mapping[str, float],
        now: float = 0.0,
    ) -> None:
        self.masses = dict(masses)
        self.joints = tuple(hidden)
        self.hidden = dict(hidden)
        self._model = _links(spec, hidden, masses)
        self._data = mujoco.MjData(self._model)
        self._order = self._model.jnt_dofadr[[self._model.joint(name).id for name in self.joints]]
        count = len(self.joints)
        self.states = np.zeros((count, k.STATE_SIZE))
        self.commands = np.zeros((count, k.COMMAND_SIZE))
        self.windows = np.zeros((count, k.VELOCITY_WINDOW), dtype=np.int64)
        self.parameters = np.stack([servo.parameters() for servo in self.hidden.values()])
        self.states[:, physics.SUPPLY] = self.parameters[:, physics.SUPPLY_VOLTAGE]
        self.states[:, physics.TEMPERATURE] = self.parameters[:, physics.AMBIENT]
        self._inertia = np.empty((count, count))
        self._origin = now
        self._ticks = 0

    @property
    def time(self) -> float:
        """Clock up to which the arm is integrated, s."""
        return self._origin + self._ticks * k.TICK

    def advance_to(self, now: float) -> None:
        """Integrate up to the clock `now`, in whole periods of the firmware; not backwards."""
        for _ in range(math.floor((now - self._origin) / k.TICK) - self._ticks):
            arm_kernel.tick_all(self.states, self.windows, self.commands, self.parameters)
            for _ in range(arm_kernel.SUBSTEPS):
                self._step()
            self._ticks += 1

    def skip_to(self, now: float) -> None:
        """Set the clock without integrating: the arm stood still until `now`."""
        self._origin = now - self._ticks * k.TICK

    def _step(self) -> None:
        """One step, drift-kick-drift, like `bench_physics.move`."""
        half = 0.5 * arm_kernel.STEP
        self.states[:, physics.POSITION] += half * self.states[:, physics.VELOCITY]
        mobility, external = self._loads()
        arm_kernel.push_all(self.states, self.commands, self.parameters, mobility, external)
        self.states[:, physics.POSITION] += half * self.states[:, physics.VELOCITY]

    def _loads(self) -> tuple[Array, Array]:
        """Return what `push_all` takes: mobility, and external torques, in the present state."""
        data = self._data
        data.qpos[self._order] = self.states[:, physics.POSITION]
        data.qvel[self._order] = self.states[:, physics.VELOCITY]
        mujoco.mj_forward(self._model, data)
        mujoco.mj_fullM(self._model, data, self._inertia)
        inertia = self._inertia[np.ix_(self._order, self._order)]
        return np.asarray(np.linalg.inv(inertia), dtype=np.float64), np.asarray(-data.qfrc_bias[self._order])


class ArmJoint(Bench):
    """One servo of an arm, as its firmware sees it.

    Args:
        arm: with this joint.
        joint: its name.
    """

    def __init__(self, arm: Arm, joint: str) -> None:
        index = arm.joints.index(joint)
        self._arm = arm
        self.hidden = arm.hidden[joint]
        self.state = arm.states[index]
        self.commands = arm.commands[index]
        self._window = arm.windows[index]
        self._parameters = arm.parameters[index]
        self.temperature_offset = 0.0

    @property
    def time(self) -> float:
        """Clock up to which the arm is integrated, s."""
        return self._arm.time

    def advance_to(self, now: float) -> None:
        """Integrate the arm up to the clock `now`."""
        self._arm.advance_to(now)

    def skip_to(self, now: float) -> None:
        """Set the arm's clock without integrating."""
        self._arm.skip_to(now)

    def set_load(self, pendulum: PendulumBench) -> None:
        """Refuse: the arm is the load."""
        raise Unsupported("load", "an arm carries none but itself", advice="change its description")


def draw_arm(
    spec: mujoco.MjSpec,
    servos: Mapping[str, str],
    seed: int,
    now: float = 0.0,
    draw: Callable[[str, int], HiddenServo] = draw_hidden_servo,
) -> Arm:
    """Return an arm off the line, the same for a seed.

    Servos of one type are alike but for the strength of their motors; links are not quite as described.

    Args:
        spec: the robot.
        servos: joint -> servo type, such as "mx106_2".
        seed: of all that is hidden.
        now: clock of the caller, s.
        draw: servo type and seed -> what is hidden in it.

    Raises:
        BamError: an unknown servo type, or a robot that cannot be emulated.
    """
    random = np.random.default_rng(seed)
    types = {name: draw(name, seed + 1 + number) for number, name in enumerate(_types(servos))}
    supply = next(iter(types.values())).supply_voltage
    hidden = {}
    for joint, name in servos.items():
        motor = types[name].motor
        strength = math.exp(UNIT_SPREAD * random.normal())
        unit = replace(motor, resistance=motor.resistance / strength)
        hidden[joint] = replace(types[name], motor=unit, supply_voltage=supply)
    bodies = [body.name for body in spec.bodies if body.name and body.name != "world"]
    masses = {name: math.expm1(MASS_SPREAD * random.normal()) for name in bodies}
    return Arm(spec, hidden, masses, now)


def _types(servos: Mapping[str, str]) -> Sequence[str]:
    return list(dict.fromkeys(servos.values()))


def _links(
    spec: mujoco.MjSpec, hidden: Mapping[str, HiddenServo], masses: Mapping[str, float]
) -> mujoco.MjModel:
    """Return the robot without all that is the servos' part."""
    links = spec.copy()
    for joint in links.joints:
        if joint.type != mujoco.mjtJoint.mjJNT_HINGE or joint.name not in hidden:
            raise Conflict(
                f"joint '{joint.name}'",
                "is no hinge with a servo",
                expected="an arm on a fixed base, a servo on every joint",
                advice="correct --servos or the description",
            )
        joint.armature = hidden[joint.name].motor.armature
        joint.frictionloss = 0.0
        joint.damping = np.zeros_like(joint.damping)
    for actuator in list(links.actuators):
        links.delete(actuator)
    model = compile_robot(links)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    for name, share in masses.items():
        body = model.body(name).id
        model.body_mass[body] *= 1.0 + share
        model.body_inertia[body] *= 1.0 + share
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model
