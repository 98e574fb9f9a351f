# SPDX-License-Identifier: Apache-2.0
"""MX servos with Protocol 1.0 firmware: error bits in every status, no reboot, no watchdog."""

from __future__ import annotations

import struct
from typing import Any

from bam_ros.dynamixel.control_table import ControlTable, Register
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.bench import Bench
from bam_ros.emulators.dynamixel.control_law import Protocol1Law
from bam_ros.emulators.dynamixel.packets import Complaint, Instruction, Packet, Refused
from bam_ros.emulators.dynamixel.protocol1 import read_arguments, write_arguments
from bam_ros.emulators.dynamixel.servo import OVERLOAD_BIT, VirtualServo

_PRESENT = struct.Struct("<hHHBB")  # position, velocity, load, voltage, temperature
_MOVING = 0.05  # faster is moving, rad/s


class Protocol1Servo(VirtualServo):
    """An emulated servo with Protocol 1.0 firmware; arguments as VirtualServo."""

    def __init__(self, table: ControlTable, bench: Bench, *, now: float = 0.0, **settings: Any) -> None:
        super().__init__(table, bench, now=now, **settings)
        self.law: Protocol1Law = Protocol1Law(self.registers)
        self._present = table["present_position"].address
        self._overload = 0
        self._hardware = 0
        self.power_on(now)

    def power_on(self, now: float) -> None:
        """Restore the RAM area; the torque limit comes from the EEPROM."""
        super().power_on(now)
        self.registers.set("torque_limit", self.registers.get("max_torque"))
        self._overload = 0
        self._configure()

    def _measure(self) -> None:
        state, registers, sign = self.bench.state, self.registers, self.law.sign()
        registers_position = self.law.to_register(self.bench.count)
        velocity = registers.table["present_velocity"].from_si(sign * float(state[k.MEASURED_VELOCITY]))
        load = registers.table["present_load"].from_si(sign * float(state[k.DUTY]))
        volts = min(max(round(float(state[physics.SUPPLY]) * 10.0), 0), 255)
        celsius = min(max(round(self.bench.temperature), 0), 255)
        _PRESENT.pack_into(registers.data, self._present, registers_position, velocity, load, volts, celsius)
        registers.set("moving", int(abs(state[k.MEASURED_VELOCITY]) > _MOVING))
        registers.set_known("realtime_tick", int(state[k.TICKS]) & 0x7FFF)
        if "present_current" in registers.table:
            current = registers.table["present_current"]
            registers.set("present_current", current.from_si(sign * float(state[physics.CURRENT])))

    def _error(self, complaint: Complaint | None) -> int:
        return self._hardware | (complaint.value[0] if complaint else 0)

    def _identity(self) -> bytes:
        return b""

    def _read_arguments(self, parameters: bytes) -> tuple[int, int]:
        return read_arguments(parameters)

    def _write_arguments(self, parameters: bytes) -> tuple[int, bytes]:
        return write_arguments(parameters)

    def _execute_special(self, packet: Packet, now: float) -> None:
        if packet.instruction != Instruction.FACTORY_RESET:
            raise Refused(Complaint.INSTRUCTION)
        self.factory_reset((), now)

    def _permit(self, register: Register, count: int) -> None:
        if register.eeprom and self.registers.get("lock"):
            raise Refused(Complaint.ACCESS)
        if register.name == "lock" and count < self.registers.get("lock"):
            raise Refused(Complaint.RANGE)  # only power-on unlocks
        if register.name == "goal_position" and not (self.law.multi_turn or self.law.wheel):
            low, high = self.registers.get("min_position_limit"), self.registers.get("max_position_limit")
            if not low <= count <= high:
                raise Refused(Complaint.ANGLE_LIMIT)

    def _written(self, changes: dict[str, int], now: float) -> None:
        if changes.get("torque_limit", 0) > 0:
            self._overload = 0
            self.bench.state[k.STALLED] = 0.0

    def _check_hardware(self, errors: int) -> None:
        # Voltage and temperature errors end with their cause; overload stays until the client resets it.
        self._overload |= errors & OVERLOAD_BIT
        self._hardware = errors | self._overload
        if self._hardware & self.registers.get("shutdown") and self.registers.get("torque_limit"):
            self.registers.set("torque_limit", 0)
            self._configure()
