# SPDX-License-Identifier: Apache-2.0
"""Objects that a master reads and writes by index and subindex, with CANopen's types and rules of access."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass, field
from enum import IntEnum, IntFlag


class Abort(IntEnum):
    """SDO abort codes."""

    TOGGLE = 0x05030000
    UNKNOWN_COMMAND = 0x05040001
    UNSUPPORTED_ACCESS = 0x06010000
    WRITE_ONLY = 0x06010001
    READ_ONLY = 0x06010002
    COUNT_NOT_ZERO = 0x06010003
    NO_COMPLETE_ACCESS = 0x06010004
    NO_OBJECT = 0x06020000
    NOT_MAPPABLE = 0x06040041
    PDO_TOO_LONG = 0x06040042
    INCOMPATIBLE_PARAMETER = 0x06040043
    TOO_LONG = 0x06070012
    TOO_SHORT = 0x06070013
    NO_SUBINDEX = 0x06090011
    OUT_OF_RANGE = 0x06090030
    TOO_HIGH = 0x06090031
    TOO_LOW = 0x06090032
    GENERAL = 0x08000000
    WRONG_STATE = 0x08000022


class SdoAbort(Exception):  # noqa: N818 - CANopen's word
    """A transfer that ends with an abort code."""

    def __init__(self, code: Abort) -> None:
        super().__init__(code.name)
        self.code = code


class DataType(IntEnum):
    """CANopen's numbers of types."""

    INTEGER8 = 0x02
    INTEGER16 = 0x03
    INTEGER32 = 0x04
    UNSIGNED8 = 0x05
    UNSIGNED16 = 0x06
    UNSIGNED32 = 0x07
    VISIBLE_STRING = 0x09


FORMATS = {
    DataType.INTEGER8: "b",
    DataType.INTEGER16: "h",
    DataType.INTEGER32: "i",
    DataType.UNSIGNED8: "B",
    DataType.UNSIGNED16: "H",
    DataType.UNSIGNED32: "I",
}
"""Format characters of `struct`, little endian."""


class Access(IntFlag):
    """What may be done with an object."""

    READ = 1
    WRITE = 2
    RECEIVE = 4  # may be mapped into what the drive receives
    TRANSMIT = 8  # likewise into what it sends
    READ_WRITE = 3


@dataclass(slots=True, eq=False)
class Entry:
    """One subindex of an object.

    Attributes:
        index: of the object.
        subindex: 0 to 255.
        name: for people.
        data_type: what it holds.
        value: of an integer; drives read and write it directly.
        access: what may be done with it.
        low: smallest value that a master may write.
        high: largest one.
        written: called before a value from a master is stored; may raise SdoAbort.
        measured: returns the value of the moment, where it is not kept up to date.
        text: of a string.
        packing: of an integer.
    """

    index: int
    subindex: int
    name: str
    data_type: DataType
    value: int = 0
    access: Access = Access.READ
    _: KW_ONLY
    low: int | None = None
    high: int | None = None
    written: Callable[[int], None] | None = None
    measured: Callable[[], int] | None = None
    text: str = ""
    packing: struct.Struct | None = field(init=False)

    def __post_init__(self) -> None:
        self.index = int(self.index)
        self.packing = struct.Struct("<" + FORMATS[self.data_type]) if self.data_type in FORMATS else None

    @property
    def bits(self) -> int:
        """Size."""
        return 8 * (self.packing.size if self.packing else len(self.text))

    def read(self) -> bytes:
        """Return the value as it goes over the line."""
        if self.packing is None:
            return self.text.encode("latin-1")
        return self.packing.pack(self.value if self.measured is None else self.measured())

    def decode(self, data: bytes) -> int:
        """Return the integer in bytes from a master; raises SdoAbort."""
        if self.packing is None:
            raise SdoAbort(Abort.READ_ONLY)
        if len(data) != self.packing.size:
            raise SdoAbort(Abort.TOO_LONG if len(data) > self.packing.size else Abort.TOO_SHORT)
        value = int(self.packing.unpack(data)[0])
        if self.low is not None and value < self.low:
            raise SdoAbort(Abort.TOO_LOW)
        if self.high is not None and value > self.high:
            raise SdoAbort(Abort.TOO_HIGH)
        return value


