# SPDX-License-Identifier: Apache-2.0
"""Control tables of Dynamixel servos: one row per register, with its SI scale, read from YAML files.

Addresses, sizes, access, initial values and ranges follow the manufacturer's manual, whose page each model
names. Register names are those of Protocol 2.0 tables in snake_case; where another table has the same
quantity under another name (CW Angle Limit, Moving Speed, P Gain ...) it carries the Protocol 2.0 name, so
that a client can ask every generation for `present_velocity` or `position_p_gain`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from bam_core.errors import BamError, Conflict, Missing, OutOfRange, UnknownName, Unreadable
from bam_core.servo.data_sheet import DataSheet
from bam_core.servo.firmware_library import FIRMWARES
from bam_ros.driver.command_kind import CommandKind
from bam_ros.dynamixel.register import Register, Unit
from bam_ros.dynamixel.table_file import (
    Section,
    error_bits,
    indirect_blocks,
    inherited,
    other_indirect_data,
    read_sections,
    registers_of,
)
from bam_ros.dynamixel.table_schema import check_named

__all__ = [
    "COMMON_BAUD_RATES",
    "CONTROL_TABLES",
    "ControlTable",
    "ControlTables",
    "Register",
    "Unit",
    "control_table",
    "require_position_gain",
]

_FILES = Path(__file__).parent / "tables"
_RPM = 2.0 * 3.141592653589793 / 60.0  # rad/s


@dataclass(frozen=True, kw_only=True)
class ControlTable:
    """The registers of one servo model and firmware generation.

    Attributes:
        name: key in CONTROL_TABLES.
        title: as printed on the servo.
        model_number: what ping or address 0 answers.
        source: page of the manual, below emanual.robotis.com/docs/en/dxl; empty where it has none.
        firmware_version: that an emulated servo answers.
        protocol: 1 or 2.
        position_firmware: key in bam_core.servo.firmware_library.FIRMWARES; empty: no model has its law.
        law: that law in words; empty where a model has it.
        registers: rows in the order of their addresses.
        indirect: (first address register, first data byte, how many) of each indirect block.
        other_indirect_data: first data byte of the first of them in other firmware.
        baud_rates: count of the baud_rate register -> bit/s.
        bulk_read: whether it answers bulk reads; Protocol 1.0 has servos that do not.
        fast_read: whether several answer in one packet, where their firmware is new enough.
        position_mode: register -> count that makes it follow positions.
        extended_mode: the same for positions of many turns; None: it has no such mode.
        current_position_mode: the same for positions under a limit of the current; None: it has no such mode.
        velocity_mode: the same for velocities; None: it has no such mode.
        current_mode: the same for currents; None: it has no such mode.
        pwm_mode: the same for duties; None: it has no such mode.
        law_off: registers that are 0 while a driver is at work.
        error_register: with its hardware errors.
        error_bits: bit of that register -> name of a `HardwareError`; None: those of the protocol.
        data_sheet: figures of its motor; None where none are known.
    """

    name: str
    title: str
    model_number: int
    source: str = ""
    firmware_version: int
    protocol: int
    position_firmware: str
    law: str = ""
    registers: tuple[Register, ...] = field(repr=False)
    indirect: tuple[tuple[int, int, int], ...] = ()
    other_indirect_data: tuple[int, ...] = ()
    baud_rates: Mapping[int, int] = field(repr=False)
    bulk_read: bool = True
    fast_read: bool = False
    position_mode: Mapping[str, int] = field(default_factory=dict)
    extended_mode: Mapping[str, int] | None = None
    current_position_mode: Mapping[str, int] | None = None
    velocity_mode: Mapping[str, int] | None = None
    current_mode: Mapping[str, int] | None = None
    pwm_mode: Mapping[str, int] | None = None
    law_off: tuple[str, ...] = ()
    error_register: str = "hardware_error_status"
    error_bits: Mapping[int, str] | None = None
    data_sheet: DataSheet | None = None

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

    def mode(self, kind: CommandKind) -> Mapping[str, int] | None:
        """Return register -> count that makes the servo follow goals of a kind; None: it has no such mode."""
        match kind:
            case CommandKind.VELOCITY:
                return self.velocity_mode
            case CommandKind.CURRENT:
                return self.current_mode
            case CommandKind.DUTY:
                return self.pwm_mode
        return self.position_mode

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


class ControlTables(Mapping[str, ControlTable]):
    """Control tables by name, made from their sections when they are asked for.

    Args:
        sections: by name; those without a model number are families.
    """

    def __init__(self, sections: Mapping[str, Section]) -> None:
        self._sections = dict(sections)
        self._models = {
            name: section["model_number"] for name, section in sections.items() if "model_number" in section
        }
        self._made: dict[str, ControlTable] = {}

    def __getitem__(self, name: str) -> ControlTable:
        if name not in self._made:
            if name not in self._models:
                raise KeyError(name)
            self._made[name] = _make(name, inherited(name, self._sections))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def of_model(self, model_number: int) -> ControlTable | None:
        """Return the table of the servo with this model number; None where there is none."""
        names = [name for name, number in self._models.items() if number == model_number]
        return self[names[-1]] if names else None

    def with_file(self, path: Path) -> ControlTables:
        """Return these tables and those of a file, whose models and families may be like these.

        Raises:
            BamError: it cannot be read, or one of its tables cannot be; one line that names the section.
        """
        try:
            path = path.expanduser()
        except RuntimeError:
            raise Unreadable(path, "names a home directory that does not exist") from None
        sections = read_sections(path)
        for name in sections:
            if name in self._sections:
                raise Conflict(f"{path}: {name}", "is a built-in control table", advice="choose another name")
        _require_own_numbers(path, sections)
        tables = ControlTables({**self._sections, **sections})
        models = [name for name in sections if "model_number" in sections[name]]
        if not models:
            raise Missing(f"{path}: model_number", "a number in one section at least")
        for name in models:
            try:
                table = tables[name]
                check_named({row.name: row for row in table.registers}, sections[name])
                _require_rates(table)
            except BamError as error:
                raise error.within(str(path)) from None
        return tables


def _require_own_numbers(path: Path, sections: Mapping[str, Section]) -> None:
    """Refuse two models of a file that answer the same number; raises Conflict."""
    owners: dict[int, str] = {}
    for name, section in sections.items():
        if "model_number" in section:
            owner = owners.setdefault(section["model_number"], name)
            if owner != name:
                problem = f"has model_number {section['model_number']}, as {owner} has"
                raise Conflict(f"{path}: {name}", problem, advice="give each its own")


def _require_rates(table: ControlTable) -> None:
    """Refuse a model without any baud rate; raises Missing."""
    if not table.baud_rates:
        raise Missing(f"{table.name}: baud_rates", "at least one")


def _make(name: str, section: Section) -> ControlTable:
    for key in ("title", "protocol", "registers", "baud_rates"):
        if key not in section:
            raise Missing(f"{name}: {key}", "a value, of its own or of what it is like")
    firmware = section.get("firmware") or ""
    if firmware and firmware not in FIRMWARES:
        raise UnknownName(f"{name}: firmware", firmware, FIRMWARES)
    registers = registers_of(name, section)
    return ControlTable(
        name=name,
        title=section["title"],
        model_number=section["model_number"],
        source=section.get("source") or "",
        firmware_version=section.get("firmware_version", 0),
        protocol=section["protocol"],
        position_firmware=firmware,
        law="" if firmware else section.get("law") or "unknown",
        registers=registers,
        indirect=indirect_blocks(section),
        other_indirect_data=other_indirect_data(name, section),
        baud_rates=_baud_rates(section, registers),
        bulk_read=section.get("bulk_read", True),
        fast_read=section.get("fast_read", False),
        position_mode=section.get("position_mode", {}),
        extended_mode=section.get("extended_mode"),
        current_position_mode=section.get("current_position_mode"),
        velocity_mode=section.get("velocity_mode"),
        current_mode=section.get("current_mode"),
        pwm_mode=section.get("pwm_mode"),
        law_off=tuple(off for off in section.get("law_off", ()) if any(off == row.name for row in registers)),
        error_register=section.get("error_register", "hardware_error_status"),
        error_bits=error_bits(name, section),
        data_sheet=_data_sheet(section),
    )


def _baud_rates(section: Section, registers: Sequence[Register]) -> Mapping[int, int]:
    rates = dict(section["baud_rates"])
    divider = section.get("baud_divider")
    if divider is None:
        return rates
    last = next(row.high for row in registers if row.name == "baud_rate")
    return {**{value: divider // (value + 1) for value in range(min(last + 1, 250))}, **rates}


def _data_sheet(section: Section) -> DataSheet | None:
    figures = section.get("data_sheet")
    if figures is None:
        return None
    voltage, torque, current, speed = (float(figure) for figure in figures)
    return DataSheet(voltage=voltage, stall_torque=torque, stall_current=current, no_load_speed=speed * _RPM)


def _built_in() -> ControlTables:
    sections: dict[str, Section] = {}
    for path in sorted(_FILES.glob("*.yaml")):
        sections |= read_sections(path)
    return ControlTables(sections)


CONTROL_TABLES = _built_in()
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
            printed=f"{value:g}",
            advice="choose a gain within it",
        )
