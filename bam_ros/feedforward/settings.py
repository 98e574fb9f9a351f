# SPDX-License-Identifier: Apache-2.0
"""Settings of feed-forward as a user gives them, and completed once the servos on the bus are known."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from bam_core.errors import Conflict, Missing, OutOfRange, Unsupported
from bam_core.feedforward import (
    FeedForwardLaw,
    FollowerSettings,
    HandOver,
    InverseDynamics,
    Limits,
    Opposition,
    PidGains,
)
from bam_core.feedforward.points import Dynamics
from bam_core.mujoco import compile_robot, load_robot
from bam_core.servo.firmware_laws import VoltageFirmware
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.model import ServoModel, load_servo, servo_names
from bam_ros.driver.joint_limits import Range, joint_limits
from bam_ros.driver.servo_bus import ServoBus

PID_FIRMWARE = "mx-protocol1"
"""In whose units the gains of the PID are, whatever firmware the servos have; as in the paper."""

HORIZON = 60.0
"""How long after now trajectories may end by default, s."""


@dataclass(frozen=True, kw_only=True)
class FeedForwardSettings:
    """How servos are fed forward; sequences have one entry per joint.

    Attributes:
        servos: names from `bam servos`, or files; empty ones: what is found on the bus.
        limits: lowest and highest position of trajectories, rad, within what the servo takes.
        model: MJCF or URDF file of the robot; empty: none.
        speed: largest of trajectories, rad/s; never above each servo's speed without load.
        torque: largest of trajectories, N·m; 0: each servo's at stall.
        duty: largest that is commanded, 0..1.
        gains: of the PID.
        opposition: when the model is dropped.
        hand_over: how pieces follow each other.
        error: distance from the trajectory at which torque goes off, rad, above 0.
    """

    servos: Sequence[str]
    limits: Sequence[Range]
    model: str = ""
    speed: float = math.inf
    torque: float = 0.0
    duty: float = 1.0
    gains: PidGains = field(default_factory=PidGains)
    opposition: Opposition = field(default_factory=Opposition)
    hand_over: HandOver = field(default_factory=lambda: HandOver(horizon=HORIZON))
    error: float = 0.5

    def __post_init__(self) -> None:
        if not self.error > 0.0:
            raise OutOfRange(
                "following_error",
                self.error,
                "above 0: in PWM mode a servo holds nothing by itself",
                printed=f"{self.error:g} rad",
                advice="correct the parameter",
            )

    def for_bus(self, bus: ServoBus) -> FollowerSettings:
        """Return what a follower takes, for the servos of an open bus.

        Raises:
            BamError: a servo is not known, not the one on the bus, or not commanded by voltage, or limits
                leave no room.
        """
        joints = zip(bus.names, self.servos, bus.identities, strict=True)
        servos = [_servo(joint, given, identity.servo) for joint, given, identity in joints]
        firmware = FIRMWARES[PID_FIRMWARE]
        assert isinstance(firmware, VoltageFirmware)
        return FollowerSettings(
            laws=[FeedForwardLaw.from_servo(servo) for servo in servos],
            supply=[servo.nominal_voltage for servo in servos],
            limits=self._limits(bus, servos),
            firmware=replace(firmware, duty_limit=self.duty),
            gains=[self.gains] * len(servos),
            opposition=self.opposition,
            hand_over=self.hand_over,
            error=self.error,
            dynamics=self._dynamics(bus.names),
        )

    def _limits(self, bus: ServoBus, servos: Sequence[ServoModel]) -> Limits:
        limits = joint_limits(bus, self.limits)
        return Limits(
            low=np.array([low for low, _ in limits]),
            high=np.array([high for _, high in limits]),
            speed=np.array(
                [min(self.speed, servo.nominal_voltage / servo.motor.torque_constant) for servo in servos]
            ),
            torque=np.array([self.torque or servo.stall_torque() for servo in servos]),
            names=tuple(bus.names),
        )

    def _dynamics(self, joints: Sequence[str]) -> Dynamics | None:
        if not self.model:
            return None
        return InverseDynamics(compile_robot(load_robot(self.model)), joints).torque


def _servo(joint: str, given: str, reported: str) -> ServoModel:
    """Return the servo of a joint; raises BamError.

    Args:
        joint: for messages.
        given: by the user, a name or a file; empty: what was found.
        found: by the bus, a name; empty: unknown.
    """
    name = given or reported
    if not name:
        raise Missing(
            f"servo of joint {joint!r}",
            "one, for the bus does not know which it is",
            advice="set the parameter servos",
        )
    servo = load_servo(name)
    if servo.firmware.regulates_current:
        raise Unsupported(
            f"joint {joint!r}",
            f"{servo.title} regulates its current",
            expected="a servo that is commanded by voltage",
            advice="feed others forward",
        )
    if reported in servo_names() and _differ(servo, load_servo(reported)):
        file = f" of {given}" if given != servo.name else ""
        raise Conflict(
            f"joint {joint!r}",
            f"the parameter servos has {servo.name}{file}, but the bus found {reported}",
            expected="the same servo",
            advice=f"correct the parameter, or connect the {servo.name}",
        )
    return servo


def _differ(servo: ServoModel, reported: ServoModel) -> bool:
    """Return whether two servos cannot have the same motor and gearbox.

    Library titles name the hardware, with a remark on firmware or source in parentheses. A servo with a
    name of the user's own is compared by its family of firmware: mx, xl330.
    """
    if servo.name == reported.name:
        return False
    if servo.name in servo_names():
        return _hardware(load_servo(servo.name)) != _hardware(reported)
    return servo.firmware.name.partition("-")[0] != reported.firmware.name.partition("-")[0]


def _hardware(servo: ServoModel) -> str:
    return servo.title.partition(" (")[0]
