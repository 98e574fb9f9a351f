# SPDX-License-Identifier: Apache-2.0
"""Joint friction of a real humanoid that squats, from goals, positions and the law of its servos."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.errors import Malformed, Unreadable
from bam_core.servo.firmware_laws import VoltageFirmware
from bam_core.servo.model import ServoModel, load_servo
from bam_core.whole_body import SavitzkyGolay, WholeBody
from papers.egle.two_feet import required_torques

GAINS = (32, 28, 24, 20, 16, 14, 12)
"""kp of the squats; at 10 the robot falls."""
FEET = ("left_foot", "right_foot")
"""Sites of the soles."""
ARMS = ("left_shoulder_pitch", "right_shoulder_pitch", "left_elbow", "right_elbow")
"""Joints of open chains that move; shoulder rolls, neck and hip yaws hold still."""
PAIRS = ("hip_pitch", "knee", "ankle_pitch")
"""Joints of which the sum over both legs is determined."""

_LARGE = frozenset(("ankle_pitch", "ankle_roll", "knee", "hip_roll", "hip_pitch"))
_PERIOD = 0.01  # s
_FILTER = SavitzkyGolay(15)  # 0.15 s: a tenth of the squat's way down
_LAGS = np.arange(0.0, 0.0301, 0.005)  # s, from none to three periods of the loop that writes goals
_MOVING = {"arm": 0.15, "leg": 0.08}  # rad/s; above what quantised positions leave of velocity
_M1_GAIN = 32.0  # kp at which robot.xml states the position actuators' gain


@dataclass(frozen=True, kw_only=True)
class Squat:
    """A recorded squat, every 10 ms of the interval over which its authors take errors.

    Attributes:
        kp: gain.
        names: of the robot's joints, columns.
        goal: as it acts with each lag of _LAGS, (lags, n, k) rad.
        position, velocity, acceleration: (n, k) rad, rad/s, rad/s².
        required: torques that the motion takes, (n, k) N·m.
        other_share: the same with 60 % of the weight on the left foot.
    """

    kp: int
    names: tuple[str, ...]
    goal: Array
    position: Array
    velocity: Array
    acceleration: Array
    required: Array
    other_share: Array


@dataclass(frozen=True, kw_only=True)
class Law:
    """What a servo's model says of torque and friction.

    Attributes:
        drive: N·m per rad of error at kp = 1.
        limit: N·m at full duty.
        damping: back-EMF, N·m·s/rad; zero where it counts as friction.
        armature: kg·m².
        servo: for its friction; None for a constant and a viscous part.
        coulomb, viscous: of that, N·m and N·m·s/rad.
    """

    drive: float
    limit: float
    damping: float
    armature: float
    servo: ServoModel | None = None
    coulomb: float = 0.0
    viscous: float = 0.0

    def motor_torque(self, kp: float, error: Array, velocity: Array) -> Array:
        """Return τ_m, N·m."""
        return np.clip(self.drive * kp * error, -self.limit, self.limit) - self.damping * velocity

    def friction(self, motor_torque: Array, required: Array, velocity: Array) -> Array:
        """Return the friction that opposes motion, N·m, zero or more; the load is -`required`."""
        if self.servo is None:
            return self.coulomb + self.viscous * np.abs(velocity)
        return self.servo.friction.budget(motor_torque, -required, velocity)


def read_robot(folder: Path) -> tuple[WholeBody, mujoco.MjModel]:
    """Return the robot without rotors, and its model as the file says."""
    path = folder / "robot.xml"
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        raise Unreadable(path, str(error), expected="the humanoid in MJCF") from None
    links = mujoco.MjModel.from_xml_path(str(path))
    links.dof_armature[:] = 0.0
    return WholeBody(links, contacts=FEET), model


def is_large(joint: str) -> bool:
    """Return whether a joint has an MX-106; the others have MX-64."""
    return joint.split("_", 1)[1] in _LARGE


def bench_laws(names: Sequence[str]) -> dict[str, Law]:
    """Return M6 as published by BAM's authors, fitted on their bench."""
    laws = {}
    for large in (True, False):
        servo = load_servo("published/mx106" if large else "published/mx64")
        firmware, motor = servo.firmware, servo.motor
        assert isinstance(firmware, VoltageFirmware)
        volts = servo.nominal_voltage
        per_volt = motor.torque_constant / motor.resistance
        laws[large] = Law(
            drive=per_volt * volts * float(firmware.duty(1.0, 1e-3)) / 1e-3,
            limit=per_volt * volts * float(firmware.duty(1e6, 1.0)),
            damping=motor.torque_constant * per_volt,
            armature=motor.armature,
            servo=servo,
        )
    return {name: laws[is_large(name)] for name in names}


