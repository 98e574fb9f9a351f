# SPDX-License-Identifier: Apache-2.0
"""The bytes that hold a servo's measured state: as they lie in its table, or packed by indirect addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.register import Register

_MEASURED = (
    *("present_pwm", "present_load", "present_current", "present_velocity", "present_position"),
    *("present_input_voltage", "present_temperature"),
)
_MAX_DISTANCE = 20
"""Bytes between registers that are not worth reading: Protocol 1.0 has its current behind so many."""
_WITNESS = "status_return_level"
"""Last byte of a packed block: 2 while a driver is at work, 0 where a restart has reset the pointers."""
_POINTER = 2  # bytes of an indirect address


@dataclass(frozen=True, kw_only=True)
class StateBlock:
    """One block of registers that is read in every cycle.

    Attributes:
        address: of its first byte.
        length: bytes.
        cells: register -> where it is in the block, and its row.
        pointer_address: of the first indirect address that packs it; -1: it is not packed.
        pointers: what the indirect addresses hold then.
    """

    address: int
    length: int
    cells: Mapping[str, tuple[slice, Register]]
    pointer_address: int = -1
    pointers: bytes = b""

    @property
    def packed(self) -> bool:
        """Whether indirect addresses bring its registers together."""
        return self.pointer_address >= 0

    def witness(self, data: bytes) -> int:
        """Return what the last byte of a packed block has to be for the block to be right."""
        cell, row = self.cells[_WITNESS]
        return row.decode(data[cell])


def measured_registers(table: ControlTable) -> tuple[str, ...]:
    """Return the registers that are read in every cycle; they lie in one block."""
    position = table["present_position"].address
    return tuple(
        name for name in _MEASURED if name in table and abs(table[name].address - position) <= _MAX_DISTANCE
    )


def direct_block(table: ControlTable) -> StateBlock:
    """Return the smallest block of the table that holds all measured registers."""
    names = measured_registers(table)
    address, length = table.span(*names)
    cells = {
        name: (slice(table[name].address - address, table[name].end - address), table[name]) for name in names
    }
    return StateBlock(address=address, length=length, cells=cells)


def packed_block(table: ControlTable) -> StateBlock | None:
    """Return the block of indirect data that holds them without gaps.

    None where that is not shorter, or where the servo keeps pointers in its EEPROM, whose cells wear.
    """
    if not table.indirect or _WITNESS not in table:
        return None
    pointer_address, data_address, count = table.indirect[0]
    first = table["indirect_address_1"]
    rows = [table[name] for name in (*measured_registers(table), _WITNESS)]
    length = sum(row.size for row in rows)
    lowest, highest = min(row.address for row in rows), max(row.end for row in rows) - 1
    reachable = first.low <= lowest and highest <= first.high
    if first.eeprom or count < length or not reachable or length >= direct_block(table).length:
        return None
    cells, at, pointers = {}, 0, b""
    for row in rows:
        cells[row.name] = (slice(at, at + row.size), row)
        pointers += b"".join(address.to_bytes(_POINTER, "little") for address in range(row.address, row.end))
        at += row.size
    return StateBlock(
        address=data_address,
        length=length,
        cells=cells,
        pointer_address=pointer_address,
        pointers=pointers,
    )
