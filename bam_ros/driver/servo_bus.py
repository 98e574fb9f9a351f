# SPDX-License-Identifier: Apache-2.0
"""What a servo node drives: a set of servos that are commanded and read together, on a wire or simulated."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field

from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, UnknownName, Unsupported
from bam_ros.driver.command_kind import CommandKind
from bam_ros.text.notice import Notice

EACH_ONCE = (
    "correct the parameter; two servos on one joint are not driven as one: give each a name of its own, and"
    " command both"
)
"""What to do where two servos have one name."""

_OLDEST = 0.05  # s; a sample that seems to be older was stamped by another clock


class BusGone(Unavailable):
    """The device is away, and may come: no such port, or nobody on it answers."""


class BusTimeout(Unavailable):
    """A servo did not answer in time; the sample is lost, the next one may be fine."""


class BusCorrupt(Unavailable):
    """An answer arrived damaged (checksum, length, framing); the sample is lost, the next one may be fine."""


class OtherServos(Conflict):
    """A bus that is opened again has other servos; commands and limits were meant for the former ones."""


@dataclass(frozen=True, kw_only=True)
class ServoSample:
    """Measured state of every servo, taken in one read. Tuples are parallel to `ServoBus.names`.

    A quantity that a servo does not report is NaN.

    Attributes:
        stamp: time of acquisition, ns: Unix time, or simulated time where the bus publishes that.
        position: rad, counter-clockwise positive.
        velocity: rad/s.
        current: A.
        duty: PWM duty, -1..1.
        effort: torque of the motor at the output shaft, N·m: as the device reports it, or its current times
            its torque constant.
        voltage: supply at the servo's terminals, V.
        temperature: °C.
        goal_position: goal in force when the state was read, rad; NaN before the first one.
        setpoint: likewise of joints that are commanded by velocity, current or duty: rad/s, A or duty; NaN of
            others. Empty: there are none.
        torque_enabled: False where the H-bridge is released.
        hardware_error: bits of `bam_bench/msg/ServoStates`, 0 is healthy.
        read_after: when each servo was read, s after the stamp; empty: all at once.
    """

    stamp: int
    position: tuple[float, ...]
    velocity: tuple[float, ...]
    current: tuple[float, ...]
    duty: tuple[float, ...]
    effort: tuple[float, ...]
    voltage: tuple[float, ...]
    temperature: tuple[float, ...]
    goal_position: tuple[float, ...]
    torque_enabled: tuple[bool, ...]
    hardware_error: tuple[int, ...]
    read_after: tuple[float, ...] = ()
    setpoint: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ServoGoal:
    """What every servo shall do from now on. Tuples are parallel to `ServoBus.names`.

    Attributes:
        torque_enable: False releases the servo.
        position: rad; NaN keeps the goal that is in force. Never NaN at the moment torque goes on.
        setpoint: rad/s, A or duty of servos that are commanded by these, see `ServoBus.command_kinds`; NaN of
            others, which follow positions. Empty: 0 of all.
    """

    torque_enable: tuple[bool, ...]
    position: tuple[float, ...]
    setpoint: tuple[float, ...] = ()

    @classmethod
    def released(cls, servos: int) -> ServoGoal:
        """Return the goal that releases this number of servos."""
        return cls(torque_enable=(False,) * servos, position=(math.nan,) * servos)


@dataclass(frozen=True, kw_only=True)
class Gains:
    """Gains of a servo's position controller, in the units of its firmware.

    Attributes:
        kp: proportional gain.
        ki: integral gain.
        kd: derivative gain.
    """

    kp: float
    ki: float
    kd: float

    def require_whole(self, joint: str) -> None:
        """Refuse gains between two counts of registers; raises OutOfRange.

        Args:
            joint: which servo it is.
        """
        for name, value in (("kp", self.kp), ("ki", self.ki), ("kd", self.kd)):
            if value % 1.0 != 0.0:  # NaN and infinity as well
                raise OutOfRange(
                    f"{name} of {joint}",
                    value,
                    "a whole number, as its register holds",
                    printed=f"{value:g}",
                    advice="round it; no gain was written",
                )


@dataclass(frozen=True, kw_only=True)
class RegisterValue:
    """What a register of a servo holds.

    Attributes:
        count: as it is in the register.
        value: the same in `unit`.
        unit: SI, as in the control table; "-": it has none, and `value` is the count.
    """

    count: int
    value: float
    unit: str = "-"


@dataclass(frozen=True, kw_only=True)
class ServoIdentity:
    """Which servo a joint is.

    Attributes:
        servo: servo model, a name from `bam servos`; empty where unknown to the bus.
        id: on the bus; -1 without a bus.
        firmware: its version, as it reports it; empty: it reports none.
    """

    servo: str = ""
    id: int = -1
    firmware: str = field(default="", compare=False)


@dataclass(frozen=True, kw_only=True)
class LawSettings:
    """How a servo's settings change its firmware's control law.

    Attributes:
        demand_limit: largest duty, 0..1, or current, A, that they allow; infinite where unknown to the bus.
        unmodelled: settings that the model of its firmware does not have, in words; empty: there is none.
    """

    demand_limit: float = math.inf
    unmodelled: str = ""


class ServoBus(ABC):
    """Servos that are commanded and read together.

    Calls come from one thread at a time. After `open`, `release` and `close` torque is off.
    """

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """Joint names, in the order of every tuple; known before `open`."""

    def now(self) -> float:
        """Return the time on the clock that the servos live on, s; it never goes back. From any thread.

        Every duration that concerns the servos (timeouts of commands, speeds of goals) is measured on it:
        the monotonic clock for real servos, simulated time for simulated ones.
        """
        return time.monotonic()

    def acquired(self, sample: ServoSample) -> float:
        """Return when the newest sample was taken, s on the clock of `now`.

        Buses whose stamps are no Unix time override this.

        Args:
            sample: the newest one.
        """
        age = (time.time_ns() - sample.stamp) * 1e-9
        return self.now() - min(max(age, 0.0), _OLDEST)

    @property
    def second(self) -> str:
        """Unit of `now` in messages."""
        return "s"

    @property
    def identities(self) -> tuple[ServoIdentity, ...]:
        """Which servo each joint is; valid after `open`."""
        return (ServoIdentity(),) * len(self.names)

    @property
    def device(self) -> str:
        """What the servos are connected to, such as a serial port; empty where that has no name."""
        return ""

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest goal that each servo takes, rad; valid after `open`."""
        return ((-math.inf, math.inf),) * len(self.names)

    @property
    def command_kinds(self) -> tuple[CommandKind, ...]:
        """What each joint is commanded by; known before `open`."""
        return (CommandKind.POSITION,) * len(self.names)

    @property
    def setpoint_limits(self) -> tuple[float, ...]:
        """Largest set-point of each joint that is commanded by one, rad/s, A or duty; valid after `open`."""
        return (math.inf,) * len(self.names)

    @property
    def torque_constants(self) -> tuple[float, ...]:
        """Torque of each joint per current of its motor, N·m/A; NaN: not known. Valid after `open`."""
        return (math.nan,) * len(self.names)

    @property
    def law_settings(self) -> tuple[LawSettings, ...]:
        """Which control law each servo has; valid after `open`."""
        return (LawSettings(),) * len(self.names)

    @property
    def warnings(self) -> tuple[Notice | str, ...]:
        """What is not as it should be though the bus works; valid after `open`."""
        return ()

    @property
    def figures(self) -> Mapping[str, str]:
        """Figures of this bus for diagnostics: name with unit -> text."""
        return {}

    @property
    def unreleased(self) -> tuple[str, ...]:
        """Joints that have not confirmed that their torque is off.

        None of a bus whose servos switch torque off by themselves where nobody commands them.
        """
        return ()

    def describe_errors(self, name: str, bits: int) -> tuple[str, ...]:
        """Return the hardware errors of a joint in the bus' own words, one line each.

        Nothing where the names of the bits are all that the bus knows.
        """
        return ()

    @abstractmethod
    def open(self) -> str:
        """Make the servos ready, with torque off, and report in one line what was found.

        May be called again after `close`.

        Raises:
            OtherServos: they are not those that it was opened with before; nothing was written to them.
            BamError: they cannot be reached; nothing stays open.
        """

    @abstractmethod
    def exchange(self, goal: ServoGoal) -> ServoSample:
        """Write what changed in the goal, then read everything.

        Where torque goes on, the goal position is written first. Blocks for one transaction; a simulation
        advances here by one step.

        Raises:
            BusTimeout, BusCorrupt: this sample is lost.
            BusGone: the port has vanished; only `release`, `close` and `open` make sense now.
            BamError: the bus cannot be used as it is; only `release`, `close` and `open` make sense now.
        """

    @abstractmethod
    def release(self) -> None:
        """Turn torque off everywhere. Never raises; idempotent; works in any state."""

    @abstractmethod
    def set_gains(self, name: str, gains: Gains) -> Gains:
        """Write the gains of one servo, all or none, and return what it holds afterwards.

        Raises:
            BamError: no such joint, a gain that registers do not hold, or no answer.
        """

    @abstractmethod
    def read_gains(self, name: str) -> Gains:
        """Return the gains that one servo holds, read from it, without writing any.

        Raises:
            BamError: no such joint, or no answer.
        """

    def read_register(self, name: str, register: str) -> RegisterValue:
        """Return what a register of one servo holds.

        Args:
            name: of the joint.
            register: by its name in the control table.

        Raises:
            BamError: no such joint or register, or no answer; these servos have no registers with names.
        """
        raise self._no_registers(name)

    def write_register(
        self, name: str, register: str, value: float, unit: str = ""
    ) -> tuple[int, RegisterValue]:
        """Write a register of one servo that decides neither about safety nor about its control law.

        Args:
            name: of the joint.
            register: by its name in the control table.
            value: that it shall hold, in `unit`.
            unit: as `read_register` returns it; empty: counts.

        Returns:
            The count that was written, and what it holds afterwards.

        Raises:
            BamError: see `read_register`, or register, value or unit is refused; nothing was written then.
        """
        raise self._no_registers(name)

    def _no_registers(self, name: str) -> BamError:
        if name not in self.names:
            return UnknownName("joint", name, self.names)
        return Unsupported(
            f"registers of {name}",
            "these servos have no registers with names",
            expected="a Dynamixel or Feetech servo",
            advice="use parameters and services of the node",
        )

    @abstractmethod
    def reboot(self, name: str) -> None:
        """Restart one servo, which clears its latched hardware errors; torque is then off on all.

        Where several servos are to be restarted, that is one call after the other with no exchange in
        between: a sample would show the errors of those that are still to come.

        Raises:
            BamError: no such joint, torque does not go off, the servo cannot be rebooted, or it does not
                come back.
        """

    @abstractmethod
    def close(self) -> None:
        """Turn torque off and give the bus back. Never raises; idempotent."""
