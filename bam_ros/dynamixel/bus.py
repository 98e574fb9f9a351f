# SPDX-License-Identifier: Apache-2.0
"""Dynamixel servos on one serial port as a `ServoBus`."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, UnknownName, WrongShape
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import FATAL
from bam_ros.driver.servo_bus import (
    EACH_ONCE,
    BusCorrupt,
    BusTimeout,
    Gains,
    LawSettings,
    OtherServos,
    RegisterValue,
    ServoBus,
    ServoGoal,
    ServoIdentity,
    ServoSample,
)
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable
from bam_ros.dynamixel.conversion import Conversion
from bam_ros.dynamixel.discovery import BAUD_RATES, FoundServos, find_servos
from bam_ros.dynamixel.guardian import Guardian
from bam_ros.dynamixel.law_registers import BorrowedRegisters
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.packets import TO_ALL, instruction_packet
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.port_errors import only_port
from bam_ros.dynamixel.servo import (
    LARGEST_WATCHDOG,
    LEAST_WATCHDOG,
    NO_SECONDARY,
    SETPOINT_WATCHDOG,
    WATCHDOG,
    DynamixelServo,
)
from bam_ros.dynamixel.servo_group import ServoGroup
from bam_ros.dynamixel.torque_constant import torque_constant
from bam_ros.text.notice import Notice

_CHECK_PERIOD = 0.2  # s between looks at whether the servos still hold their torque
_RELEASE_ROUNDS, _GOAL_ROUNDS = 12, 4  # through all servos that have not confirmed that torque is off
_UNCONFIRMED = 2  # times that a packet is sent which nobody confirms: a damaged one is not carried out
_NO_WRITE = instruction_packet(2, TO_ALL, 0x83, bytes((64, 0, 1, 0)))  # a sync write without servos
_GUARDIAN_DELAY = 1.6  # times the watchdog: servos that have one of their own act first


@dataclass(frozen=True, kw_only=True)
class DynamixelSettings:
    """Which servos, and where.

    Attributes:
        port: device path; empty: the only serial port there is.
        joints: joint names.
        ids: bus id of each joint.
        baud_rate: tried first, bit/s; 0: unknown.
        protocol: 1 or 2; 0: unknown, or both are on the line.
        command_kinds: what each joint is commanded by: operating modes of servos; empty: position.
        multi_turn: whether goals may be beyond a turn, in extended position mode; Protocol 2.0 only.
        current_limit: largest current of every servo, in current-based position mode, A; 0: position mode.
        watchdog: silence of this driver after which Protocol 2.0 servos stop by themselves, s. 0: 0.3 s, or
            0.2 s where a servo is commanded by velocity, current or duty.
        guardian_silence: silence after which the guardian releases every servo, s. 0: 1.6 times the watchdog.
        answer_timeout: after which an answer counts as lost, s; 0: 34 ms and the time that its bytes take.
        models: YAML file with control tables of models that are not built in; empty: none.
        baud_rates: tried after the first, bit/s.

    Raises:
        WrongShape: no joints, names or ids that repeat, or not one id per joint.
        OutOfRange: an impossible value.
    """

    port: str = ""
    joints: Sequence[str] = ("joint",)
    ids: Sequence[int] = (1,)
    baud_rate: int = 0
    protocol: int = 0
    command_kinds: Sequence[CommandKind] = ()
    multi_turn: bool = False
    current_limit: float = 0.0
    watchdog: float = 0.0
    guardian_silence: float = 0.0
    answer_timeout: float = 0.0
    models: str = ""
    baud_rates: Sequence[int] = BAUD_RATES

    def __post_init__(self) -> None:
        for what, values in (("joint_names", self.joints), ("ids", self.ids)):
            if not values or len(set(values)) != len(values):
                raise WrongShape(what, list(values), "at least one, each once", advice=EACH_ONCE)
        if len(self.joints) != len(self.ids):
            raise WrongShape(
                "ids",
                len(self.ids),
                "one id per joint",
                printed=f"{len(self.ids)} ids for {len(self.joints)} joint_names",
                advice="correct the parameters",
            )
        wrong = [servo for servo in self.ids if not 0 <= servo <= 252]
        if wrong:
            raise OutOfRange("ids", wrong[0], "0 to 252", advice="correct the parameter")
        if self.watchdog and not LEAST_WATCHDOG <= self.watchdog <= LARGEST_WATCHDOG:
            raise OutOfRange(
                "watchdog",
                self.watchdog,
                f"{LEAST_WATCHDOG:g} to {LARGEST_WATCHDOG:g} s, or 0",
                printed=f"{self.watchdog:g} s",
                advice="correct the parameter",
            )
        if not 0.0 <= self.answer_timeout < self.silence:
            raise OutOfRange(
                "answer_timeout",
                self.answer_timeout,
                f"0, or less than the watchdog, {self.silence:g} s",
                printed=f"{self.answer_timeout:g} s",
                advice="correct the parameter",
            )
        if not 0.0 <= self.current_limit < math.inf:
            raise OutOfRange(
                "current_limit", self.current_limit, "A, or 0 for none", advice="correct the parameter"
            )
        if self.protocol not in (0, 1, 2):
            raise OutOfRange(
                "protocol", self.protocol, "1, 2, or 0 to find it", advice="correct the parameter"
            )

    @property
    def silence(self) -> float:
        """How long the watchdog waits, s."""
        holds = all(kind is CommandKind.POSITION for kind in self.kinds)
        return self.watchdog or (WATCHDOG if holds else SETPOINT_WATCHDOG)

    @property
    def kinds(self) -> tuple[CommandKind, ...]:
        """What each joint is commanded by."""
        return tuple(self.command_kinds) or (CommandKind.POSITION,) * len(self.joints)


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
        self._guardian: Guardian | None = None
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
                self._require_same_servos(known, servos)
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
            self._guardian = self._post_guardian(port)
            port.before_write = self._beat_quietly
            port.keep_alive = self._keep_alive
            for _ in range(_UNCONFIRMED):  # whoever drove them before; each is confirmed when it is prepared
                self._write_off(self._servos)
            self._require_own_ids(self._servos)  # before anything is written that others would accept
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
        self._require_guardian(any(goal.torque_enable))
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
        self._beat_quietly()  # from here on silence means nothing, unless a servo did not confirm

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
        if self._guardian is not None:
            self._guardian.dismiss()
        if self._port is not None:
            self._port.closePort()
        self._servos, self._groups = [], ()
        self._port = self._guardian = None

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
            self._require_awake()  # where this driver stood still that explains what the servo says
            raise

    def _beat(self, wanted: bool = False) -> None:
        """Notify the guardian that this driver is in control, and whether torque is on or about to be.

        This comes before every packet, so that operations of many packets (gains, reboot, opening, a release
        that is not confirmed) are no silence.

        Raises:
            OSError: the guardian is gone.
        """
        if self._guardian is not None:
            torque = wanted or any(servo.torque is not False for servo in self._servos)
            self._guardian.beat(time.monotonic(), torque=torque)

    def _beat_quietly(self) -> None:
        """Beat; a guardian that is gone is the next exchange's concern, a release must not fail for it."""
        with contextlib.suppress(OSError):
            self._beat()

    def _keep_alive(self) -> None:
        """Send a packet that changes nothing and that nobody answers, for servos that watch the bus."""
        watching = any(servo.torque is not False and "bus_watchdog" in servo.table for servo in self._servos)
        with contextlib.suppress(Exception):
            if watching and self._port is not None:
                self._port.writePort(_NO_WRITE)
            else:
                self._beat_quietly()

    def _require_guardian(self, wanted: bool) -> None:
        """Beat; raises BamError where this driver stood still for too long, or nobody watches it."""
        guardian = self._guardian
        assert guardian is not None
        try:
            self._beat(wanted)
        except OSError:
            raise Unavailable(
                f"guardian process {guardian.pid}",
                "exited unexpectedly",
                expected="to run while the port is open",
                advice="do not kill it",
            ) from None
        self._require_awake()

    def _require_awake(self) -> None:
        """Raise BamError where the guardian has turned torque off because this driver stood still."""
        guardian = self._guardian
        if guardian is not None and guardian.gap > guardian.silence:
            raise Unavailable(
                "driver",
                f"stood still for {guardian.gap:.2g} s while torque was on: its guardian turned torque off",
                expected=f"at most {guardian.silence:.2g} s",
                advice="give it a processor, or raise the parameter watchdog",
            )

    def _require_own_ids(self, servos: Sequence[DynamixelServo]) -> None:
        """Refuse servos that also accept packets for another servo."""
        for servo in servos:
            protocol = servo.table.protocol  # it ignores packets of the other one
            joints = {same.id: same.name for same in servos if same.table.protocol == protocol}
            secondary = servo.secondary_id()
            if secondary is None:
                continue
            if secondary not in joints and not servo.link.ping(secondary):
                continue  # nobody talks to it
            neighbour = joints.get(secondary, f"another servo with id {secondary}")
            raise Conflict(
                servo.name,
                f"also accepts what is sent to {neighbour} (its secondary id is {secondary})",
                expected=f"secondary id {NO_SECONDARY}: none",
                advice=f"write {NO_SECONDARY} to its register {servo.table['secondary_id'].address}; two"
                " servos on one joint have a name and goals each",
            )

    def _require_same_servos(self, known: FoundServos, present: FoundServos) -> None:
        settings, before, now = self._settings, known.tables, present.tables
        changed = [
            f"{name}: {now[servo].title}, before {before[servo].title}"
            for name, servo in zip(settings.joints, settings.ids, strict=True)
            if now[servo].name != before[servo].name
        ]
        if changed:
            raise OtherServos(
                "bus",
                f"came back with other servos ({'; '.join(changed)}), torque stays off",
                advice="put the former ones back, or clean the node up and configure it anew",
            )

    def _post_guardian(self, port: SerialPort) -> Guardian:
        off = dict.fromkeys(self._settings.ids, 0)
        packets = [packet for group in self._groups for packet in group.packets("torque_enable", off)]
        try:
            return Guardian(
                port.fd,
                packets,
                self._settings.guardian_silence or _GUARDIAN_DELAY * self._settings.silence,
            )
        except OSError as error:
            raise Unavailable(
                f"port {port.port_name}",
                f"no guardian process ({error})",
                advice="raise the process limit",
            ) from None