def constant_laws(model: mujoco.MjModel, names: Sequence[str]) -> dict[str, Law]:
    """Return M1 as the robot's file states it: gain, damping and friction loss of MuJoCo's joints."""
    laws = {}
    for name in names:
        actuator, dof = model.actuator(name).id, int(model.joint(name).dofadr[0])
        laws[name] = Law(
            drive=float(model.actuator_gainprm[actuator, 0]) / _M1_GAIN,
            limit=float(model.actuator_forcerange[actuator, 1]),
            damping=0.0,
            armature=float(model.dof_armature[dof]),
            coulomb=float(model.dof_frictionloss[dof]),
            viscous=float(model.dof_damping[dof]),
        )
    return laws


def read_squat(folder: Path, kp: int, robot: WholeBody) -> Squat:
    """Read a squat and work out what it takes.

    Args:
        folder: with the recordings.
        kp: one of GAINS.
        robot: that squats, without rotors.
    """
    path = folder / f"squat_motion_kp{kp}.csv"
    columns = _columns(
        path, ("time", *(f"{kind}:{name}" for kind in ("goal", "read") for name in robot.names))
    )
    reference = folder / "squat_motion_reference.json"
    try:
        start, end = json.loads(reference.read_text())["evaluated_interval_s"][path.name]
    except (OSError, ValueError, KeyError) as error:
        raise Unreadable(reference, str(error), expected=f"the interval of {path.name}") from None
    time = columns["time"]
    even = np.arange(start - 0.2, end + 0.2, _PERIOD)
    read = np.column_stack([np.interp(even, time, columns[f"read:{name}"]) for name in robot.names])
    used = (even >= start) & (even <= end)
    position, velocity, acceleration = (
        derivative(read, _PERIOD)[used] for derivative in (_FILTER.smooth, _FILTER.first, _FILTER.second)
    )
    errors = np.stack(
        [
            np.column_stack([np.interp(even - lag, time, columns[f"goal:{name}"]) for name in robot.names])
            - read
            for lag in _LAGS
        ]
    )
    goal = np.stack([_FILTER.smooth(lagged, _PERIOD)[used] for lagged in errors]) + position
    halves, shifted = (
        required_torques(robot, position, velocity, acceleration, share=share).torque for share in (0.5, 0.6)
    )
    return Squat(
        kp=kp,
        names=robot.names,
        goal=goal,
        position=position,
        velocity=velocity,
        acceleration=acceleration,
        required=halves,
        other_share=shifted,
    )


def _columns(path: Path, names: Sequence[str]) -> Mapping[str, Array]:
    try:
        with path.open(newline="") as file:
            rows = csv.reader(file)
            header = next(rows)
            places = [header.index(name) for name in names]
            values = np.array([[float(row[place]) for place in places] for row in rows])
    except OSError as error:
        raise Unreadable(path, error) from None
    except (csv.Error, ValueError, StopIteration, IndexError) as error:
        raise Malformed(path, str(error), expected=f"columns {names[0]}, {names[1]}, ...") from None
    return dict(zip(names, values.T, strict=True))


