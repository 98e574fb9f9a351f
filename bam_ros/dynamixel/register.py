# SPDX-License-Identifier: Apache-2.0
"""A register of a control table: where it lies, what may be written, what it means in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class Unit:
    """How the integer in a register relates to an SI quantity: si = scale · (count - zero).

    Attributes:
        symbol: SI unit.
        scale: SI units per count.
        zero: count that means 0.
        direction_bit: of a count as sign and magnitude, set where it is negative; None: plain integer.
    """

    symbol: str
    scale: float
    zero: int = 0
    direction_bit: int | None = None


FORMAT = {(1, False): "B", (1, True): "b", (2, False): "H", (2, True): "h", (4, False): "I", (4, True): "i"}
"""Size and sign of a register -> its character in formats of `struct`."""
RAW = Unit(symbol="-", scale=1.0)
"""Of registers that are no quantity."""


@dataclass(frozen=True, kw_only=True)
class Register:
    """One row of a control table.

    Attributes:
        name: Protocol 2.0 name in snake_case.
        address: of the least significant byte.
        size: 1, 2 or 4 bytes, little endian.
        writable: the manual's RW.
        initial: factory value; None where the servo fills it in.
        low, high: smallest and largest count that a write may carry.
        signed: two's complement.
        unit: SI scale.
        limits: names of the two registers that bound a write; twice the same name: ± its value.
        eeprom: keeps its value without power; writable only while torque is off.
        byte_order: of its bytes.
    """

    name: str
    address: int
    size: int
    writable: bool
    initial: int | None
    low: int
    high: int
    signed: bool
    unit: Unit = RAW
    limits: tuple[str, str] | None = None
    eeprom: bool = False
    byte_order: Literal["little", "big"] = "little"

    @property
    def end(self) -> int:
        """First address behind the register."""
        return self.address + self.size

    def decode(self, data: bytes | bytearray) -> int:
        """Return the count in `size` bytes."""
        return int.from_bytes(data, self.byte_order, signed=self.signed)

    def encode(self, count: int) -> bytes:
        """Return the bytes of a count; raises OverflowError where it does not fit."""
        return int(count).to_bytes(self.size, self.byte_order, signed=self.signed)

    def packed_behind_id(self, servos: int) -> str:
        """Return the format of `struct` for the ids of so many servos, each with a count behind it."""
        order = "<" if self.byte_order == "little" else ">"
        return order + f"B{FORMAT[self.size, self.signed]}" * servos

    def to_si(self, count: int) -> float:
        """Convert a count to the unit's SI quantity."""
        bit = self.unit.direction_bit
        if bit is not None:
            magnitude = count & ((1 << bit) - 1)
            count = -magnitude if count >> bit & 1 else magnitude
        return (count - self.unit.zero) * self.unit.scale

    def from_si(self, value: float) -> int:
        """Convert an SI quantity to the nearest count that a write may carry (clipped to low..high)."""
        count = round(value / self.unit.scale) + self.unit.zero
        bit = self.unit.direction_bit
        if bit is not None:
            magnitude = min(abs(count), (1 << bit) - 1)
            return min(max(magnitude | (1 << bit if count < 0 else 0), self.low), self.high)
        return min(max(count, self.low), self.high)
