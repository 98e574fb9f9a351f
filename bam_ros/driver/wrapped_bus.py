# SPDX-License-Identifier: Apache-2.0
"""A bus around another one: what a layer over a bus does not change goes through."""

from __future__ import annotations

from collections.abc import Mapping

from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.servo_bus import (
    Gains,
    LawSettings,
    RegisterValue,
    ServoBus,
    ServoGoal,
    ServoIdentity,
    ServoSample,
)
from bam_ros.text.notice import Notice


class WrappedBus(ServoBus):
    """Base of layers over a bus; each overrides what it changes.

    Args:
        bus: of the servos.
    """

    def __init__(self, bus: ServoBus) -> None:
        self._bus = bus

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names."""
        return self._bus.names

    def now(self) -> float:
        """Return the time on the clock of the servos, s."""
        return self._bus.now()

    def acquired(self, sample: ServoSample) -> float:
        """Return when the newest sample was taken, s."""
        return self._bus.acquired(sample)

    @property
    def second(self) -> str:
        """Unit of `now` in messages."""
        return self._bus.second

    @property
    def identities(self) -> tuple[ServoIdentity, ...]:
        """Which servo each joint has."""
        return self._bus.identities

    @property
    def device(self) -> str:
        """What the servos are connected to."""
        return self._bus.device

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest goal of each joint, rad."""
        return self._bus.position_limits

    @property
    def command_kinds(self) -> tuple[CommandKind, ...]:
        """What each joint is commanded by."""
        return self._bus.command_kinds

    @property
    def setpoint_limits(self) -> tuple[float, ...]:
        """Largest set-point of each joint that is commanded by one."""
        return self._bus.setpoint_limits

    @property
    def torque_constants(self) -> tuple[float, ...]:
        """Torque of each joint per current, N·m/A."""
        return self._bus.torque_constants

    @property
    def law_settings(self) -> tuple[LawSettings, ...]:
        """Which control law each servo has."""
        return self._bus.law_settings

    @property
    def warnings(self) -> tuple[Notice | str, ...]:
        """Those of the servos."""
        return self._bus.warnings

    @property
    def figures(self) -> Mapping[str, str]:
        """Those of the servos."""
        return self._bus.figures

    @property
    def unreleased(self) -> tuple[str, ...]:
        """Joints that have not confirmed that their torque is off."""
        return self._bus.unreleased

    def describe_errors(self, name: str, bits: int) -> tuple[str, ...]:
        """Return the hardware errors of a joint's servo in words."""
        return self._bus.describe_errors(name, bits)

    def open(self) -> str:
        """Make the servos ready; raises what they raise."""
        return self._bus.open()

    def exchange(self, goal: ServoGoal) -> ServoSample:
        """Exchange goals for states; raises what the servos raise."""
        return self._bus.exchange(goal)

    def release(self) -> None:
        """Turn torque off everywhere."""
        self._bus.release()

    def set_gains(self, name: str, gains: Gains) -> Gains:
        """Write the gains of one servo; raises BamError."""
        return self._bus.set_gains(name, gains)

    def read_gains(self, name: str) -> Gains:
        """Return the gains of one servo; raises BamError."""
        return self._bus.read_gains(name)

    def read_register(self, name: str, register: str) -> RegisterValue:
        """Return what a register of one servo holds; raises BamError."""
        return self._bus.read_register(name, register)

    def write_register(
        self, name: str, register: str, value: float, unit: str = ""
    ) -> tuple[int, RegisterValue]:
        """Write a register of one servo; raises BamError."""
        return self._bus.write_register(name, register, value, unit)

    def reboot(self, name: str) -> None:
        """Restart one servo; raises BamError."""
        self._bus.reboot(name)

    def close(self) -> None:
        """Turn torque off and give the bus back."""
        self._bus.close()
