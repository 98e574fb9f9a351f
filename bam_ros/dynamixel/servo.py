# SPDX-License-Identifier: Apache-2.0
"""One servo on the bus: made ready, switched on and off, its gains, its measured state in SI units."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from bam_core.errors import BamError, Conflict, OutOfRange, Unavailable, Unsupported
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.joint_limits import OFF_LIMITS
from bam_ros.driver.servo_bus import Gains, LawSettings, RegisterValue
from bam_ros.dynamixel.control_table import ControlTable, require_position_gain
from bam_ros.dynamixel.discovery import ALL_ANSWERS
from bam_ros.dynamixel.errors import ALERT, NoMode, hardware_errors
from bam_ros.dynamixel.law_registers import (
    BorrowedRegisters,
    duty_of,
    limit_in_force,
    limit_registers,
    own_duty,
    unmodelled_settings,
)
from bam_ros.dynamixel.link import ATTEMPTS, Link
from bam_ros.dynamixel.register import Register
from bam_ros.dynamixel.register_access import count_of, register_value, require_free
from bam_ros.dynamixel.state_block import direct_block, packed_block
from bam_ros.text.dynamixel_notices import DutyLimited, TorqueOnAtStart, TorqueOnByGoal
from bam_ros.text.notice import Notice

WATCHDOG, SETPOINT_WATCHDOG = 0.3, 0.2
"""Silence on the bus after which a Protocol 2.0 servo stops by itself, s, by default.

Less where it is commanded by velocity, current or duty, for it then holds no position meanwhile.
"""
GOAL_REGISTERS = {
    CommandKind.POSITION: "goal_position",
    CommandKind.VELOCITY: "goal_velocity",
    CommandKind.CURRENT: "goal_current",
    CommandKind.DUTY: "goal_pwm",
}
"""Register of the goal of each kind."""
_LIMIT_REGISTERS = {
    CommandKind.VELOCITY: "velocity_limit",
    CommandKind.CURRENT: "current_limit",
    CommandKind.DUTY: "pwm_limit",
}
NO_SECONDARY = 255
"""Secondary id of a servo that accepts its own id only; 253 and 254 mean the same."""
LEAST_WATCHDOG, LARGEST_WATCHDOG = 0.04, 2.54
"""Watchdog times that are accepted, s; the largest is that of the register."""
_WATCHDOG_TRIPPED = -1
_CHECKED = ("torque_enable", "bus_watchdog")
"""What a servo changes by itself where something is wrong."""
_NEAR = 40
"""Bytes of a block that take no longer than a second request and the rest of its answer."""
_TORQUE_ON_AT_START = 1  # bit of startup_configuration
_TORQUE_ON_BY_GOAL = 8  # bit of drive_mode
_GAINS = ("position_p_gain", "position_i_gain", "position_d_gain")
_FIRST_NO_SECONDARY = 253
_REBOOT_TIMEOUT = 3.0  # s


class Measured(NamedTuple):
    """One servo's state: rad, rad/s, A, -1..1, V, °C, `HardwareError` bits."""

    position: float
    velocity: float
    current: float
    duty: float
    voltage: float
    temperature: float
    hardware_error: int


