# SPDX-License-Identifier: Apache-2.0
"""Which objects travel in the process data, in which order: a YAML file as bytes and mapping words."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bam_core.errors import Conflict, Malformed, UnknownName
from bam_core.files.yaml_file import read_yaml
from bam_ros.erob.objects import Object

LARGEST = 128
"""Bytes that the process data of one direction may have; sync managers of drives are about this long."""
_MOST_ENTRIES = 32
_GAP = 0

_TYPES = {
    (8, False): "B",
    (8, True): "b",
    (16, False): "H",
    (16, True): "h",
    (32, False): "I",
    (32, True): "i",
}
_OBJECTS: Mapping[int, tuple[int, bool]] = {  # bits, signed
    Object.ERROR_CODE: (16, False),
    Object.CONTROLWORD: (16, False),
    Object.STATUSWORD: (16, False),
    Object.MODE_OF_OPERATION: (8, True),
    Object.MODE_OF_OPERATION_DISPLAY: (8, True),
    Object.ACTUAL_POSITION: (32, True),
    Object.ACTUAL_VELOCITY: (32, True),
    Object.TARGET_TORQUE: (16, True),
    Object.MAXIMUM_TORQUE: (16, False),
    Object.ACTUAL_TORQUE: (16, True),
    Object.ACTUAL_CURRENT: (16, True),
    Object.DC_LINK_VOLTAGE: (32, False),
    Object.TARGET_POSITION: (32, True),
    Object.DIGITAL_INPUTS: (32, False),
    Object.DIGITAL_OUTPUTS: (32, False),
    Object.TARGET_VELOCITY: (32, True),
}
_LAYOUTS = Path(__file__).parent / "layouts"


@dataclass(frozen=True, kw_only=True)
class PdoEntry:
    """One object in the process data.

    Attributes:
        index: of the object; 0 is a gap.
        subindex: of the object.
        bits: its size.
    """

    index: int
    subindex: int = 0
    bits: int

    @property
    def mapping(self) -> int:
        """Its entry in the mapping object (0x1600, 0x1A00)."""
        return self.index << 16 | self.subindex << 8 | self.bits


class Pdo:
    """Process data of one direction: entries, one after the other, as bytes.

    Args:
        entries: in the order of the bytes.

    Attributes:
        entries: the same.
        objects: the objects among them, in the order in which `pack` takes and `unpack` gives their values.
        size: bytes.
    """

    def __init__(self, entries: Sequence[PdoEntry]) -> None:
        self.entries = tuple(entries)
        self.objects = tuple(entry.index for entry in entries if entry.index != _GAP)
        codes = "".join(
            f"{entry.bits // 8}x" if entry.index == _GAP else _TYPES[_OBJECTS[entry.index]]
            for entry in entries
        )
        self._struct = struct.Struct("<" + codes)
        self.size = self._struct.size

    def pack(self, values: Sequence[int]) -> bytes:
        """Return the bytes of values that are in the order of `objects`; gaps are zero."""
        return self._struct.pack(*values)

    def unpack(self, data: bytes) -> tuple[int, ...]:
        """Return the values in the order of `objects`."""
        return self._struct.unpack(data)

    def place(self, index: int) -> int:
        """Return where in `objects` an object is, -1 where it is not."""
        return self.objects.index(index) if index in self.objects else -1

    @property
    def gap(self) -> int:
        """Offset of the first byte that belongs to no object, -1 where there is none."""
        offset = 0
        for entry in self.entries:
            if entry.index == _GAP:
                return offset
            offset += entry.bits // 8
        return -1


@dataclass(frozen=True, kw_only=True)
class PdoLayout:
    """Process data of both directions.

    Attributes:
        name: where it came from.
        receive: what the drive receives (0x1600).
        transmit: what the drive sends (0x1A00).
    """

    name: str
    receive: Pdo
    transmit: Pdo

    def require(self, receive: Sequence[Object], transmit: Sequence[Object]) -> None:
        """Raise Conflict where one of these objects is not in it."""
        for direction, pdo, needed in (
            ("receive", self.receive, receive),
            ("transmit", self.transmit, transmit),
        ):
            for item in needed:
                if pdo.place(item) < 0:
                    raise Conflict(
                        f"layout {self.name}",
                        f"{direction} has no {_words(item)}",
                        expected="for the position law",
                        advice=f"add {{object: 0x{item:04X}, bits: {_OBJECTS[item][0]}}} to it",
                    )


def layout_names() -> tuple[str, ...]:
    """Return the names of the layouts that come along."""
    return tuple(sorted(path.stem for path in _LAYOUTS.glob("*.yaml")))


def load_layout(name: str) -> PdoLayout:
    """Read a layout: one that comes along by its name, or a YAML file.

    Raises:
        UnknownName: there is none.
        Unreadable, Malformed: the file is none that a drive could take.
    """
    path = _LAYOUTS / f"{name}.yaml" if name in layout_names() else Path(name)
    if not path.suffix and not path.exists():
        raise UnknownName("layout", name, layout_names(), advice="or give a YAML file")
    return parse_layout(name, read_yaml(path))


def parse_layout(name: str, content: Any) -> PdoLayout:
    """Return the layout that a YAML document describes; raises Malformed."""
    if not isinstance(content, dict) or set(content) != {"receive", "transmit"}:
        raise Malformed(
            name,
            "is no layout",
            expected="the two lists receive and transmit",
            advice="see the one called torque",
        )
    receive = _pdo(name, "receive", content["receive"], Object.CONTROLWORD)
    transmit = _pdo(name, "transmit", content["transmit"], Object.STATUSWORD)
    return PdoLayout(name=name, receive=receive, transmit=transmit)


def _pdo(name: str, direction: str, rows: Any, needed: Object) -> Pdo:
    if not isinstance(rows, list) or not rows:
        raise Malformed(name, f"{direction} is {rows!r}", expected="a list of objects")
    entries = [_entry(name, f"{direction} {number}", row) for number, row in enumerate(rows, 1)]
    indices = [entry.index for entry in entries if entry.index != _GAP]
    twice = next((index for index in indices if indices.count(index) > 1), None)
    if twice is not None:
        raise Malformed(name, f"{direction} has {_words(twice)} twice", expected="once", advice="remove one")
    if needed not in indices:
        raise Malformed(
            name,
            f"{direction} has no {_words(needed)}, without which no drive can be switched",
            advice=f"add {{object: 0x{needed:04X}, bits: 16}}",
        )
    size = sum(entry.bits for entry in entries) // 8
    if size > LARGEST or len(entries) > _MOST_ENTRIES:
        raise Malformed(
            name,
            f"{direction} has {size} bytes in {len(entries)} entries",
            expected=f"at most {LARGEST} and {_MOST_ENTRIES}, for the sync manager",
            advice="leave some out",
        )
    return Pdo(entries)


def _entry(name: str, where: str, row: Any) -> PdoEntry:
    if not isinstance(row, dict) or not {"object", "bits"} <= set(row) <= {"object", "sub", "bits"}:
        raise Malformed(name, f"{where} is {row!r}", expected="such as {object: 0x6064, bits: 32}")
    numbers = {"sub": 0, **row}
    for field, value in numbers.items():
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise Malformed(name, f"{field} of {where} is {value!r}", expected="a whole number")
    index, subindex, bits = numbers["object"], numbers["sub"], numbers["bits"]
    if index == _GAP:
        if bits % 8 or not 0 < bits <= 255:
            raise Malformed(name, f"{where} is a gap of {bits} bits", expected="whole bytes, 8 to 248")
        return PdoEntry(index=_GAP, bits=bits)
    if index not in _OBJECTS or subindex:
        known = ", ".join(f"0x{known:04X}" for known in sorted(_OBJECTS))
        sub = f" sub {subindex}" if subindex else ""
        raise Malformed(
            name,
            f"object 0x{index:04X}{sub} of {where} is unknown",
            expected=f"one of {known}",
            advice="choose one of these",
        )
    expected = _OBJECTS[index][0]
    if bits != expected:
        raise Malformed(name, f"{_words(index)} of {where} has {bits} bits", expected=str(expected))
    return PdoEntry(index=index, bits=bits)


def _words(index: int) -> str:
    return f"0x{index:04X} {Object(index).name.lower().replace('_', ' ')}"
