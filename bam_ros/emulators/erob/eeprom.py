# SPDX-License-Identifier: Apache-2.0
"""The EEPROM interface of a slave controller: commands in registers 0x0500 to 0x050F."""

from __future__ import annotations

import struct

from bam_ros.emulators.erob.registers import Register

_COMMAND_MASK = 0x0700
_READ, _WRITE, _RELOAD = 0x0100, 0x0200, 0x0400
_WRITE_ENABLE = 0x0001
_READS_8_BYTES, _WORD_ADDRESSES = 0x0040, 0x0080
_COMMAND_ERROR, _WRITE_ERROR = 0x2000, 0x4000
_STATUS = _READS_8_BYTES | _WORD_ADDRESSES
_PDI_HAS_IT, _FORCE = 0x01, 0x02


class EepromInterface:
    """Executes EEPROM commands that a master puts into the registers.

    Args:
        memory: of the controller; registers are read from it and written to it.
        content: of the EEPROM, changed in place by write commands.
    """

    def __init__(self, memory: bytearray, content: bytearray) -> None:
        self._memory = memory
        self.content = content
        self._set_status(_STATUS)

    @property
    def locked(self) -> bool:
        """Return whether the drive's own processor has the EEPROM: the master's commands are refused."""
        return bool(self._memory[Register.EEPROM_CONFIGURATION] & _PDI_HAS_IT)

    def configure(self) -> None:
        """React to a write to the configuration register."""
        if self._memory[Register.EEPROM_CONFIGURATION] & _FORCE:
            self._memory[Register.EEPROM_PDI_ACCESS] = 0

    def execute(self) -> None:
        """React to a write to the control register; the command is done at once."""
        control, address = struct.unpack_from("<HI", self._memory, Register.EEPROM_CONTROL)
        command = control & _COMMAND_MASK
        at = 2 * address
        status = _STATUS
        if command == _READ:
            data = bytes(self.content[at : at + 8]).ljust(8, b"\xff")
            self._memory[Register.EEPROM_DATA : Register.EEPROM_DATA + 8] = data
        elif command == _WRITE:
            if not control & _WRITE_ENABLE:
                status |= _WRITE_ERROR
            elif at + 2 > len(self.content):
                status |= _COMMAND_ERROR
            else:
                self.content[at : at + 2] = self._memory[Register.EEPROM_DATA : Register.EEPROM_DATA + 2]
        elif command == _RELOAD:
            alias = self.content[8:10]
            self._memory[Register.STATION_ALIAS : Register.STATION_ALIAS + 2] = alias
        elif command:
            status |= _COMMAND_ERROR
        self._set_status(status)

    def _set_status(self, status: int) -> None:
        struct.pack_into("<H", self._memory, Register.EEPROM_CONTROL, status)
