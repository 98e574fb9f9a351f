# SPDX-License-Identifier: Apache-2.0
"""What travels in the process data: objects 0x1C12, 0x1C13, 0x1600 and 0x1A00, and the packing they mean."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

from bam_ros.emulators.erob.object_dictionary import (
    FORMATS,
    Abort,
    Access,
    DataType,
    Entry,
    ObjectDictionary,
    SdoAbort,
)
from bam_ros.emulators.erob.sii import LARGEST_PROCESS_DATA
from bam_ros.erob.objects import Object

MOST_ENTRIES = 16
"""In one PDO."""
MOST_PDOS = 4
"""Assigned in one direction, and mappable: 0x1600 to 0x1603, 0x1A00 to 0x1A03."""


def mapping_word(entry: Entry) -> int:
    """Return the value of a mapping object that names this entry."""
    return entry.index << 16 | entry.subindex << 8 | entry.bits


class Layout:
    """Entries in one direction, in their order, as one packing.

    Attributes:
        entries: those that are not gaps.
        packing: of their values.
    """

    def __init__(self, words: Sequence[int], dictionary: ObjectDictionary) -> None:
        self.entries: tuple[Entry, ...] = ()
        formats = "<"
        entries = []
        for word in words:
            if word >> 16 == 0:
                formats += f"{(word & 0xFF) // 8}x"
                continue
            entry = dictionary.entry(word >> 16, word >> 8 & 0xFF)
            formats += FORMATS[entry.data_type]
            entries.append(entry)
        self.entries = tuple(entries)
        self.packing = struct.Struct(formats)

    @property
    def size(self) -> int:
        """Bytes."""
        return self.packing.size


class ProcessData:
    """One direction: an assignment object and the mapping objects that it may name.

    Args:
        dictionary: gets these objects.
        assign: index of the assignment object, 0x1C12 or 0x1C13.
        mapping: index of the first mapping object.
        access: what an entry must permit to be mapped.
        default: what is mapped at first.
        changeable: returns whether the slave is in a state in which the mapping may change.
    """

    def __init__(
        self,
        dictionary: ObjectDictionary,
        assign: Object,
        mapping: Object,
        access: Access,
        default: Sequence[Entry],
        changeable: Callable[[], bool],
    ) -> None:
        self._dictionary = dictionary
        self._access = access
        self._changeable = changeable
        self._mapping = int(mapping)
        self._assign = int(assign)
        words = [mapping_word(entry) for entry in default]
        for i in range(MOST_PDOS):
            self._add_list(self._mapping + i, "PDO mapping", DataType.UNSIGNED32, words if i == 0 else [],
                           MOST_ENTRIES, self._map)  # fmt: skip
        self._add_list(self._assign, "PDO assignment", DataType.UNSIGNED16, [self._mapping], MOST_PDOS,
                       self._assign_one)  # fmt: skip

    def _add_list(
        self,
        index: int,
        name: str,
        kind: DataType,
        values: list[int],
        room: int,
        check: Callable[[int], None],
    ) -> None:
        def resize(count: int) -> None:
            self._require_changeable()
            if index >= self._assign:
                self._require_room([self._dictionary.entry(index, i + 1).value for i in range(count)])
            else:
                words = [self._dictionary.entry(index, i + 1).value for i in range(count)]
                self._check_words(words)

        def store(value: int) -> None:
            self._require_changeable()
            if self._dictionary.entry(index, 0).value:
                raise SdoAbort(Abort.COUNT_NOT_ZERO)
            check(value)

        read_write = Access.READ_WRITE
        self._dictionary.add(
            Entry(
                index,
                0,
                "Number of entries",
                DataType.UNSIGNED8,
                len(values),
                read_write,
                high=room,
                written=resize,
            ),
            *(
                Entry(
                    index,
                    i + 1,
                    f"Entry {i + 1}",
                    kind,
                    values[i] if i < len(values) else 0,
                    read_write,
                    written=store,
                )
                for i in range(room)
            ),
            name=name,
        )

    def _require_changeable(self) -> None:
        if not self._changeable():
            raise SdoAbort(Abort.WRONG_STATE)

    def _map(self, word: int) -> None:
        """Check one mapping word."""
        bits = word & 0xFF
        if word >> 16 == 0:
            if bits == 0 or bits % 8:
                raise SdoAbort(Abort.NOT_MAPPABLE)
            return
        entry = self._dictionary.entry(word >> 16, word >> 8 & 0xFF)
        if not entry.access & self._access:
            raise SdoAbort(Abort.NOT_MAPPABLE)
        if bits != entry.bits:
            raise SdoAbort(Abort.INCOMPATIBLE_PARAMETER)

    def _assign_one(self, index: int) -> None:
        if not self._mapping <= index < self._mapping + MOST_PDOS:
            raise SdoAbort(Abort.OUT_OF_RANGE)

    def _check_words(self, words: list[int]) -> None:
        if sum(word & 0xFF for word in words) // 8 > LARGEST_PROCESS_DATA:
            raise SdoAbort(Abort.PDO_TOO_LONG)
        for word in words:
            self._map(word)

    def _require_room(self, assigned: list[int]) -> None:
        for index in assigned:
            self._assign_one(index)
        if sum(word & 0xFF for word in self._words(assigned)) // 8 > LARGEST_PROCESS_DATA:
            raise SdoAbort(Abort.PDO_TOO_LONG)

    def _list(self, index: int) -> list[int]:
        count = self._dictionary.entry(index, 0).value
        return [self._dictionary.entry(index, i + 1).value for i in range(count)]

    def _words(self, assigned: list[int]) -> list[int]:
        return [word for index in assigned for word in self._list(index)]

    @property
    def layout(self) -> Layout:
        """Values of the objects now."""
        return Layout(self._words(self._list(self._assign)), self._dictionary)
