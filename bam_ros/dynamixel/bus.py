# SPDX-License-Identifier: Apache-2.0
"""Dynamixel servos on one serial port as a `ServoBus`."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bam_core.errors import BamError, Unavailable, UnknownName
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import FATAL
from bam_ros.driver.servo_bus import (
    BusCorrupt,
    BusTimeout,
    Gains,
    LawSettings,
    RegisterValue,
    ServoBus,
    ServoGoal,
    ServoIdentity,
    ServoSample,
)
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable
from bam_ros.dynamixel.conversion import Conversion
from bam_ros.dynamixel.discovery import FoundServos, find_servos
from bam_ros.dynamixel.law_registers import BorrowedRegisters
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.port_errors import only_port
from bam_ros.dynamixel.servo import DynamixelServo
from bam_ros.dynamixel.servo_checks import require_own_ids, require_same_servos
from bam_ros.dynamixel.servo_group import ServoGroup
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.dynamixel.torque_constant import torque_constant
from bam_ros.dynamixel.watch import Watch
from bam_ros.text.notice import Notice

_CHECK_PERIOD = 0.2  # s between looks at whether the servos still hold their torque
_RELEASE_ROUNDS, _GOAL_ROUNDS = 12, 4  # through all servos that have not confirmed that torque is off
_UNCONFIRMED = 2  # times that a packet is sent which nobody confirms: a damaged one is not carried out
_GUARDIAN_DELAY = 1.6  # times the watchdog: servos that have one of their own act first


class DynamixelBus(ServoBus):
    """Servos on one port. While it is open a guardian process stands by; see guardian.py.

    Args:
        settings: which servos, and where.
        stop: polled while servos are searched; true ends the search.
        report: called with one line when the search takes longer.

    Raises:
        BamError: the file of models cannot be read, or a table in it cannot be.
    """

    def __init__(
        self,
        settings: DynamixelSettings,
        stop: Callable[[], bool] = lambda: False,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        self._settings = settings
        self._stop = stop
        self._report = report
        models = settings.models
        self._tables = CONTROL_TABLES.with_file(Path(models)) if models else CONTROL_TABLES
        self._port: SerialPort | None = None
        self._groups: tuple[ServoGroup, ...] = ()  # one of each protocol
        self._known: FoundServos | None = None
        self._watch: Watch | None = None
        self._servos: list[DynamixelServo] = []
        self._identities = super().identities
        self._torque_constants: tuple[float, ...] = ()  # N·m/A
        self._limits = super().position_limits
        self._setpoint_limits = super().setpoint_limits
        self._has_setpoints = any(kind is not CommandKind.POSITION for kind in settings.kinds)
        self._law_settings = super().law_settings
        self._borrowed = {servo: BorrowedRegisters() for servo in settings.ids}
        self._acquired = math.nan  # s, of the monotonic clock
        self._next_check = 0.0
        self._check_index = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Joint names."""
        return tuple(self._settings.joints)

    @property
    def identities(self) -> tuple[ServoIdentity, ...]:
        """Model and id of each servo, as the servos themselves answered when they were found."""
        return self._identities

    @property
    def position_limits(self) -> tuple[tuple[float, float], ...]:
        """Lowest and highest goal of each servo, rad; those found last while the port is away."""
        return self._limits

    @property
    def command_kinds(self) -> tuple[CommandKind, ...]:
        """What each joint is commanded by."""
        return self._settings.kinds

    @property
    def setpoint_limits(self) -> tuple[float, ...]:
        """Largest velocity, current or duty that the registers of each servo allow; infinite of others."""
        return self._setpoint_limits

    @property
    def torque_constants(self) -> tuple[float, ...]:
        """Those of the library's servos, N·m/A."""
        return self._torque_constants or super().torque_constants

    @property
    def law_settings(self) -> tuple[LawSettings, ...]:
        """What the registers of each servo make of its control law; what they did last while it is away."""
        return self._law_settings

    @property
    def device(self) -> str:
        """Name of the serial port."""
        return self._settings.port if self._port is None else str(self._port.port_name)

    @property
    def warnings(self) -> tuple[Notice | str, ...]:
        """What limits the loop rate, and what is unusual about the servos."""
        port = [self._port.warning] if self._port is not None and self._port.warning else []
        return (*port, *(line for servo in self._servos for line in servo.warnings))

    @property
    def traffic(self) -> int:
        """Bytes that went over the line, both ways, since the port was opened; 0 while it is away."""
        return 0 if self._port is None else self._port.traffic

    @property
    def unreleased(self) -> tuple[str, ...]:
        """Joints whose torque is on, or may be."""
        return tuple(servo.name for servo in self._servos if servo.torque is not False)

    def open(self) -> str:
        """Lock the port, find the servos, release them and make them ready.

        Raises:
            OtherServos: models are not those that were found before; nothing was written to them.
            BamError: one line that names which of these failed, and what to do.
        """
        settings = self._settings
        port = SerialPort(settings.port or only_port(), settings.answer_timeout)
        port.openPort()
        self._port = port
        try:
            known = self._known
            servos = self._find(port, known)
            if known is not None:
                require_same_servos(settings, known, servos)
            protocols = sorted({table.protocol for table in servos.tables.values()})
            links = {protocol: self._make_link(port, protocol) for protocol in protocols}
            self._servos = [
                self._make_servo(name, servo, servos.tables[servo], links[servos.tables[servo].protocol])
                for name, servo in zip(settings.joints, settings.ids, strict=True)
            ]
            self._groups = tuple(
                ServoGroup(link, [servo for servo in self._servos if servo.table.protocol == protocol])
                for protocol, link in links.items()
            )
            self._watch = self._watched(port)
            for _ in range(_UNCONFIRMED):  # whoever drove them before; each is confirmed when it is prepared
                self._write_off(self._servos)
            require_own_ids(self._servos)  # before anything is written that others would accept
            for servo in self._servos:
                servo.prepare()
            for group in self._groups:
                group.plan()
        except BaseException:
            self.close()
            raise
        self._known = servos
        self._identities = tuple(
            ServoIdentity(servo=servo.table.name, id=servo.id, firmware=servo.firmware())
            for servo in self._servos
        )
        self._torque_constants = tuple(
            torque_constant(servo.table.name, self._tables) for servo in self._servos
        )
        self._limits = tuple(servo.limits for servo in self._servos)
        self._setpoint_limits = tuple(servo.setpoint_limit for servo in self._servos)
        self._law_settings = tuple(servo.law for servo in self._servos)
        return f"port {port.port_name}: {servos}"

    def _find(self, port: SerialPort, known: FoundServos | None) -> FoundServos:
        """Return the servos on an open port; `known` are those of the first opening. Raises BamError."""
        settings = self._settings
        return find_servos(
            port,
            settings.ids,
            baud_rate=known.baud_rate if known else settings.baud_rate,
            protocol=known.protocol if known else settings.protocol,
            baud_rates=() if known else settings.baud_rates,
            search=known is None,
            tables=self._tables,
            stop=self._stop,
            report=self._report,
        )

    def _make_link(self, port: SerialPort, protocol: int) -> Link:
        return Link(port, protocol)

    def _make_servo(self, name: str, servo: int, table: ControlTable, link: Link) -> DynamixelServo:
        return DynamixelServo(
            name,
            servo,
            table,
            link,
            kind=self._kind(name),
            multi_turn=self._settings.multi_turn,
            current_limit=self._settings.current_limit,
            watchdog=self._settings.silence,
            borrowed=self._borrowed[servo],
        )

    def exchange(self, goal: ServoGoal) -> ServoSample:
        """Write what changed, then read one block of every servo.

        Raises:
            BusTimeout, BusCorrupt: the sample is lost.
            BamError: the port is gone, or a servo refuses or has switched its torque off.
        """
        if not self._groups:
            raise Unavailable("port", "not open", advice="open it first")
        assert self._watch is not None  # as long as the port is open
        self._watch.require(any(goal.torque_enable))
        released = [
            servo
            for servo, torque in zip(self._servos, goal.torque_enable, strict=True)
            if not torque and servo.torque is not False
        ]
        conversion = Conversion(self._servos)
        moments: dict[int, tuple[int, float]] = {}
        try:
            self._apply(goal, released)
            for group in self._groups:
                group.read(conversion)
                moments |= group.moments
        except (BusTimeout, BusCorrupt):  # what damaged answers may have damaged goals as well
            self._repeat_goals()
            raise
        finally:
            if released and (failure := self._release(released, _GOAL_ROUNDS)):
                raise failure
        taken = [moments[servo.id] for servo in self._servos]
        stamp, self._acquired = min(taken)
        conversion.run()
        states = [servo.state(*conversion.measured[servo.id]) for servo in self._servos]
        self._check(time.monotonic(), [state.hardware_error for state in states])
        position, velocity, current, duty, voltage, temperature, errors = zip(*states, strict=True)
        return ServoSample(
            stamp=stamp,
            position=position,
            velocity=velocity,
            current=current,
            duty=duty,
            effort=tuple([k_t * i for k_t, i in zip(self._torque_constants, current, strict=True)]),
            voltage=voltage,
            temperature=temperature,
            goal_position=tuple([servo.goal_position for servo in self._servos]),
            setpoint=tuple([servo.setpoint for servo in self._servos]) if self._has_setpoints else (),
            torque_enabled=tuple([bool(servo.torque) for servo in self._servos]),
            hardware_error=errors,
            read_after=tuple(moment - self._acquired for _, moment in taken) if len(set(taken)) > 1 else (),
        )

    def acquired(self, sample: ServoSample) -> float:
        """Return when the newest sample was taken, s on the clock of `now`, however long ago."""
        return self._acquired

    def release(self) -> None:
        """Turn torque off on every servo; keeps trying for a while, never raises."""
        if self._port is None:
            return
        self._port.is_using = False  # of a transaction that an exception ended
        self._release(self._servos, _RELEASE_ROUNDS)
        if self._watch is not None:
            self._watch.beat_quietly()  # from here on silence means nothing, unless a servo did not confirm

    def _release(self, servos: Sequence[DynamixelServo], rounds: int) -> Exception | None:
        """Turn torque off: at once for all, then confirmed by each.

        A servo that does not confirm it is asked again when all others have been asked.

        Args:
            servos: of which torque goes off.
            rounds: through those that have not confirmed it.

        Returns:
            Why one of them has not confirmed it; None: all have.
        """
        waiting, failure = list(servos), None
        for _ in range(rounds):
            with contextlib.suppress(Exception):
                self._write_off(waiting)
            for servo in tuple(waiting):
                try:
                    servo.release(attempts=1)
                    waiting.remove(servo)
                except Exception as error:
                    failure = error
            if not waiting:
                return None
        return failure

    def _write_off(self, servos: Sequence[DynamixelServo]) -> None:
        """Write torque off to all of these servos at once; nobody confirms that. Raises BamError."""
        off = {servo.id: 0 for servo in servos}
        for group in self._groups:
            group.write("torque_enable", off)

    def set_gains(self, name: str, gains: Gains) -> Gains:
        """Write the gains of one servo and return what it holds; raises BamError."""
        return self._servo(name).set_gains(gains)

    def read_gains(self, name: str) -> Gains:
        """Return the gains that the registers of one servo hold; raises BamError."""
        return self._servo(name).read_gains()

    def read_register(self, name: str, register: str) -> RegisterValue:
        """Return what a register of one servo holds; raises BamError."""
        return self._servo(name).read_register(register)

    def write_register(
        self, name: str, register: str, value: float, unit: str = ""
    ) -> tuple[int, RegisterValue]:
        """Write a register of one servo that clients may write; raises BamError."""
        return self._servo(name).write_register(register, value, unit)

    def reboot(self, name: str) -> None:
        """Restart one servo, torque off on all; raises BamError.

        Protocol 1.0 knows no reboot: there the servo is only set up anew, which ends an overload shutdown.
        """
        servo = self._servo(name)
        if self.unreleased:
            self.release()
        if self.unreleased:
            raise Unavailable(
                ", ".join(self.unreleased),
                "torque off is not confirmed",
                expected="before a reboot",
                advice="check cable and supply",
            )
        servo.reboot()
        self._law_settings = tuple(servo.law for servo in self._servos)  # registers of the RAM are new

    def close(self) -> None:
        """Release the servos, put their registers back, give the port back. Idempotent, never raises."""
        self.release()
        for servo in self._servos:
            if servo.torque is False:  # else somebody's gains would come into force at once
                with contextlib.suppress(Exception):  # the next driver's close tries again
                    servo.restore()
        if self._watch is not None:
            self._watch.dismiss()
        if self._port is not None:
            self._port.closePort()
        self._servos, self._groups = [], ()
        self._port = self._watch = None

    def _kind(self, name: str) -> CommandKind:
        return self._settings.kinds[tuple(self._settings.joints).index(name)]

    def _servo(self, name: str) -> DynamixelServo:
        for servo in self._servos:
            if servo.name == name:
                return servo
        raise UnknownName("joint", name, self.names)

    def _apply(self, goal: ServoGoal, released: Sequence[DynamixelServo]) -> None:
        """Write what differs from what the servos hold.

        Torque off comes before anything that is waited for. It is written without an answer, in one go with
        what follows, so that the sample shows when torque went off. The caller verifies it afterwards.

        Args:
            goal: of all servos.
            released: whose torque is switched off.
        """
        assert self._port is not None
        moved: dict[str, dict[int, int]] = {}
        setpoints = goal.setpoint or (math.nan,) * len(self._servos)
        if released:
            with self._port.holding():
                self._write_off(released)
        for servo, torque, position, setpoint in zip(
            self._servos, goal.torque_enable, goal.position, setpoints, strict=True
        ):
            if not torque:
                continue
            if not servo.torque:
                servo.switch_on(position)
            elif servo.kind is not CommandKind.POSITION:
                # Whether it changed or not: nobody confirms these writes, and the motor runs on meanwhile.
                moved.setdefault(servo.goal_register, {})[servo.id] = servo.aim(setpoint)
            elif (count := servo.next_goal(position)) is not None:
                moved.setdefault("goal_position", {})[servo.id] = count
        if moved:
            with self._port.holding():
                for group in self._groups:
                    for register, counts in moved.items():
                        group.write(register, counts)

    def _repeat_goals(self) -> None:
        """Write the goals in force again with the next exchange."""
        for servo in self._servos:
            servo.repeat_goal()

    def _check(self, now: float, errors: Sequence[int]) -> None:
        """Check one servo every now and then: did it switch its torque off by itself?

        One that reports an error in this sample has given the reason.
        """
        if now < self._next_check:
            return
        self._next_check = now + _CHECK_PERIOD / len(self._servos)
        self._check_index = (self._check_index + 1) % len(self._servos)
        if errors[self._check_index] & FATAL:
            return
        try:
            self._servos[self._check_index].check()
        except BamError:
            if self._watch is not None:
                self._watch.require_awake()  # a driver that stood still explains what the servo says
            raise

    def _watched(self, port: SerialPort) -> Watch:
        """Return the guardian of an open port; raises Unavailable."""
        off = dict.fromkeys(self._settings.ids, 0)
        packets = [packet for group in self._groups for packet in group.packets("torque_enable", off)]
        silence = self._settings.guardian_silence or _GUARDIAN_DELAY * self._settings.silence
        return Watch(port, self._servos, packets, silence)
