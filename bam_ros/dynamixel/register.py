# SPDX-License-Identifier: Apache-2.0
"""A register of a control table: where it lies, what may be written, what it means in SI units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

_RPM = 2.0 * math.pi / 60.0  # rad/s
_RPM2 = 2.0 * math.pi / 3600.0  # rad/s² per rev/min²


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


RAW = Unit(symbol="-", scale=1.0)
POSITION = Unit(symbol="rad", scale=2.0 * math.pi / 4096, zero=2048)
VELOCITY = Unit(symbol="rad/s", scale=0.229 * _RPM)
VELOCITY_P1 = Unit(symbol="rad/s", scale=0.114 * _RPM, direction_bit=10)
ACCELERATION = Unit(symbol="rad/s²", scale=214.577 * _RPM2)
ACCELERATION_P1 = Unit(symbol="rad/s²", scale=math.radians(8.583))
DUTY = Unit(symbol="-", scale=1.0 / 885)
DUTY_P1 = Unit(symbol="-", scale=1.0 / 1023, direction_bit=10)
CURRENT_P1 = Unit(symbol="A", scale=4.5e-3, zero=2048)
GOAL_CURRENT_P1 = Unit(symbol="A", scale=4.5e-3, direction_bit=10)
CURRENT_MX = Unit(symbol="A", scale=3.36e-3)
CURRENT_XL330 = Unit(symbol="A", scale=1e-3)
VOLTAGE = Unit(symbol="V", scale=0.1)
TEMPERATURE = Unit(symbol="°C", scale=1.0)
DELAY = Unit(symbol="s", scale=2e-6)
WATCHDOG = Unit(symbol="s", scale=20e-3)
TICK = Unit(symbol="s", scale=1e-3)


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
