# SPDX-License-Identifier: Apache-2.0
"""The slave information interface: what an eRob's EEPROM holds, and how its categories are laid out."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bam_ros.erob.objects import PRODUCT_CODE, VENDOR_ID, Object

STRINGS, GENERAL, FMMU, SYNC_MANAGER, TX_PDO, RX_PDO, DC = 10, 30, 40, 41, 50, 51, 60
"""Types of categories."""
END = 0xFFFF
CATEGORIES_AT = 0x40
"""Word address of the first category."""
MAILBOX_COE = 0x0004
SIZE = 2048
"""Bytes of the EEPROM."""

MAILBOX_SIZE = 128
MAILBOX_OUT, MAILBOX_IN, OUTPUTS, INPUTS = 0x1000, 0x1080, 0x1100, 0x1400
"""Where the four sync managers lie; outputs and inputs have room for three buffers."""
LARGEST_PROCESS_DATA = 0x80
"""Most bytes in one direction."""
WATCHDOG_DIVIDER = 2498
"""Of 25 MHz, less 2: one unit of the watchdog is 100 µs."""
COE_DETAILS = 0x2F
"""SDO, SDO information, PDO assignment, PDO configuration, complete access; no upload at start-up."""


@dataclass(frozen=True, kw_only=True)
class SyncManagerSetup:
    """How a sync manager is meant to be configured; `control` is the register's value."""

    start: int
    length: int
    control: int
    kind: int  # 1 mailbox out, 2 mailbox in, 3 process data out, 4 process data in


@dataclass(frozen=True, kw_only=True)
class PdoEntry:
    """One object in a PDO."""

    index: int
    bits: int
    name: str
    subindex: int = 0
    data_type: int = 0


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What distinguishes a slave from others."""

    vendor: int = VENDOR_ID
    product: int = PRODUCT_CODE
    revision: int = 1
    serial: int = 0
    alias: int = 0
    name: str = "ZeroErr Driver"


def sync_managers(outputs: int, inputs: int) -> tuple[SyncManagerSetup, ...]:
    """Return the four sync managers for so many bytes of process data."""
    return (
        SyncManagerSetup(start=MAILBOX_OUT, length=MAILBOX_SIZE, control=0x26, kind=1),
        SyncManagerSetup(start=MAILBOX_IN, length=MAILBOX_SIZE, control=0x22, kind=2),
        SyncManagerSetup(start=OUTPUTS, length=outputs, control=0x64, kind=3),
        SyncManagerSetup(start=INPUTS, length=inputs, control=0x20, kind=4),
    )


def build(identity: Identity, receive: Sequence[PdoEntry], transmit: Sequence[PdoEntry]) -> bytearray:
    """Return the EEPROM of an eRob with these default PDOs, SIZE bytes."""
    words = bytearray(2 * CATEGORIES_AT)
    struct.pack_into("<HHHHH", words, 0, 0x0C08, 0xEE00, 0, 0, identity.alias)
    struct.pack_into("<H", words, 14, _checksum(words[:14]))
    struct.pack_into(
        "<IIII", words, 16, identity.vendor, identity.product, identity.revision, identity.serial
    )
    struct.pack_into(
        "<HHHHH", words, 0x18 * 2, MAILBOX_OUT, MAILBOX_SIZE, MAILBOX_IN, MAILBOX_SIZE, MAILBOX_COE
    )
    struct.pack_into("<HH", words, 0x3E * 2, SIZE * 8 // 1024 - 1, 1)
    names = _Names()
    name = names.number(identity.name)
    group = names.number("Drives")
    sizes = [sum(entry.bits for entry in entries) // 8 for entries in (receive, transmit)]
    general = struct.pack(
        "<BBBBBBBBBBBBHBBH14x", group, 0, name, name, 0, COE_DETAILS, *bytes(6), 0, 0, 0, 0x11
    )
    managers = b"".join(
        struct.pack("<HHBBBB", setup.start, setup.length, setup.control, 0, 1, setup.kind)
        for setup in sync_managers(*sizes)
    )
    clock = struct.pack("<IIIhHHHB3x", 0, 0, 0, 0, 1, 0x0300, names.number("DC"), 0)
    categories = [
        (GENERAL, general),
        (FMMU, bytes((1, 2, 3, 0))),  # outputs, inputs, mailbox state, none
        (SYNC_MANAGER, managers),
        (TX_PDO, _pdo(Object.TRANSMIT_PDO, 3, transmit, names)),
        (RX_PDO, _pdo(Object.RECEIVE_PDO, 2, receive, names)),
        (DC, clock),
    ]
    for kind, content in [(STRINGS, names.category()), *categories]:
        content = content + b"\0" * (len(content) % 2)
        words += struct.pack("<HH", kind, len(content) // 2) + content
    words += struct.pack("<H", END)
    return words.ljust(SIZE, b"\xff")


def categories(eeprom: bytes | bytearray) -> Iterator[tuple[int, bytes]]:
    """Yield type and content of each category; stops at the end mark, or where the content is cut off."""
    at = 2 * CATEGORIES_AT
    while at + 4 <= len(eeprom):
        kind, size = struct.unpack_from("<HH", eeprom, at)
        if kind == END or at + 4 + 2 * size > len(eeprom):
            return
        yield kind, bytes(eeprom[at + 4 : at + 4 + 2 * size])
        at += 4 + 2 * size


def _pdo(index: int, manager: int, entries: Sequence[PdoEntry], names: _Names) -> bytes:
    title = names.number("Outputs" if index == Object.RECEIVE_PDO else "Inputs")
    content = struct.pack("<HBBBBH", index, len(entries), manager, 0, title, 0)
    for entry in entries:
        content += struct.pack(
            "<HBBBBH", entry.index, entry.subindex, names.number(entry.name), entry.data_type, entry.bits, 0
        )
    return content


class _Names:
    """The strings category; other categories refer to its strings by number, from 1."""

    def __init__(self) -> None:
        self._strings: list[str] = []

    def number(self, text: str) -> int:
        if text not in self._strings:
            self._strings.append(text)
        return self._strings.index(text) + 1

    def category(self) -> bytes:
        encoded = (text.encode("latin-1") for text in self._strings)
        return bytes((len(self._strings),)) + b"".join(bytes((len(text),)) + text for text in encoded)


def _checksum(data: bytes | bytearray) -> int:
    """Return the CRC-8 (x⁸ + x² + x + 1, from 0xFF) of the configuration area."""
    crc = 0xFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc << 1) ^ (0x07 if crc & 0x80 else 0)
            crc &= 0xFF
    return crc
