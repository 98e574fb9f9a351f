# SPDX-License-Identifier: Apache-2.0
"""The bytes that hold a servo's measured state: as they lie in its table, or packed by indirect addresses."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.register import FORMAT, Register

_MEASURED = (
    *("present_pwm", "present_load", "present_current", "present_velocity", "present_position"),
    *("present_input_voltage", "present_temperature"),
)
_QUANTITIES = (
    *(("present_position",), ("present_velocity",), ("present_current",), ("present_pwm", "present_load")),
    *(("present_input_voltage",), ("present_temperature",)),
)
"""What a servo measures: its register, or that of some servos and then that of others."""
_MAX_DISTANCE = 20
"""Bytes between registers that are not worth reading: Protocol 1.0 has its current behind so many."""
_WITNESS = "status_return_level"
"""Last byte of a packed block: 2 while a driver is at work, 0 where a restart has reset the pointers."""
_WITNESSED = 2
_ORDER = {"little": "<", "big": ">"}
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

    @cached_property
    def _unpack(self) -> Callable[[bytes], tuple[int, ...]]:
        """Return what takes the counts out of the block's bytes, in the order of their places."""
        cells = sorted(self.cells.values(), key=lambda cell: cell[0].start)
        words, at = _ORDER[cells[0][1].byte_order], 0
        for place, row in cells:
            words += f"{place.start - at}x{FORMAT[row.size, row.signed]}"
            at = place.stop
        return struct.Struct(words).unpack_from

    @cached_property
    def _quantities(self) -> tuple[tuple[int, int, float, Register | None], ...]:
        """Return of each quantity which count it is, its zero and scale, and its row where needed."""
        names = sorted(self.cells, key=lambda name: self.cells[name][0].start)
        quantities: list[tuple[int, int, float, Register | None]] = []
        for alternatives in _QUANTITIES:
            name = next((name for name in alternatives if name in self.cells), None)
            if name is None:
                quantities.append((len(names), 0, 1.0, None))
                continue
            row = self.cells[name][1]
            special = None if row.unit.direction_bit is None else row
            quantities.append((names.index(name), row.unit.zero, row.unit.scale, special))
        return tuple(quantities)

    def measured(self, data: bytes) -> list[float] | None:
        """Return position, velocity, current, duty, voltage and temperature in SI units; NaN: not measured.

        None where a packed block does not hold what it should: a restart has reset its pointers.
        """
        counts = self._unpack(data)
        if self.packed and counts[-1] != _WITNESSED:
            return None
        numbers = (*counts, math.nan)
        return [
            (numbers[at] - zero) * scale if row is None else row.to_si(counts[at])
            for at, zero, scale, row in self._quantities
        ]


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