class DynamixelServo:
    """One servo.

    Args:
        name: of the joint, for messages.
        servo: id on the bus.
        table: its control table.
        link: to the bus, with its protocol.
        kind: what it is commanded by.
        multi_turn: whether its goals may be beyond a turn.
        current_limit: largest current, in current-based position mode, A; 0: position mode.
        watchdog: silence on the bus after which it stops by itself, s; Protocol 2.0 only.
        borrowed: what its registers held before this driver changed them; to be kept while the port is away.

    Attributes:
        torque: whether it was switched on last; None while that is uncertain.
        goal: position register's count of its last goal; None before.
        block: what is read of it in every cycle; packed once it is prepared, where that is shorter.
        kind: what it is commanded by.
        setpoint_limit: largest velocity, current or duty, rad/s, A or 1; known once it is prepared.
        limits: lowest and highest goal, rad; a count beyond what its registers allow, so that pi is a goal.
        law: which control law its registers make; known once it is prepared.
        warnings: what is not as it should be, one line each.
    """

    def __init__(
        self,
        name: str,
        servo: int,
        table: ControlTable,
        link: Link,
        *,
        kind: CommandKind = CommandKind.POSITION,
        multi_turn: bool = False,
        current_limit: float = 0.0,
        watchdog: float = WATCHDOG,
        borrowed: BorrowedRegisters | None = None,
    ) -> None:
        self.name = name
        self.id = servo
        self.table = table
        self.torque: bool | None = None
        self.goal: int | None = None
        self._repeats_goal = False  # whether nobody has confirmed the goal, and it was written only once
        self.limits = self._ends = (-math.inf, math.inf)
        self.law = LawSettings()
        self.warnings: list[Notice | str] = []
        self._borrowed = borrowed or BorrowedRegisters()
        self.link = link
        self.kind = kind
        self._by_position = kind is CommandKind.POSITION
        self._pwm_limit = 0
        self._multi_turn = multi_turn
        self._current_limit, self._goal_current = current_limit, 0
        self._watchdog = watchdog
        self.block = direct_block(table)
        self._goal_row = table["goal_position"]
        self.setpoint_limit = math.inf
        self._setpoint: int | None = None  # count

    @property
    def goal_position(self) -> float:
        """Goal in force, rad; NaN where none was written since torque was off."""
        return math.nan if self.goal is None else self._goal_row.to_si(self.goal)

    @property
    def goal_register(self) -> str:
        """Register of what it is commanded by."""
        return GOAL_REGISTERS[self.kind]

    @property
    def setpoint(self) -> float:
        """Velocity, current or duty in force, rad/s, A or 1; NaN: torque is off, or it takes positions."""
        return math.nan if self._setpoint is None else self.setpoint_si(self._setpoint)

    def read(self, register: str) -> int:
        """Return a register's count; raises BamError."""
        return self.link.read(self.id, self.table[register])

    def write(self, register: str, count: int, attempts: int = ATTEMPTS) -> None:
        """Write a register's count; raises BamError."""
        self.link.write(self.id, self.table[register], count, attempts)

    def error(self) -> int:
        """Return the `HardwareError` bits of a Protocol 1.0 servo; raises BamError."""
        register = self.table["torque_enable"]
        answer = self.link.read_block((self.id,), register.address, register.size)
        return hardware_errors(self.table, answer[self.id][1])

    def ensure(self, register: str, count: int) -> None:
        """Write a register only where it holds something else, which limits wear of the EEPROM."""
        if register in self.table and self.read(register) != count:
            self.write(register, count)

    def firmware(self) -> str:
        """Return the version of its firmware, read from it; raises BamError."""
        return str(self.read("firmware_version"))

    def secondary_id(self) -> int | None:
        """Return another id by whose packets it is moved; None where there is none. Raises BamError.

        Such a servo accepts them without an answer. It was the second of two on one joint.
        """
        if "secondary_id" not in self.table:
            return None
        secondary = self.read("secondary_id")
        return None if secondary >= _FIRST_NO_SECONDARY or secondary == self.id else secondary

    def prepare(self) -> None:
        """Release the servo and set it up to follow its goals at once, positions or others.

        An overload that shut it down stays visible until `reboot` clears it.

        Raises:
            Unsupported: it has no mode for what it is commanded by, for many turns, or to limit its current.
            OutOfRange: its own limit of the current is lower.
            Conflict: not in position mode, or its registers allow no duty.
            BamError: no answer.
        """
        if self.read("status_return_level") != ALL_ANSWERS:  # else it confirms no writes
            self.link.write_unconfirmed(self.id, self.table["torque_enable"], 0)
            self.link.write_unconfirmed(self.id, self.table["status_return_level"], ALL_ANSWERS)
        self.release()
        self.warnings.clear()
        table = self.table
        mode = table.mode(self.kind)
        if mode is None:
            raise NoMode(self.name, table, self.kind)
        if self._by_position and self._multi_turn and table.extended_mode is None:
            raise Unsupported(
                self.name,
                f"{table.title} with Protocol {table.protocol}.0 firmware has no mode for many turns here",
                expected="Protocol 2.0 firmware with operating mode 4",
                advice="set the parameter multi_turn to false",
            )
        if self._limits_current:
            mode = self._current_position_mode()
        elif self._multi_turn and self._by_position:
            mode = table.extended_mode or {}
        self.ensure("bus_watchdog", 0)  # also ends its latched state
        for register, count in mode.items():
            if self._by_position:
                self.ensure(register, count)
            else:  # it would surprise whoever uses it next
                self._borrowed.set(self, register, count)
        if "goal_pwm" in table:
            self._pwm_limit = self.read("pwm_limit")
            if self.kind is CommandKind.DUTY:
                self.ensure("goal_pwm", 0)
            elif self.read("goal_pwm") == 0:  # as PWM mode leaves it; any other value is somebody's limit
                self.write("goal_pwm", self._pwm_limit)
        elif table.protocol == 1 and not self.error() & HardwareError.OVERLOAD:
            self._recover_torque_limit()
        if "startup_configuration" in table and self.read("startup_configuration") & _TORQUE_ON_AT_START:
            self.warnings.append(TorqueOnAtStart(joint=self.name))
        if "drive_mode" in table and self.read("drive_mode") & _TORQUE_ON_BY_GOAL:
            self.warnings.append(TorqueOnByGoal(joint=self.name))
        if self._limits_current:
            self._limit_current()
        for register in table.law_off:
            self._borrowed.set(self, register, 0)
        self._read_law()
        self.ensure("return_delay_time", 0)
        self._pack_state()
        goal = self.table["goal_position"]
        if not self._by_position:
            self._read_setpoint_limit()
            self._ends = self.limits = (-math.inf, math.inf)
            return
        if self._multi_turn:
            self._ends = self.limits = (goal.to_si(goal.low), goal.to_si(goal.high))
            return
        low, high = (goal.to_si(self.read(f"{end}_position_limit")) for end in ("min", "max"))
        if not low < high:
            raise Conflict(
                self.name,
                f"not in position mode (angle limits {low:.3g} and {high:.3g} rad)",
                advice="set its CW and CCW angle limits to"
                f" {table['min_position_limit'].initial} and {table['max_position_limit'].initial}",
            )
        # The last count of a turn is one short of pi; `count` turns what is beyond it into it.
        step = self.table["goal_position"].unit.scale
        self._ends, self.limits = (low, high), (low - step, high + step)

    @property
    def _limits_current(self) -> bool:
        """Whether it follows positions with at most the current that its user has set."""
        return self._by_position and self._current_limit > 0.0

    def _read_setpoint_limit(self) -> None:
        """Read the largest velocity, current or duty that its registers allow."""
        row = self.table[self.goal_register]
        limit = _LIMIT_REGISTERS[self.kind]
        most = self.read(limit) if limit in self.table else row.high
        self.setpoint_limit = abs(row.to_si(min(most, row.high)))

    def _current_position_mode(self) -> Mapping[str, int]:
        """Return what selects current-based position mode; raises Unsupported where there is no such mode."""
        if self.table.current_position_mode is None:
            raise Unsupported(
                self.name,
                f"{self.table.title} with Protocol {self.table.protocol}.0 firmware has no current-based"
                " position mode",
                expected="a servo that measures its current, with operating mode 5",
                advice="set the parameter current_limit to 0",
            )
        return self.table.current_position_mode

    def _limit_current(self) -> None:
        """Set the largest current; raises OutOfRange where the servo's own limit is lower."""
        row = self.table["goal_current"]
        most, self._goal_current = self.read("current_limit"), row.from_si(self._current_limit)
        if not 1 <= self._goal_current <= most:
            raise OutOfRange(
                f"current_limit of {self.name}",
                self._current_limit,
                f"{row.to_si(1):.2g} to {row.to_si(most):.3g} A, its register current_limit",
                printed=f"{self._current_limit:g} A",
                advice="choose one within it, or raise that register",
            )
        self._borrowed.set(self, "goal_current", self._goal_current)
        self._require_current_limit()

    def _require_current_limit(self) -> None:
        held = self.read("goal_current")
        if held != self._goal_current:
            unit = self.table["goal_current"]
            raise Unavailable(
                self.name,
                f"its current limit is {unit.to_si(held):.3g} A",
                expected=f"{unit.to_si(self._goal_current):.3g} A, as set",
                advice="end the other program that uses the servo",
            )

    def restore(self) -> None:
        """Write back what registers of the control law held before; torque must be off.

        Raises:
            BamError: no answer.
        """
        self._borrowed.restore(self)
        if self._borrowed.pointers is not None:
            self.link.write_block(self.id, *self._borrowed.pointers)
            self._borrowed.pointers = None

    def _pack_state(self) -> None:
        """Let indirect addresses bring the measured registers together; they hold others afterwards."""
        packed = packed_block(self.table)
        if packed is None:
            return
        place = packed.pointer_address, len(packed.pointers)
        held = self.link.read_block((self.id,), *place)[self.id][0]
        if held != packed.pointers:
            self._borrowed.pointers = packed.pointer_address, held
            self.link.write_block(self.id, packed.pointer_address, packed.pointers)
        for address in (packed.address, *self.table.other_indirect_data):
            if packed.measured(self.link.read_one(self.id, address, packed.length)) is not None:
                self.block = replace(packed, address=address)
                return
        if held != packed.pointers:  # a firmware whose indirect data lie elsewhere: the table is wrong
            self.link.write_block(self.id, packed.pointer_address, held)
            self._borrowed.pointers = None

    def _recover_torque_limit(self) -> None:
        """Give a Protocol 1.0 servo back the limit that a shutdown has set to 0; a lower one stays."""
        self.ensure("torque_limit", limit_in_force(self, self.table, self._borrowed))

    def _read_law(self) -> None:
        """Find out which control law the registers make, and warn where it is not the firmware's own."""
        unmodelled = unmodelled_settings(self, self.name, self.table)
        if not self._by_position:
            unmodelled.append(
                f"{self.name}: commanded by {self.kind.value}, no recording of it can be identified here; set"
                " the parameter command_interfaces to position"
            )
        if self._limits_current:
            unmodelled.append(
                f"{self.name}: current-based position mode, at most {self._current_limit:g} A, which no model"
                " has beside its control law; set the parameter current_limit to 0"
            )
        self.warnings += unmodelled
        self.law = LawSettings(unmodelled="; ".join(unmodelled))
        registers = " and ".join(limit_registers(self.table))
        if not registers:
            return
        is_pwm = self.kind is CommandKind.DUTY and "pwm_limit" in self.table
        limit = self._pwm_limit if is_pwm else limit_in_force(self, self.table, self._borrowed)
        if limit == 0:
            raise Conflict(
                self.name,
                "its registers allow the motor no duty",
                expected=f"{registers} above 0",
                advice=f"write the largest duty into {registers}",
            )
        duty, own = duty_of(limit, self.table), own_duty(self.table)
        self.law = replace(self.law, demand_limit=duty)
        if duty < own:
            limits = limit_registers(self.table)
            self.warnings.append(DutyLimited(joint=self.name, registers=limits, duty=duty, own=own))

    def release(self, attempts: int = ATTEMPTS) -> None:
        """Turn torque off and wait for the confirmation.

        Args:
            attempts: how often a lost confirmation is asked for.

        Raises:
            BamError: no answer.
        """
        self.write("torque_enable", 0, attempts)
        self.torque = False
        self.goal = self._setpoint = None
        if "bus_watchdog" in self.table:
            self.write("bus_watchdog", 0, attempts)

    def switch_on(self, position: float) -> None:
        """Turn torque on, with a goal that is in force before: a position, or no velocity, current or duty.

        Args:
            position: goal, rad; where the servo is. Not used where it follows no positions.

        Raises:
            BamError: no answer, or the position is outside the servo's limits.
        """
        low, high = self.limits
        if self._by_position and not low - OFF_LIMITS <= position <= high + OFF_LIMITS:
            raise OutOfRange(
                f"position of {self.name}",
                position,
                f"{low:.3f} to {high:.3f} rad, its limits",
                printed=f"{position:.3f} rad",
                advice="turn it back by hand, then command torque off and on",
            )
        if "torque_limit" in self.table:
            self._recover_torque_limit()
        goal = self.count(position) if self._by_position else None
        self.torque = None
        self.write(self.goal_register, 0 if goal is None else goal)
        if "bus_watchdog" in self.table:
            self.write("bus_watchdog", round(self._watchdog / self.table["bus_watchdog"].unit.scale))
        self.write("torque_enable", 1)
        self.torque = True
        self.goal, self._repeats_goal = goal, False
        self._setpoint = None if self._by_position else 0

    def next_goal(self, position: float) -> int | None:
        """Return the count that the goal register gets in this cycle; None: none.

        Nobody confirms goals: one that stands is written again, for a damaged packet is not carried out.

        Args:
            position: rad; NaN keeps the goal in force.
        """
        count = self.count(position) if position == position else self.goal
        if count != self.goal:
            self.goal, self._repeats_goal = count, True
            return count
        repeats, self._repeats_goal = self._repeats_goal, False
        return count if repeats else None

    def repeat_goal(self) -> None:
        """Let the goal in force be written again."""
        self._repeats_goal = self.goal is not None

    def count(self, position: float) -> int:
        """Return the goal register's count of a position in rad, within the servo's own limits."""
        low, high = self._ends
        return self._goal_row.from_si(min(max(position, low), high))

    def aim(self, setpoint: float) -> int:
        """Return the count of its goal register for a velocity, current or duty within its limit; note it.

        Args:
            setpoint: rad/s, A or 1; NaN: 0.
        """
        wanted = (
            min(max(setpoint, -self.setpoint_limit), self.setpoint_limit) if setpoint == setpoint else 0.0
        )
        self._setpoint = self.setpoint_count(wanted)
        return self._setpoint

    def setpoint_count(self, setpoint: float) -> int:
        """Return the count of its goal register for a velocity, current or duty."""
        return self.table[self.goal_register].from_si(setpoint)

    def setpoint_si(self, count: int) -> float:
        """Return the velocity, current or duty of a count of its goal register."""
        return self.table[self.goal_register].to_si(count)

    def measured(self, data: bytes) -> list[float] | None:
        """Return what the bytes of its block hold, as `StateBlock.measured`."""
        return self.block.measured(data)

    def state(self, measured: list[float] | None, error: int) -> Measured:
        """Return its state from what was measured and the status packet's error byte.

        Raises:
            BusTimeout, BusCorrupt, BamError: the servo raised its alert without a reason.
            Unavailable: it was restarted, and has lost what `prepare` had set.
        """
        if measured is None:
            raise Unavailable(
                self.name, "restarted by itself, torque is off", advice="check its supply for dips"
            )
        if error and self.table.protocol == 2:
            error = self.read(self.table.error_register) if error & ALERT else 0
        return Measured._make((*measured, hardware_errors(self.table, error) if error else 0))

    def check(self) -> None:
        """Make sure that the servo still holds what was written.

        Raises:
            BamError: it switched its torque off by itself, or does not answer.
        """
        if not self.torque:
            return
        held = self._read_together(_CHECKED)
        if held.get("bus_watchdog") == _WATCHDOG_TRIPPED:
            raise Unavailable(
                self.name,
                f"stopped itself, the bus was silent for {self._watchdog:g} s (parameter watchdog)",
                advice="the machine is too busy, give the driver a processor",
            )
        if held["torque_enable"] != 1:
            raise Unavailable(self.name, "torque went off by itself", advice="check its supply for dips")
        if self._limits_current:
            self._require_current_limit()

    def _read_together(self, registers: Sequence[str]) -> dict[str, int]:
        """Return the counts of those registers that it has, with one request where they are near."""
        names = [name for name in registers if name in self.table]
        address, length = self.table.span(*names)
        if length > _NEAR:
            return {name: self.read(name) for name in names}
        data = self.link.read_one(self.id, address, length)
        rows = [self.table[name] for name in names]
        return {row.name: row.decode(data[row.address - address : row.end - address]) for row in rows}

    def set_gains(self, gains: Gains) -> Gains:
        """Write the position controller's gains, all or none, and return what the servo holds.

        Raises:
            OutOfRange: a gain is outside its register's range, or no whole number.
            BamError: the servo does not answer.
        """
        wanted = dict(zip(_GAINS, (gains.kp, gains.ki, gains.kd), strict=True))
        for name, value in wanted.items():
            if name in self.table:
                require_position_gain(self.table, self.name, name, value)
            elif value != 0.0 or name == _GAINS[0]:
                raise Unsupported(
                    self.name,
                    f"{self.table.title} has no register {name}",
                    expected=self.table.law or "0",
                    advice="leave its gains as they are" if name == _GAINS[0] else "set this gain to 0",
                )
        gains.require_whole(self.name)
        before = {name: self.read(name) for name in wanted if name in self.table}
        try:
            for name in before:
                self._borrowed.set(self, name, int(wanted[name]))
        except BamError:
            for name, count in before.items():
                with contextlib.suppress(BamError):  # the servo may not answer any more
                    self._borrowed.set(self, name, count)
            raise
        return self.read_gains()

    def read_gains(self) -> Gains:
        """Return the gains that the servo holds, 0 of those it does not have; raises BamError."""
        kp, ki, kd = (float(self.read(name)) if name in self.table else 0.0 for name in _GAINS)
        return Gains(kp=kp, ki=ki, kd=kd)

    def read_register(self, register: str) -> RegisterValue:
        """Return what a register holds; raises BamError."""
        row = self.table[register]
        return self.meaning(row, self.link.read(self.id, row))

    def write_register(self, register: str, value: float, unit: str = "") -> tuple[int, RegisterValue]:
        """Write a register that clients may write; return the count that was written, and what it holds.

        Args:
            register: name.
            value: that it shall hold, in `unit`.
            unit: that of the register; empty: counts.

        Raises:
            Unsupported: it is read-only, or decides about safety, the law or what the servo accepts.
            Conflict: it is in the EEPROM and torque is on.
            OutOfRange, UnknownName: no such value, unit or register.
            BamError: no answer.
        """
        row = self.table[register]
        require_free(self.name, self.table, row)
        count = count_of(self.name, row, value, unit)
        if row.eeprom and self.torque is not False:
            raise Conflict(
                f"register {register} of {self.name}",
                "is in the EEPROM, and torque is on",
                expected="torque off",
                advice="call ~/set_torque with false, then write it",
            )
        self.write(register, count)
        return count, self.read_register(register)

    def meaning(self, register: Register, count: int) -> RegisterValue:
        """Return what a count of a register means on this servo."""
        return register_value(register, count)

    def reboot(self) -> None:
        """Restart the servo and make it ready again; a Protocol 1.0 servo is only made ready.

        Raises:
            BamError: it does not come back.
        """
        self.release()
        if self.table.protocol == 2:
            self.link.reboot(self.id)
            deadline = time.monotonic() + _REBOOT_TIMEOUT
            while not self.link.ping(self.id):
                if time.monotonic() > deadline:
                    raise Unavailable(
                        self.name,
                        f"not back {_REBOOT_TIMEOUT:g} s after a reboot",
                        advice="cycle its power",
                    )
        else:
            self._recover_torque_limit()
        self.prepare()
