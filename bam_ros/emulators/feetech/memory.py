# SPDX-License-Identifier: Apache-2.0
"""The memory of an emulated Feetech servo, with its lock: EEPROM values written while it is on are lost."""

from __future__ import annotations

from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.register import Register
from bam_ros.emulators.dynamixel.packets import Complaint, Refused
from bam_ros.emulators.dynamixel.register_file import RegisterFile


class Memory(RegisterFile):
    """Registers of one servo; addresses without a register read as 0 and take no writes.

    Assumed, for no document gives it: a count outside a register's range is clipped to it, a write to a
    read-only register changes nothing, and neither is an error.

    Args:
        table: the servo's control table.
    """

    def __init__(self, table: ControlTable) -> None:
        super().__init__(table)
        self._kept = bytes(self.data)

    def read(self, address: int, length: int) -> bytes:
        """Return the bytes of a block; raises Refused where it ends behind the table."""
        if length < 1 or address + length > len(self.data):
            raise Refused(Complaint.RANGE)
        return bytes(self.data[address : address + length])

    def check(self, address: int, data: bytes) -> list[tuple[Register, int]]:
        """Return the registers that a write changes, and their new counts, without changing anything."""
        if not data or address + len(data) > len(self.data):
            raise Refused(Complaint.RANGE)
        block = bytearray(self.data)
        block[address : address + len(data)] = data
        touched = dict.fromkeys(self._at[address : address + len(data)])
        counts = {
            register: register.decode(block[register.address : register.end])
            for register in touched
            if register is not None and register.writable
        }
        return [
            (register, min(max(count, register.low), register.high)) for register, count in counts.items()
        ]

    def keep(self, register: Register) -> None:
        """Let a register's present value survive power-off."""
        kept = bytearray(self._kept)
        kept[register.address : register.end] = self.data[register.address : register.end]
        self._kept = bytes(kept)

    def power_on(self) -> None:
        """Restore what was kept, and the factory values of the RAM."""
        for register in self.table.registers:
            if register.eeprom:
                self.data[register.address : register.end] = self._kept[register.address : register.end]
            else:
                self.data[register.address : register.end] = register.encode(register.initial or 0)