@dataclass(frozen=True, kw_only=True)
class SquatFriction:
    """Friction of one joint, or of a pair, in one squat.

    Attributes:
        velocity: (n,) rad/s, of samples in which it moves.
        torque: friction that acts, (n,) N·m.
        expected: friction that opposes, by the model, (n,) N·m.
        rising: whether the speed rises, (n,).
    """

    velocity: Array
    torque: Array
    expected: Array
    rising: NDArray[np.bool_]

    @property
    def friction(self) -> float:
        """Mean friction over motion both ways: a constant torque in either direction cancels, N·m."""
        up = self.velocity > 0.0
        return 0.5 * float(np.mean(-self.torque[up]) + np.mean(self.torque[~up]))

    @property
    def offset(self) -> float:
        """That constant torque, τ_os of (3.5), N·m."""
        up = self.velocity > 0.0
        return -0.5 * float(np.mean(self.torque[up]) + np.mean(self.torque[~up]))

    @property
    def unmodelled_offset(self) -> float:
        """The same of what the model's friction, which may differ by direction, leaves, N·m."""
        up = self.velocity > 0.0
        left = self.torque + np.sign(self.velocity) * self.expected
        return -0.5 * float(np.mean(left[up]) + np.mean(left[~up]))

    @property
    def expected_friction(self) -> float:
        """Mean of the model's, as `friction`, N·m."""
        up = self.velocity > 0.0
        return 0.5 * float(np.mean(self.expected[up]) + np.mean(self.expected[~up]))

    @property
    def unexplained(self) -> float:
        """RMS of what the model's friction and an offset leave of the torque, N·m."""
        left = self.torque + np.sign(self.velocity) * self.expected
        return float(np.std(left))

    @property
    def driving(self) -> float:
        """Share of samples in which friction without its offset drives (7.9)."""
        return float(np.mean((self.torque + self.offset) * self.velocity > 0.0))

    @property
    def separation(self) -> float:
        """Distance of the branches of rising and falling speed, moving either way, N·m."""
        separations = []
        for up in (self.velocity > 0.0, self.velocity <= 0.0):
            one, other = up & self.rising, up & ~self.rising
            if one.any() and other.any():
                separations.append(abs(float(np.mean(self.torque[one]) - np.mean(self.torque[other]))))
        return float(np.mean(separations)) if separations else 0.0


def friction_of(squat: Squat, joint: str, laws: Mapping[str, Law], lag: float) -> SquatFriction:
    """Return the friction of a joint of ARMS, or the sum over both legs of one of PAIRS.

    Args:
        squat: recorded.
        joint: its name, without the side for a pair.
        laws: of all joints.
        lag: by which goals act late, s.
    """
    pair = joint in PAIRS
    names = [f"{side}_{joint}" for side in ("left", "right")] if pair else [joint]
    torque, expected = (np.zeros(len(squat.position)) for _ in range(2))
    for name in names:
        column, law = squat.names.index(name), laws[name]
        velocity, required = squat.velocity[:, column], squat.required[:, column]
        motor = law.motor_torque(squat.kp, _error(squat, column, lag), velocity)
        torque = torque + required + law.armature * squat.acceleration[:, column] - motor
        expected = expected + law.friction(motor, required, velocity)
    columns = [squat.names.index(name) for name in names]
    velocity, acceleration = (
        squat.velocity[:, columns].mean(axis=1),
        squat.acceleration[:, columns].mean(axis=1),
    )
    moving = np.abs(velocity) > _MOVING["leg" if pair else "arm"]
    return SquatFriction(
        velocity=velocity[moving],
        torque=torque[moving],
        expected=expected[moving],
        rising=(velocity * acceleration > 0.0)[moving],
    )


def find_lag(squats: Sequence[Squat], laws: Mapping[str, Law]) -> float:
    """Return the lag of goals with which the arms' friction depends least on the gain, s.

    A lag shifts the error by lag·velocity, so that what looks like friction grows with the gain.
    """
    gains = [squat.kp for squat in squats]
    slopes = []
    for lag in _LAGS:
        friction = [
            np.mean([friction_of(squat, joint, laws, lag).friction for joint in ARMS]) for squat in squats
        ]
        slopes.append(float(np.polyfit(gains, friction, 1)[0]))
    return float(np.interp(0.0, slopes[::-1], _LAGS[::-1]))  # slopes fall as lags grow


def _error(squat: Squat, column: int, lag: float) -> Array:
    """Return goal less position at a lag between those read, (n,) rad."""
    place = min(max(lag / (_LAGS[1] - _LAGS[0]), 0.0), len(_LAGS) - 1.001)
    low = int(place)
    goal = (1.0 - place + low) * squat.goal[low, :, column] + (place - low) * squat.goal[low + 1, :, column]
    return np.asarray(goal - squat.position[:, column])
