# SPDX-License-Identifier: Apache-2.0
"""The EEPROM of a drive: categories of any content, and commands of a master in any order."""

from __future__ import annotations

from bam_ros.emulators.erob import sii
from bam_ros.emulators.erob.eeprom import EepromInterface
from bam_ros.emulators.erob.registers import Register
from test.fuzz.bytes_reader import BytesReader
from test.fuzz.target import PACKETS, Target

_HEAD = bytes(2 * sii.CATEGORIES_AT)


def check(data: bytes) -> None:
    reader = BytesReader(data)
    commands = reader.byte() % 16
    memory, asked = bytearray(0x1000), []
    for _ in range(commands):
        asked.append((reader.byte(), reader.take(16)))
    content = reader.rest()
    eeprom = (_HEAD + content) if memory else content
    total = 0
    for kind, category in sii.categories(eeprom):
        assert 0 <= kind < sii.END
        assert len(category) % 2 == 0
        total += 4 + len(category)
    assert total <= len(content)
    interface = EepromInterface(memory, bytearray(eeprom))
    for kind, registers in asked:
        memory[Register.EEPROM_CONFIGURATION : Register.EEPROM_CONFIGURATION + len(registers)] = registers
        if kind & 1:
            interface.configure()
        if not interface.locked:
            interface.execute()
        assert len(interface.content) == len(eeprom), "the EEPROM changed its size"
    assert len(memory) == 0x1000, "the memory of the controller changed its size"


def seeds() -> list[bytes]:
    """Return the EEPROM of a drive, cut off, and commands to read and write."""
    from test.ros.virtual_wire import Wire

    whole = bytes(Wire(1).slave.controller.eeprom.content)
    body = whole[2 * sii.CATEGORIES_AT :].rstrip(b"\xff") + b"\xff\xff"
    found = [b"\0" + body, b"\0" + body[:-40], b"\0" + b"\x0a\0\xff\xff" + body]
    for command in (0x0100, 0x0200, 0x0201, 0x0400, 0x0000):
        for address in (0, 0x40, 0x7FFFFFFF, 0xFFFFFFFF):
            registers = b"\0\0" + command.to_bytes(2, "little") + address.to_bytes(4, "little") + bytes(8)
            found.append(b"\1\0" + registers + body[:60])
            found.append(b"\2\1\1\0" + registers[2:] + b"\0" + registers + body[:60])
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=("bam_ros.emulators.erob.sii", "bam_ros.emulators.erob.eeprom"),
    longest=1200,
    runs=PACKETS,
)
