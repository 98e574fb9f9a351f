# SPDX-License-Identifier: Apache-2.0
"""A bus of joints behind transmissions: its positions, velocities and torques are not those of servos."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.servo_bus import LawSettings, ServoBus, ServoGoal, ServoSample
from bam_ros.driver.transmission import DIRECT, Transmission
from bam_ros.driver.wrapped_bus import WrappedBus
from bam_ros.text.driver_notices import BehindGears


def behind_transmissions(bus: ServoBus, joints: Sequence[Transmission]) -> ServoBus:
    """Return the bus of the joints; the bus itself where each is the output shaft of its servo.

    Args:
        bus: of the servos.
        joints: the transmission of each.
    """
    return bus if all(joint == DIRECT for joint in joints) else TransmissionBus(bus, joints)


class TransmissionBus(WrappedBus):
    """Joints behind the transmissions of servos.

    Goals and limits are converted on the way to the servos, states on the way back: limits, speed limit and
    following error are those of joints. Gains are those of servos.

    Args:
        bus: of the servos.
        joints: the transmission of each.
    """

    def __init__(self, bus: ServoBus, joints: Sequence[Transmission]) -> None:
        super().__init__(bus)
        self._joints = tuple(joints)

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest goal of each joint, rad."""
        return tuple(
            joint.limits(limits)
            for joint, limits in zip(self._joints, self._bus.position_limits, strict=True)
        )

    @property
    def setpoint_limits(self) -> tuple[float, ...]:
        """Largest set-point of each joint: rad/s, A or duty."""
        return tuple(
            abs(value) for value in self._setpoints(Transmission.velocity, self._bus.setpoint_limits)
        )

    @property
    def torque_constants(self) -> tuple[float, ...]:
        """Torque of each joint per current of its motor, N·m/A."""
        return tuple(
            value * joint.ratio for value, joint in zip(self._bus.torque_constants, self._joints, strict=True)
        )

    @property
    def law_settings(self) -> tuple[LawSettings, ...]:
        """Which control law each servo has; no model has a gear behind its servo."""
        settings = []
        for name, joint, law in zip(self.names, self._joints, self._bus.law_settings, strict=True):
            reasons = [law.unmodelled] if law.unmodelled else []
            if joint.ratio != 1.0:
                reasons.append(str(BehindGears(joint=name, ratio=joint.ratio)))
            settings.append(replace(law, unmodelled="; ".join(reasons)))
        return tuple(settings)

    def exchange(self, goal: ServoGoal) -> ServoSample:
        """Exchange goals of joints for their states; raises what the servos raise."""
        return self._to_joints(self._bus.exchange(self._to_servos(goal)))

    def _to_servos(self, goal: ServoGoal) -> ServoGoal:
        return replace(
            goal,
            position=self._converted(Transmission.servo_position, goal.position),
            setpoint=self._setpoints(Transmission.servo_velocity, goal.setpoint),
        )

    def _to_joints(self, sample: ServoSample) -> ServoSample:
        return replace(
            sample,
            position=self._converted(Transmission.position, sample.position),
            velocity=self._converted(Transmission.velocity, sample.velocity),
            current=self._signed(sample.current),
            duty=self._signed(sample.duty),
            effort=self._converted(Transmission.effort, sample.effort),
            goal_position=self._converted(Transmission.position, sample.goal_position),
            setpoint=self._setpoints(Transmission.velocity, sample.setpoint),
        )

    def _setpoints(
        self, velocity: Callable[[Transmission, float], float], values: Sequence[float]
    ) -> tuple[float, ...]:
        """Convert velocities; a current or a duty is that of the motor, in the direction of the joint."""
        return tuple(
            velocity(joint, value) if kind is CommandKind.VELOCITY else joint.direction * value
            for joint, kind, value in zip(self._joints, self.command_kinds, values, strict=False)
        )

    def _converted(
        self, convert: Callable[[Transmission, float], float], values: Sequence[float]
    ) -> tuple[float, ...]:
        return tuple(convert(joint, value) for joint, value in zip(self._joints, values, strict=True))

    def _signed(self, values: Sequence[float]) -> tuple[float, ...]:
        return tuple(joint.direction * value for joint, value in zip(self._joints, values, strict=True))
