# SPDX-License-Identifier: Apache-2.0
"""The memory of one emulated servo: bytes behind a control table, with the manual's rules of access."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.register import Register
from bam_ros.emulators.dynamixel.packets import Complaint, Refused

_FORMAT: Mapping[tuple[int, bool], Literal["B", "b", "H", "h", "I", "i"]] = {
    (1, False): "B",
    (1, True): "b",
    (2, False): "H",
    (2, True): "h",
    (4, False): "I",
    (4, True): "i",
}


class _Swapped(Sequence[int]):
    """The number of a register in the machine's other order of bytes, as its only element."""

    def __init__(self, data: bytearray, register: Register) -> None:
        self._data, self._register = data, register

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: Any) -> Any:
        return self._register.decode(self._data[self._register.address : self._register.end])


class RegisterFile:
    """Registers of one servo.

    `check` and `apply` serve what comes over the bus; `get` and `set` are the firmware's own access, without
    rules.

    Args:
        table: the servo's control table.
    """

    def __init__(self, table: ControlTable) -> None:
        self.table = table
        self.data = bytearray(table.size)
        # Looked up a dozen times per packet, hence not through Register.decode: numbers that lie in `data`.
        memory = memoryview(self.data)
        self._numbers: dict[str, Sequence[int]] = {
            register.name: memory[register.address : register.end].cast(
                _FORMAT[register.size, register.signed]
            )
            if register.byte_order == sys.byteorder
            else _Swapped(self.data, register)
            for register in table.registers
        }
        self._at: list[Register | None] = [None] * table.size
        for register in table.registers:
            self._at[register.address : register.end] = [register] * register.size
        first = min((data for _, data, _ in table.indirect), default=table.size)
        self._indirect_from = first
        self._indirect = {
            data + i: address + 2 * i for address, data, count in table.indirect for i in range(count)
        }
        self.restore(table.registers)

    def restore(self, registers: Iterable[Register]) -> None:
        """Set registers to their factory values (0 where the firmware fills them in)."""
        for register in registers:
            self.data[register.address : register.end] = register.encode(register.initial or 0)

    def get(self, name: str) -> int:
        """Return the count in a register."""
        return self._numbers[name][0]

    def held(self, name: str) -> int:
        """Return the count in a register; 0 where the servo has no such register."""
        number = self._numbers.get(name)
        return 0 if number is None else number[0]

    def set(self, name: str, count: int) -> None:
        """Store a count, clipped to what fits the register's size."""
        register = self.table[name]
        bits = 8 * register.size - register.signed
        count = min(max(count, -(1 << bits) if register.signed else 0), (1 << bits) - 1)
        self.data[register.address : register.end] = register.encode(count)

    def read(self, address: int, length: int) -> bytes:
        """Return the bytes of a block; gaps inside it read as 0.

        Raises:
            Refused: the block begins where no register is, or ends behind the table.
        """
        end = address + length
        if length < 1 or end > len(self.data) or self._at[address] is None:
            raise Refused(Complaint.ACCESS)
        if end <= self._indirect_from:
            return bytes(self.data[address:end])
        return bytes(self.data[self._target(at)] for at in range(address, end))

    def set_known(self, name: str, count: int) -> None:
        """Store a count where the servo has such a register."""
        if name in self._numbers:
            self.set(name, count)

    def overlaps(self, address: int, length: int, first: int, last: int) -> bool:
        """Return whether a block, or what its indirect data may point at, touches first <= address < last."""
        end = address + length
        return end > self._indirect_from or (address < last and end > first)

    def check(self, address: int, data: bytes) -> list[tuple[Register, int]]:
        """Return the registers that a write would change and their new counts, without changing anything.

        Raises:
            Refused: read-only or no register there (ACCESS), part of a register (LENGTH), a count outside the
                register's range (RANGE). In Protocol 1.0 gaps inside a block are skipped.
        """
        if not data or address + len(data) > len(self.data) or self._at[address] is None:
            raise Refused(Complaint.ACCESS)
        writes: list[tuple[Register, int]] = []
        for start, block in self._direct_blocks(address, data):
            at = start
            while at < start + len(block):
                register = self._at[at]
                if register is None:
                    if self.table.protocol == 2:
                        raise Refused(Complaint.ACCESS)
                    at += 1
                    continue
                if register.address != at or register.end > start + len(block):
                    raise Refused(Complaint.LENGTH)
                if not register.writable:
                    raise Refused(Complaint.ACCESS)
                count = register.decode(block[at - start : register.end - start])
                if not register.low <= count <= register.high:
                    raise Refused(Complaint.RANGE)
                writes.append((register, count))
                at = register.end
        return writes

    def apply(self, writes: Iterable[tuple[Register, int]]) -> None:
        """Store what `check` returned."""
        for register, count in writes:
            self.data[register.address : register.end] = register.encode(count)

    def _target(self, at: int) -> int:
        """Return the address that a byte really lies at: indirect data point elsewhere."""
        pointer = self._indirect.get(at)
        if pointer is None:
            return at
        target = self.data[pointer] | self.data[pointer + 1] << 8
        return target if target < len(self.data) else at

    def _direct_blocks(self, address: int, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Split a write into blocks of consecutive direct addresses."""
        if address + len(data) <= self._indirect_from:
            yield address, data
            return
        targets = [self._target(at) for at in range(address, address + len(data))]
        start = 0
        for i in range(1, len(targets) + 1):
            if i == len(targets) or targets[i] != targets[i - 1] + 1:
                yield targets[start], data[start:i]
                start = i
