# SPDX-License-Identifier: Apache-2.0
"""A slave controller, ET1100-like: registers and memory as the master sees them, without what lies behind."""

from __future__ import annotations

import struct
from typing import NamedTuple, Protocol

from bam_ros.emulators.erob.distributed_clock import DistributedClock
from bam_ros.emulators.erob.eeprom import EepromInterface
from bam_ros.emulators.erob.registers import (
    CLEARED_BY_WRITE,
    FMMU_COUNT,
    FMMU_SIZE,
    RAM_SIZE,
    RAM_START,
    SYNC_MANAGER_COUNT,
    SYNC_MANAGER_SIZE,
    Register,
    writable_bytes,
)
from bam_ros.emulators.erob.sii import WATCHDOG_DIVIDER
from bam_ros.emulators.erob.sync_manager import SyncManager

_FMMU = struct.Struct("<IHBBHBBB")
_READS, _WRITES = 1, 2
_ALIAS_ENABLED = 0x01000000
_WRITABLE = writable_bytes()
_SYNC_MANAGERS = range(Register.SYNC_MANAGER, Register.SYNC_MANAGER + SYNC_MANAGER_SIZE * SYNC_MANAGER_COUNT)
_FMMUS = range(Register.FMMU, Register.FMMU + FMMU_SIZE * FMMU_COUNT)
_PORT0_LINK, _PORT1_LINK = 0x0210, 0x0820  # link there, loop open and communication established
_PORT1_CLOSED, _OTHERS_CLOSED = 0x0400, 0x5000
_PDI_OPERATIONAL = 0x0001


class Firmware(Protocol):
    """What the controller reports to the drive's processor."""

    def al_control_written(self, control: int, now: int) -> None:
        """Take a request for another state."""

    def outputs_written(self, now: int) -> None:
        """Take new process data."""

    def inputs_wanted(self, now: int) -> None:
        """Put the newest process data into the memory."""

    def mailbox_written(self, now: int) -> None:
        """Take a message."""

    def mailbox_read(self, now: int) -> None:
        """Put the next message into the mailbox."""

    def repeat_requested(self, now: int) -> None:
        """Put the last message back."""

    def reconfigured(self) -> None:
        """Note that FMMUs or sync managers are different now."""

    def watchdog_written(self) -> None:
        """Note that the watchdog has other times now."""


class Piece(NamedTuple):
    """Bytes of a logical datagram that lie in a slave's memory."""

    offset: int
    address: int
    length: int
    write: bool
    process_data: bool
    """They lie in a sync manager for process data, which nothing but its direction guards."""
    completes: bool
    """They hold the last byte of that sync manager: the buffer is the drive's when they are written."""


