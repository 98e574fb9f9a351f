# SPDX-License-Identifier: Apache-2.0
"""An emulated Feetech servo: STS, SMS or SCS registers in front, the bench behind."""

from __future__ import annotations

import contextlib
import math
from typing import Any

from bam_ros.dynamixel.control_table import ControlTable, Register
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.bench import Bench
from bam_ros.emulators.dynamixel.packets import BROADCAST_ID, Complaint, Instruction, Packet, Refused, Status
from bam_ros.emulators.dynamixel.protocol1 import read_arguments, write_arguments
from bam_ros.emulators.dynamixel.servo import VirtualServo
from bam_ros.emulators.feetech.law import CALIBRATE, DAMPING, TORQUE_OFF, TORQUE_ON, FeetechLaw
from bam_ros.emulators.feetech.memory import Memory

VOLTAGE_BIT, ENCODER_BIT, OVERHEATING_BIT, OVERCURRENT_BIT, OVERLOAD_BIT = 0x01, 0x02, 0x04, 0x08, 0x20
RECOVERY, RESET, CALIBRATION = 0x06, 0x0A, 0x0B
"""Instructions that Dynamixel's protocol does not have, or uses otherwise."""
_MOVING = 0.05  # faster is moving, rad/s
_AT_POWER_ON = {
    "torque_limit": "max_torque",
    "goal_current": "protection_current",
    "active_p_gain": "position_p_gain",
    "active_d_gain": "position_d_gain",
    "active_i_gain": "position_i_gain",
}
"""RAM register -> the EEPROM register whose value it gets."""
_LATCHED = OVERCURRENT_BIT | OVERLOAD_BIT