class ObjectDictionary:
    """All objects of a device."""

    def __init__(self) -> None:
        self._objects: dict[int, dict[int, Entry]] = {}
        self._names: dict[int, str] = {}

    def add(self, *entries: Entry, name: str = "") -> None:
        """Add entries; `name` is that of a whole object with subindices."""
        for entry in entries:
            self._objects.setdefault(entry.index, {})[entry.subindex] = entry
            self._names.setdefault(entry.index, name or entry.name)

    def __contains__(self, index: int) -> bool:
        return index in self._objects

    def __iter__(self) -> Iterator[int]:
        return iter(sorted(self._objects))

    def name(self, index: int) -> str:
        """Return the name of an object; raises SdoAbort."""
        self.subentries(index)
        return self._names[index]

    def subentries(self, index: int) -> dict[int, Entry]:
        """Return an object's entries by subindex; raises SdoAbort."""
        try:
            return self._objects[index]
        except KeyError:
            raise SdoAbort(Abort.NO_OBJECT) from None

    def entry(self, index: int, subindex: int = 0) -> Entry:
        """Return one entry; raises SdoAbort."""
        try:
            return self.subentries(index)[subindex]
        except KeyError:
            raise SdoAbort(Abort.NO_SUBINDEX) from None

    def read(self, index: int, subindex: int) -> bytes:
        """Return what a master reads; raises SdoAbort."""
        entry = self.entry(index, subindex)
        if not entry.access & Access.READ:
            raise SdoAbort(Abort.WRITE_ONLY)
        return entry.read()

    def write(self, index: int, subindex: int, data: bytes) -> None:
        """Store what a master writes; raises SdoAbort, and then nothing has changed."""
        entry = self.entry(index, subindex)
        if not entry.access & Access.WRITE:
            raise SdoAbort(Abort.READ_ONLY)
        value = entry.decode(data)
        if entry.written is not None:
            entry.written(value)
        entry.value = value

    def read_complete(self, index: int, first: int) -> bytes:
        """Return all subindices from `first`, 0 or 1; subindex 0 is padded to a word; raises SdoAbort."""
        entries = self._complete(index)
        data = b"".join(entries[i].read() for i in range(1, entries[0].value + 1) if i in entries)
        return (entries[0].read() + b"\0" if first == 0 else b"") + data

    def write_complete(self, index: int, first: int, data: bytes) -> None:
        """Store all subindices at once; lists that carry a count are emptied first; raises SdoAbort."""
        entries = self._complete(index)
        count = entries[0].value
        at = 0
        if first == 0:
            if len(data) < 2:
                raise SdoAbort(Abort.TOO_SHORT)
            count, at = data[0], 2
        values = []
        for subindex in range(1, count + 1):
            entry = self.entry(index, subindex)
            size = entry.packing.size if entry.packing else 0
            values.append((subindex, data[at : at + size]))
            at += size
        if at != len(data):
            raise SdoAbort(Abort.TOO_LONG if at < len(data) else Abort.TOO_SHORT)
        variable = bool(entries[0].access & Access.WRITE)
        if variable:
            self.write(index, 0, b"\0")
        for subindex, value in values:
            self.write(index, subindex, value)
        if variable:
            self.write(index, 0, bytes((count,)))

    def _complete(self, index: int) -> dict[int, Entry]:
        entries = self.subentries(index)
        if 0 not in entries or set(entries) != set(range(len(entries))) or len(entries) < 2:
            raise SdoAbort(Abort.NO_COMPLETE_ACCESS)
        if entries[0].data_type is not DataType.UNSIGNED8:
            raise SdoAbort(Abort.NO_COMPLETE_ACCESS)
        return entries
