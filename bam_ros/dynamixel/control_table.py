# SPDX-License-Identifier: Apache-2.0
"""Control tables of the supported Dynamixel servos, as data: one row per register, with its SI scale.

Addresses, sizes, access, initial values and ranges follow the manufacturer's manual. Register names are those
of Protocol 2.0 tables in snake_case; where a Protocol 1.0 table has the same quantity under another name
(CW Angle Limit, Moving Speed, P Gain ...) it carries the Protocol 2.0 name, so that a client can ask either
generation for `present_velocity` or `position_p_gain`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from bam_core.errors import OutOfRange, UnknownName
from bam_ros.dynamixel._rows import Protocol2Servo, protocol1_registers, row
from bam_ros.dynamixel.register import ACCELERATION, CURRENT_MX, CURRENT_XL330, Register, Unit

__all__ = [
    "COMMON_BAUD_RATES",
    "CONTROL_TABLES",
    "ControlTable",
    "Register",
    "Unit",
    "control_table",
    "require_position_gain",
    "table_for_model",
]


@dataclass(frozen=True, kw_only=True)
class ControlTable:
    """The registers of one servo model and firmware generation.

    Attributes:
        name: key in CONTROL_TABLES.
        title: as printed on the servo.
        model_number: what ping or address 0 answers.
        firmware_version: that an emulated servo answers.
        protocol: 1 or 2.
        position_firmware: key in bam_core.servo.firmware.FIRMWARES.
        registers: rows in the order of their addresses.
        indirect: (first address register, first data byte, how many) of each indirect block.
        baud_rates: count of the baud_rate register -> bit/s.
    """

    name: str
    title: str
    model_number: int
    firmware_version: int
    protocol: int
    position_firmware: str
    registers: tuple[Register, ...] = field(repr=False)
    indirect: tuple[tuple[int, int, int], ...] = ()
    baud_rates: Mapping[int, int] = field(repr=False)

    @cached_property
    def _by_name(self) -> dict[str, Register]:
        return {register.name: register for register in self.registers}

    @property
    def size(self) -> int:
        """Number of addresses."""
        return max(register.end for register in self.registers)

    def __contains__(self, name: str) -> bool:
        return name in self._by_name

    def __getitem__(self, name: str) -> Register:
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownName(f"register of {self.title}", name, self._by_name) from None

    def span(self, *names: str) -> tuple[int, int]:
        """Return the first address and the length of the smallest block that holds these registers."""
        rows = [self[name] for name in names]
        first = min(row.address for row in rows)
        return first, max(row.end for row in rows) - first

    def baud_rate(self, count: int) -> int | None:
        """Return the bit/s that a value of the baud_rate register means; None where it means none."""
        return self.baud_rates.get(count)

    def baud_value(self, bits_per_second: int) -> int:
        """Return the register value for a baud rate; the UART tolerates 3 % of error.

        Raises:
            OutOfRange: the servo has no such baud rate.
        """
        value = min(self.baud_rates, key=lambda key: abs(self.baud_rates[key] - bits_per_second))
        if abs(self.baud_rates[value] - bits_per_second) > 0.03 * bits_per_second:
            common = [rate for rate in COMMON_BAUD_RATES if rate in self.baud_rates.values()]
            raise OutOfRange(
                f"baud rate of {self.title}",
                bits_per_second,
                f"{', '.join(map(str, common))} and others",
                advice="choose one of these",
            )
        return value


COMMON_BAUD_RATES = (9600, 57600, 115200, 1_000_000, 2_000_000, 3_000_000, 4_000_000)


_BAUD_P1 = {value: 2_000_000 // (value + 1) for value in range(250)}
_BAUD_P1 |= {34: 57600, 250: 2_250_000, 251: 2_500_000, 252: 3_000_000}
_BAUD_P2 = dict(enumerate((9600, 57600, 115200, 1_000_000, 2_000_000, 3_000_000, 4_000_000, 4_500_000)))


def _mx_protocol1(name: str, title: str, model_number: int, *, volts: int, dual: bool) -> ControlTable:
    return ControlTable(
        name=name,
        title=title,
        model_number=model_number,
        firmware_version=41,
        protocol=1,
        position_firmware="mx-protocol1",
        registers=protocol1_registers(model_number, volts=volts, dual=dual),
        baud_rates=MappingProxyType(_BAUD_P1),
    )


def _mx_protocol2(
    name: str, title: str, model_number: int, *, drive_mode: int, current_limit: int, velocity_limit: int
) -> ControlTable:
    indirect = ((168, 224, 28), (578, 634, 28))
    return ControlTable(
        name=name,
        title=title,
        model_number=model_number,
        firmware_version=45,
        protocol=2,
        position_firmware="mx-protocol2",
        registers=Protocol2Servo(
            model_number=model_number,
            firmware_version=45,
            baud_values=len(_BAUD_P2),
            specific=(
                row(10, 1, "drive_mode", "ERW", 0, 0, drive_mode),
                row(40, 4, "acceleration_limit", "ERW", 32767, 0, 32767, ACCELERATION),
            ),
            temperature=80,
            volts=(95, 160, 95),
            current=CURRENT_MX,
            current_limit=current_limit,
            velocity_limit=(velocity_limit, 1023),
            gains=(1920, 100, 850),
            shutdown=52,
            indirect=indirect,
        ).registers(),
        indirect=indirect,
        baud_rates=MappingProxyType(_BAUD_P2),
    )


def _xl330() -> ControlTable:
    indirect = ((168, 208, 20),)
    baud_rates = {value: rate for value, rate in _BAUD_P2.items() if rate <= 4_000_000}
    return ControlTable(
        name="xl330",
        title="XL330-M288",
        model_number=1200,
        firmware_version=51,
        protocol=2,
        position_firmware="xl330",
        registers=Protocol2Servo(
            model_number=1200,
            firmware_version=51,
            baud_values=len(baud_rates),
            specific=(
                row(10, 1, "drive_mode", "ERW", 0, 0, 13),
                row(60, 1, "startup_configuration", "ERW", 0, 0, 3),
                row(62, 1, "pwm_slope", "ERW", 140, 1, 255),
                row(147, 1, "backup_ready", "R", 0, 0, 1),
            ),
            temperature=70,
            volts=(31, 70, 35),
            current=CURRENT_XL330,
            current_limit=1750,
            velocity_limit=(445, 2047),
            gains=(1600, 180, 400),
            shutdown=53,
            indirect=indirect,
        ).registers(),
        indirect=indirect,
        baud_rates=MappingProxyType(baud_rates),
    )


CONTROL_TABLES: Mapping[str, ControlTable] = MappingProxyType(
    {
        table.name: table
        for table in (
            _mx_protocol1("mx64", "MX-64", 310, volts=240, dual=False),
            _mx_protocol2("mx64_2", "MX-64(2.0)", 311, drive_mode=5, current_limit=1941, velocity_limit=435),
            _mx_protocol1("mx106", "MX-106", 320, volts=160, dual=True),
            _mx_protocol2(
                "mx106_2", "MX-106(2.0)", 321, drive_mode=7, current_limit=2047, velocity_limit=360
            ),
            _xl330(),
        )
    }
)
"""Known servos by name: `mx106` is Protocol 1.0 firmware, `mx106_2` the 2.0 firmware of the same servo."""


def control_table(name: str) -> ControlTable:
    """Return the control table of this name; raises UnknownName where there is none."""
    try:
        return CONTROL_TABLES[name]
    except KeyError:
        raise UnknownName("servo", name, CONTROL_TABLES) from None


def require_position_gain(table: ControlTable, joint: str, name: str, value: float) -> None:
    """Refuse a gain that a servo's register does not hold, for the driver and the simulator alike.

    Args:
        table: of the servo.
        joint: which servo it is.
        name: register, such as "position_p_gain".
        value: firmware units.

    Raises:
        OutOfRange: it is outside the register's range, or no number.
    """
    row = table[name]
    if not row.low <= value <= row.high:
        raise OutOfRange(
            f"{name} of {joint}",
            value,
            f"{row.low} to {row.high} for {table.title}",
            told=f"{value:g}",
            advice="choose a gain within it",
        )


def table_for_model(model_number: int) -> ControlTable | None:
    """Return the table of the servo that answers with this model number; None where it is not supported."""
    return next((t for t in CONTROL_TABLES.values() if t.model_number == model_number), None)