class FeetechServo(VirtualServo):
    """One servo; arguments as VirtualServo.

    Assumed, for no document gives it: writing a goal while torque is off does not switch it on; overload and
    overcurrent end with another goal or with torque off.
    """

    law: FeetechLaw
    registers: Memory
    _measured = ("present_position", "servo_status")

    def __init__(self, table: ControlTable, bench: Bench, *, now: float = 0.0, **settings: Any) -> None:
        if "present_current" in table:
            self._measured = ("present_position", "present_current")
        super().__init__(table, bench, now=now, **settings)
        identity = {name: self.registers.get(name) for name in ("id", "baud_rate")}
        self.registers = Memory(table)
        for name, count in identity.items():
            self.registers.set(name, count)
            self.registers.keep(table[name])
        self.law = FeetechLaw(self.registers)
        self._status = 0
        self._jammed = False
        self._overloaded_since: float | None = None
        self._overcurrent_since: float | None = None
        self._goal = 0
        self.power_on(now)

    @property
    def torque_enabled(self) -> bool:
        """Whether the motor is driven, damping included."""
        return self.registers.get("torque_enable") in (TORQUE_ON, DAMPING)

    def answer(self, packet: Packet, now: float) -> Status | None:
        """Do what a packet for this servo, or for all, asks; return the status if one is due."""
        if not packet.intact:
            return None
        asks = packet.instruction in (Instruction.READ, Instruction.PING)
        is_due = packet.id != BROADCAST_ID and (asks or self.registers.get("status_return_level"))
        identifier, data = self.id, b""
        with contextlib.suppress(Refused):  # no status bit says so
            data = self._execute(packet, now)
        return Status(identifier, self._status, data) if is_due else None

    def read_block(self, address: int, length: int, now: float) -> Status | None:
        """Answer a sync read."""
        try:
            return Status(self.id, self._status, self.read(address, length, now))
        except Refused:
            return None

    def power_on(self, now: float) -> None:
        """Restore what power-off leaves, and stop the motor."""
        self.registers.power_on()
        self._registered = None
        self._forget_overload()
        for ram, eeprom in _AT_POWER_ON.items():
            self.registers.set_known(ram, self.registers.held(eeprom))
        self.bench.advance_to(now)
        self.bench.restart_control()
        self.registers.set("goal_position", self.law.to_register(self.bench.count))
        self._configure()

    def inject(self, fault: str) -> None:
        """Break something; see VirtualServo. What overloads it does not end with another goal."""
        if fault != "overload":
            super().inject(fault)
            return
        self._jammed = True
        self._latch(OVERLOAD_BIT)

    def repair(self) -> None:
        """Undo what `inject` did; overload stays until another goal or torque off."""
        super().repair()
        self._jammed = False

    # instructions

    def _checked(self, address: int, data: bytes, now: float) -> list[tuple[Register, int]]:
        self.update(now)
        return self.registers.check(address, data)

    def _store(self, writes: list[tuple[Register, int]], now: float) -> None:
        unlocked = self.registers.get("lock") == 0
        if any(register.name == "torque_enable" and count == CALIBRATE for register, count in writes):
            self._calibrate()
            writes = [(register, count) for register, count in writes if register.name != "torque_enable"]
        super()._store(writes, now)
        for register, _ in writes:
            if register.eeprom and unlocked:
                self.registers.keep(register)

    def _calibrate(self) -> None:
        """Let the present position be the middle."""
        if "homing_offset" not in self.table:
            return
        register = self.table["homing_offset"]
        offset = self.law.actual(self.bench.count) - self.law.centre
        self.registers.set("homing_offset", register.from_si(offset * register.unit.scale))
        self.registers.keep(register)

    def _written(self, changes: dict[str, int], now: float) -> None:
        goal = self.registers.get("goal_position")
        if not self._jammed and (changes.get("torque_enable") == TORQUE_OFF or goal != self._goal):
            self._forget_overload()
        self._goal = goal

    def _execute_special(self, packet: Packet, now: float) -> None:
        if packet.instruction == RECOVERY:
            self.factory_reset(("id", "baud_rate"), now)
        elif packet.instruction == CALIBRATION:
            self._calibrate()
        else:
            raise Refused(Complaint.INSTRUCTION)

    def factory_reset(self, keep: tuple[str, ...], now: float) -> None:
        """Restore the factory values of everything but the registers to keep."""
        kept = {name: self.registers.get(name) for name in keep}
        self.registers.restore(self.table.registers)
        for name, count in kept.items():
            self.registers.set(name, count)
        for register in self.table.registers:
            self.registers.keep(register)
        self.power_on(now)

    def _read_arguments(self, parameters: bytes) -> tuple[int, int]:
        return read_arguments(parameters)

    def _write_arguments(self, parameters: bytes) -> tuple[int, bytes]:
        return write_arguments(parameters)

    def _permit(self, register: Register, count: int) -> None:
        """Permit everything: nothing is locked while torque is on."""

    def _identity(self) -> bytes:
        return b""

    def _error(self, complaint: Complaint | None) -> int:
        return self._status

    # measurements and protection

    def _measure(self) -> None:
        state, registers, sign = self.bench.state, self.registers, self.law.sign()

        def show(name: str, value: float) -> None:
            if name in self.table:
                registers.set(name, self.table[name].from_si(value))

        velocity = sign * float(state[k.MEASURED_VELOCITY])
        registers.set("present_position", self.law.to_register(self.bench.count))
        show("present_velocity", velocity / self.law.speed_factor())
        show("present_load", sign * float(state[k.DUTY]))
        show("present_input_voltage", float(state[physics.SUPPLY]))
        show("present_temperature", self.bench.temperature)
        show("present_current", abs(float(state[physics.CURRENT])))
        registers.set("moving", int(abs(velocity) > _MOVING))
        registers.set("servo_status", self._status)
        if "goal_in_force" in self.table:
            registers.set("goal_in_force", registers.get("goal_position"))

    def _hardware_errors(self) -> int:
        """Return the status bits of the present moment."""
        state, get, now = self.bench.state, self.registers.get, self.bench.time
        errors = 0
        supply = round(float(state[physics.SUPPLY]) * 10.0)
        if not get("min_voltage_limit") <= supply <= get("max_voltage_limit"):
            errors |= VOLTAGE_BIT
        if self.bench.temperature > get("temperature_limit"):
            errors |= OVERHEATING_BIT
        threshold = get("overload_torque") if "overload_torque" in self.table else math.inf
        is_overload = abs(float(state[k.DUTY])) >= 0.01 * threshold
        self._overloaded_since = (self._overloaded_since or now) if is_overload else None
        if is_overload and now - (self._overloaded_since or now) >= 0.01 * self.registers.held(
            "protection_time"
        ):
            errors |= OVERLOAD_BIT
        if "protection_current" in self.table:
            most = self.table["protection_current"].to_si(get("protection_current"))
            is_over = abs(float(state[physics.CURRENT])) > most
            self._overcurrent_since = (self._overcurrent_since or now) if is_over else None
            if is_over and now - (self._overcurrent_since or now) >= 0.01 * get("overcurrent_time"):
                errors |= OVERCURRENT_BIT
        return errors

    def _check_hardware(self, errors: int) -> None:
        """React: where register unloading_condition has the bit, the motor is released or weakened."""
        new = errors & _LATCHED & ~self._status
        self._status = errors | (self._status & _LATCHED)
        if new:
            self._latch(new)
        released = self._status & self.registers.get("unloading_condition") & ~OVERLOAD_BIT
        if released and self.torque_enabled:
            self.registers.set("torque_enable", TORQUE_OFF)
            self._configure()

    def _latch(self, errors: int) -> None:
        self._status |= errors
        if errors & OVERLOAD_BIT & self.registers.get("unloading_condition"):
            self.law.holding = True
            self._configure()

    def _forget_overload(self) -> None:
        self._status &= ~_LATCHED
        self._overloaded_since = self._overcurrent_since = None
        if self.law.holding:
            self.law.holding = False
            self._configure()