class SlaveController:
    """Registers, process memory, sync managers, FMMUs and distributed clock of one slave.

    Args:
        eeprom: content, changed in place.
        drift: of the crystal, parts per billion.
        origin: when the slave was switched on, ns.
    """

    def __init__(self, eeprom: bytearray, *, drift: int = 0, origin: int = 0) -> None:
        self.memory = memory = bytearray(RAM_START + RAM_SIZE)
        struct.pack_into(
            "<BBHBBBBH",
            memory,
            Register.TYPE,
            0x11,  # ET1100
            0,
            2,
            FMMU_COUNT,
            SYNC_MANAGER_COUNT,
            RAM_SIZE // 1024,
            0x0F,  # ports 0 and 1: MII
            0x01FC,  # DC with 64 bits, low jitter, ..., separate check sequence errors
        )
        memory[Register.STATION_ALIAS : Register.STATION_ALIAS + 2] = eeprom[8:10]
        memory[Register.DL_CONTROL] = 0x01
        memory[Register.PDI_CONTROL] = eeprom[0]
        memory[Register.PDI_CONTROL + 1] = eeprom[1]
        struct.pack_into("<H", memory, Register.WATCHDOG_DIVIDER, WATCHDOG_DIVIDER)
        struct.pack_into("<H", memory, Register.WATCHDOG_TIME_PDI, 1000)
        struct.pack_into("<H", memory, Register.WATCHDOG_TIME_PROCESS_DATA, 1000)
        self.eeprom = EepromInterface(memory, eeprom)
        self.clock = DistributedClock(memory, drift=drift, origin=origin)
        self.sync_managers = [SyncManager(memory, i) for i in range(SYNC_MANAGER_COUNT)]
        self.firmware: Firmware
        self.station_address = 0
        self.set_neighbour(False)

    def set_neighbour(self, there: bool) -> None:
        """Set whether another slave is plugged into port 1."""
        links = _PORT0_LINK | _OTHERS_CLOSED | _PDI_OPERATIONAL | (_PORT1_LINK if there else _PORT1_CLOSED)
        struct.pack_into("<H", self.memory, Register.DL_STATUS, links)

    def answers_to(self, address: int) -> bool:
        """Return whether this is the slave's station address, or its alias where that is in use."""
        if address == self.station_address:
            return True
        control = struct.unpack_from("<I", self.memory, Register.DL_CONTROL)[0]
        return bool(control & _ALIAS_ENABLED) and address == self._word(Register.STATION_ALIAS)

    def count_damaged_frame(self, *, first: bool) -> None:
        """Count a frame with a wrong check sequence; behind the first slave it is marked as such."""
        counter = Register.RX_ERROR_COUNTER if first else Register.FORWARDED_ERROR_COUNTER
        if self.memory[counter] < 0xFF:
            self.memory[counter] += 1

    # physical access

    def read(self, address: int, length: int, now: int) -> bytes | None:
        """Return what a master reads; None where it may not, or nothing is there."""
        end = address + length
        if not length or end > len(self.memory):
            return None
        if address >= RAM_START:
            return self._read_ram(address, length, now)
        if address < Register.DC_END and end > Register.DC_RECEIVE_TIME:
            self._refresh_clock(now)
        return bytes(self.memory[address:end])

    def write(self, address: int, data: bytes | bytearray, now: int) -> bool:
        """Take what a master writes and return whether any of it was taken."""
        end = address + len(data)
        if not data or end > len(self.memory):
            return False
        if address >= RAM_START:
            return self._write_ram(address, data, now)
        if Register.EEPROM_CONTROL <= address < Register.EEPROM_DATA + 8 and self.eeprom.locked:
            return False
        mask = _WRITABLE[address:end]
        if not any(mask):
            return False
        memory = self.memory
        for at, byte in enumerate(data, address):
            if at < RAM_START and _WRITABLE[at]:
                memory[at] = 0 if at in CLEARED_BY_WRITE else byte
        self._react(address, end, data, now)
        return True

    def _react(self, address: int, end: int, data: bytes | bytearray, now: int) -> None:
        """Do what registers do when they are written."""

        def touches(register: int, size: int = 1) -> bool:
            return address < register + size and end > register

        if touches(Register.AL_CONTROL):
            self.firmware.al_control_written(self._word(Register.AL_CONTROL), now)
        if touches(Register.STATION_ADDRESS, 2):
            self.station_address = self._word(Register.STATION_ADDRESS)
        if touches(Register.EEPROM_CONFIGURATION):
            self.eeprom.configure()
        if touches(Register.EEPROM_CONTROL, 2):
            self.eeprom.execute()
        if touches(
            Register.WATCHDOG_DIVIDER, Register.WATCHDOG_TIME_PROCESS_DATA + 2 - Register.WATCHDOG_DIVIDER
        ):
            self.firmware.watchdog_written()
        if touches(_FMMUS.start, len(_FMMUS)):
            self.firmware.reconfigured()
        if touches(_SYNC_MANAGERS.start, len(_SYNC_MANAGERS)):
            for manager in self.sync_managers:
                manager.load()
            self.firmware.reconfigured()
            if self.sync_managers[1].repeat_requested:
                self.firmware.repeat_requested(now)
        if touches(Register.DC_RECEIVE_TIME):
            self.clock.latch(now)
        if touches(Register.DC_SYSTEM_TIME, 4) and end >= Register.DC_SYSTEM_TIME + 4:
            self.clock.receive_system_time(self._double(Register.DC_SYSTEM_TIME), now)
        if touches(Register.DC_SYSTEM_OFFSET, 12):
            self.clock.load()
        if touches(Register.DC_SPEED_COUNTER_START, 2):
            self.clock.start_filter()
        if touches(Register.DC_ACTIVATION):
            self.clock.activate(now)

    def _refresh_clock(self, now: int) -> None:
        at = Register.DC_SYSTEM_TIME
        self.memory[at : at + 8] = self.clock.read_system_time(now)
        if self.clock.active:
            start = self.clock.next_start(now) & 0xFFFFFFFFFFFFFFFF
            struct.pack_into("<Q", self.memory, Register.DC_START_TIME, start)

    def _read_ram(self, address: int, length: int, now: int) -> bytes | None:
        touched = [manager for manager in self.sync_managers if manager.overlaps(address, length)]
        for manager in touched:
            if not manager.permits(address, length, write=False):
                return None
        for manager in touched:
            if manager.buffered and address == manager.start:
                self.firmware.inputs_wanted(now)
        data = bytes(self.memory[address : address + length])
        for manager in touched:
            if manager.mailbox and address + length == manager.end:
                manager.empty()
                self.firmware.mailbox_read(now)
        return data

    def _write_ram(self, address: int, data: bytes | bytearray, now: int) -> bool:
        touched = [manager for manager in self.sync_managers if manager.overlaps(address, len(data))]
        if any(not manager.permits(address, len(data), write=True) for manager in touched):
            return False
        self.memory[address : address + len(data)] = data
        for manager in touched:
            if address + len(data) == manager.end:
                if manager.mailbox:
                    manager.fill()
                    self.firmware.mailbox_written(now)
                else:
                    self.firmware.outputs_written(now)
        return True

    # logical access

    def pieces(self, address: int, length: int) -> list[Piece]:
        """Return what the FMMUs make of a logical range: whole bytes, in the order of the FMMUs."""
        result = []
        for i in range(FMMU_COUNT):
            start, size, first_bit, last_bit, memory, memory_bit, kind, active = _FMMU.unpack_from(
                self.memory, Register.FMMU + FMMU_SIZE * i
            )
            if not active & 1 or first_bit or memory_bit or (last_bit != 7 and size > 1):
                continue
            low, high = max(start, address), min(start + size, address + length)
            if low >= high:
                continue
            at = memory + low - start
            for write, bit in ((False, _READS), (True, _WRITES)):
                if kind & bit and at + high - low <= len(self.memory):
                    result.append(self._piece(low - address, at, high - low, write))
        return result

    def _piece(self, offset: int, at: int, length: int, write: bool) -> Piece:
        for manager in self.sync_managers:
            inside = manager.enabled and manager.start <= at and at + length <= manager.end
            if inside and manager.buffered and manager.master_writes == write:
                return Piece(offset, at, length, write, True, write and at + length == manager.end)
        return Piece(offset, at, length, write, False, False)

    def _word(self, address: int) -> int:
        return self.memory[address] | self.memory[address + 1] << 8

    def _double(self, address: int) -> int:
        return int.from_bytes(self.memory[address : address + 4], "little")
