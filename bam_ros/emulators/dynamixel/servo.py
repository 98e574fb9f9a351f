# SPDX-License-Identifier: Apache-2.0
"""An emulated servo: registers in front, bench behind, and the instructions that both generations know.

No I/O, and time is an argument. What differs between the firmware generations is in servo_protocol1.py and
servo_protocol2.py.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod

from bam_core.errors import UnknownName
from bam_ros.dynamixel.control_table import ControlTable, Register
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.bench import CATCH_UP, Bench
from bam_ros.emulators.dynamixel.control_law import ControlLaw
from bam_ros.emulators.dynamixel.packets import BROADCAST_ID, Complaint, Instruction, Packet, Refused, Status
from bam_ros.emulators.dynamixel.register_file import RegisterFile

VOLTAGE_BIT, OVERHEATING_BIT, ENCODER_BIT, SHOCK_BIT, OVERLOAD_BIT = 0x01, 0x04, 0x08, 0x10, 0x20
OVERLOAD_TIME = 2.0
"""How long the output may be at its limit without motion before the servo reports overload, s."""
BOOT_TIME = 0.1
"""How long a servo is deaf after a reboot, s."""
SERVO_FAULTS = ("undervoltage", "overvoltage", "overheat", "overload")
"""Faults that `inject` puts into any servo; the hardware checks then find them by themselves."""

_MEASURED = ("realtime_tick", "moving", "moving_status", "velocity_trajectory", "position_trajectory")
"""Registers that `_measure` fills beside all present ones."""
_GOAL = {"goal_position"}  # what most packets write
_MONITOR_PERIOD = 0.02  # how often the hardware checks look, s


class VirtualServo(ABC):
    """One servo on a bus.

    Args:
        table: which servo it is.
        bench: the physics behind it.
        identifier: bus id, stored as if configured before.
        baud_rate: bit/s, likewise.
        now: clock, s.
    """

    law: ControlLaw
    faults: tuple[str, ...] = SERVO_FAULTS
    """What `inject` knows."""
    _measured: tuple[str, ...] = ()  # registers that `_measure` fills; of none: as Dynamixels call them

    def __init__(
        self,
        table: ControlTable,
        bench: Bench,
        *,
        identifier: int = 1,
        baud_rate: int = 57600,
        now: float = 0.0,
    ) -> None:
        self.table = table
        self.bench = bench
        self.registers = RegisterFile(table)
        self.registers.set("id", identifier)
        self.registers.set("baud_rate", table.baud_value(baud_rate))
        self._ram = tuple(register for register in table.registers if not register.eeprom)
        self._registered: list[tuple[Register, int]] | None = None
        self._supply = bench.hidden.supply_voltage
        self.boot_time = BOOT_TIME
        """Time for which it is silent after a reboot, s."""
        self._boots_until = now
        self._heard = now
        self._updated = -math.inf
        measured = self._measured or [
            row.name
            for row in table.registers
            if (row.name.startswith("present_") and not row.eeprom) or row.name in _MEASURED
        ]
        first, length = table.span(*measured)
        self._measured_from, self._measured_to = first, first + length

    # what the bus asks

    @property
    def id(self) -> int:
        """Bus id."""
        return self.registers.get("id")

    @property
    def baud_rate(self) -> int:
        """Speed at which the servo listens, bit/s."""
        return self.table.baud_rate(self.registers.get("baud_rate")) or 0

    @property
    def return_delay(self) -> float:
        """Silence between an instruction and the status, s."""
        return self.registers.held("return_delay_time") * 2e-6

    @property
    def torque_enabled(self) -> bool:
        """Value of the torque_enable register."""
        return self.registers.get("torque_enable") == 1

    def awake(self, now: float) -> bool:
        """Return whether the servo listens; it does not while it boots."""
        return now >= self._boots_until

    def listens_to(self, identifier: int) -> bool:
        """Return whether a packet for this id concerns the servo."""
        return identifier in (self.id, BROADCAST_ID)

    def heard(self, now: float) -> None:
        """Note that there was an instruction packet on the bus, whoever it was for."""
        self._heard = now

    def answer(self, packet: Packet, now: float) -> Status | None:
        """Do what a packet for this servo, or for all, asks; return the status if one is due."""
        identifier, level = self.id, self.registers.get("status_return_level")
        data, complaint = b"", None
        try:
            data = self._execute(packet, now)
        except Refused as refused:
            complaint = refused.complaint
        reads = packet.instruction == Instruction.READ and level >= 1
        due = level >= 2 or reads or packet.instruction == Instruction.PING
        if packet.id != identifier or not due:
            return None
        return Status(identifier, self._error(complaint), data)

    def read_block(self, address: int, length: int, now: float) -> Status | None:
        """Answer a sync or bulk read, where the servo knows these."""
        if self.registers.get("status_return_level") < 1 or not self.table.bulk_read:
            return None
        try:
            return Status(self.id, self._error(None), self.read(address, length, now))
        except Refused as refused:
            return Status(self.id, self._error(refused.complaint))

    def write_block(self, address: int, data: bytes, now: float) -> None:
        """Apply a sync or bulk write; there is no status, so a refusal stays silent."""
        try:
            self.write(address, data, now)
        except Refused:
            return

    # instructions

    def _execute(self, packet: Packet, now: float) -> bytes:
        if not packet.intact:
            raise Refused(Complaint.CHECKSUM)
        match packet.instruction:
            case Instruction.PING:
                return self._identity()
            case Instruction.READ:
                return self.read(*self._read_arguments(packet.parameters), now)
            case Instruction.WRITE:
                self.write(*self._write_arguments(packet.parameters), now)
            case Instruction.REG_WRITE:
                self._registered = self._checked(*self._write_arguments(packet.parameters), now)
                self.registers.set("registered_instruction", 1)
            case Instruction.ACTION:
                self._action(now)
            case _:
                self._execute_special(packet, now)
        return b""

    def read(self, address: int, length: int, now: float) -> bytes:
        """Return a block of the control table as of now; raises Refused."""
        self.update(now)
        if self.registers.overlaps(address, length, self._measured_from, self._measured_to):
            self._measure()
        return self.registers.read(address, length)

    def write(self, address: int, data: bytes, now: float) -> None:
        """Write a block of the control table; raises Refused, and then nothing has changed."""
        self._store(self._checked(address, data, now), now)

    def _checked(self, address: int, data: bytes, now: float) -> list[tuple[Register, int]]:
        self.update(now)
        writes = self.registers.check(address, data)
        for register, count in writes:
            if register.eeprom and self.torque_enabled:
                raise Refused(Complaint.ACCESS)
            self._permit(register, count)
        return writes

    def _store(self, writes: list[tuple[Register, int]], now: float) -> None:
        torque = self.torque_enabled
        changes = {register.name: count for register, count in writes}
        self.registers.apply(writes)
        self._written(changes, now)
        if self.torque_enabled and not torque:
            self._switched_on(changes)
        if torque and changes.keys() == _GOAL and self.bench.commands[k.MODE] == k.POSITION_MODE:
            self.law.aim(self.bench.commands)
        else:
            self._configure()

    def _switched_on(self, changes: dict[str, int]) -> None:
        """React to torque that goes on, with what is written in the same packet."""
        self.bench.restart_control()

    def _action(self, now: float) -> None:
        if self._registered is None:
            raise Refused(Complaint.INSTRUCTION)
        writes, self._registered = self._registered, None
        self.registers.set("registered_instruction", 0)
        self.update(now)
        self._store(writes, now)

    def power_on(self, now: float) -> None:
        """Restore the RAM area and stop the motor, as after power-on."""
        self.registers.restore(self._ram)
        self._registered = None
        self.bench.advance_to(now)
        self.bench.restart_control()
        self.registers.set("goal_position", self.law.to_register(self.bench.count))
        self._configure()

    def factory_reset(self, keep: tuple[str, ...], now: float) -> None:
        """Restore everything but the registers to keep."""
        kept = {name: self.registers.get(name) for name in keep}
        self.registers.restore(self.table.registers)
        for name, count in kept.items():
            self.registers.set(name, count)
        self.power_on(now)

    # time

    def update(self, now: float) -> None:
        """Bring bench and hardware checks up to the clock."""
        if now <= self._updated:
            return
        self._updated = now
        if now - self.bench.time > CATCH_UP:
            self.bench.skip_to(now - CATCH_UP)
        while True:
            until = min(now, self.bench.time + _MONITOR_PERIOD)
            until = self._before_silence(until)
            self.bench.advance_to(until)
            self._check_silence(until)
            self._check_hardware(self._hardware_errors())
            if until >= now:
                return

    def _hardware_errors(self) -> int:
        """Return the error bits of the present moment."""
        state, get = self.bench.state, self.registers.get
        errors = 0
        supply = round(float(state[physics.SUPPLY]) * 10.0)
        if not get("min_voltage_limit") <= supply <= get("max_voltage_limit"):
            errors |= VOLTAGE_BIT
        if self.bench.temperature > get("temperature_limit"):
            errors |= OVERHEATING_BIT
        if state[k.STALLED] > OVERLOAD_TIME:
            errors |= OVERLOAD_BIT
        return errors

    def inject(self, fault: str) -> None:
        """Break something: one of `faults`. The servo reports it, whether its motor runs or not.

        Raises:
            BamError: no such fault.
        """
        match fault:
            case "undervoltage":
                self.bench.set_supply(0.1 * self.registers.get("min_voltage_limit") - 0.5)
            case "overvoltage":
                self.bench.set_supply(0.1 * self.registers.get("max_voltage_limit") + 0.5)
            case "overheat":
                self.bench.temperature_offset = self.registers.get("temperature_limit")
            case "overload":
                self.bench.state[k.STALLED] = OVERLOAD_TIME + 1.0
                self._check_hardware(self._hardware_errors())  # a motor at rest would let it pass
            case _:
                raise UnknownName("fault", fault, self.faults)

    def repair(self) -> None:
        """Undo what `inject` did; errors that the firmware latches stay until it is rebooted."""
        self.bench.set_supply(self._supply)
        self.bench.temperature_offset = 0.0
        self.bench.state[k.STALLED] = 0.0

    def _configure(self) -> None:
        """Hand the registers to the bench."""
        commands = self.bench.commands
        commands[:] = 0.0
        if self.torque_enabled:
            self.law.configure(commands)

    # what the generations do differently

    @abstractmethod
    def _measure(self) -> None:
        """Fill the registers that show measurements."""

    @abstractmethod
    def _error(self, complaint: Complaint | None) -> int:
        """Return the error byte of a status packet."""

    @abstractmethod
    def _identity(self) -> bytes:
        """Return the parameters of the status to a ping."""

    @abstractmethod
    def _read_arguments(self, parameters: bytes) -> tuple[int, int]:
        """Return address and length of a read; raises Refused."""

    @abstractmethod
    def _write_arguments(self, parameters: bytes) -> tuple[int, bytes]:
        """Return address and data of a write; raises Refused."""

    @abstractmethod
    def _execute_special(self, packet: Packet, now: float) -> None:
        """Do an instruction that only this generation knows, or in its own way; raises Refused."""

    @abstractmethod
    def _permit(self, register: Register, count: int) -> None:
        """Raise Refused where the state of the servo forbids a write that the table allows."""

    @abstractmethod
    def _written(self, changes: dict[str, int], now: float) -> None:
        """React to registers that were just written."""

    @abstractmethod
    def _check_hardware(self, errors: int) -> None:
        """React to hardware errors of the moment."""

    def _before_silence(self, until: float) -> float:
        """Return `until`, or the earlier moment at which a watchdog expires."""
        return until

    def _check_silence(self, now: float) -> None:  # noqa: B027 - not every generation has a watchdog
        """React to an expired watchdog."""
