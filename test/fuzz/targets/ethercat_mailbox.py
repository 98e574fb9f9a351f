# SPDX-License-Identifier: Apache-2.0
"""What an emulated drive answers to anything in its mailbox: SDO transfers, information, other protocols.

Answers are whole messages that fit into the mailbox, and their number is limited. Torque stays as it is: no
message reaches the state of a drive whose process data command it.
"""

from __future__ import annotations

import struct

from bam_ros.emulators.erob import mailbox, sii
from bam_ros.emulators.erob.mailbox import Message, Protocol
from bam_ros.emulators.erob.mailbox_server import DELAY, MailboxServer
from bam_ros.emulators.erob.object_dictionary import ObjectDictionary
from bam_ros.erob.objects import Object
from test.fuzz.bytes_reader import BytesReader
from test.fuzz.target import PACKETS, Target

_MOST_ANSWERS = 20


class _Manager:
    """A sync manager that is always ready."""

    enabled, full = True, False
    start, length, end = 0, sii.MAILBOX_SIZE, sii.MAILBOX_SIZE

    def __init__(self, start: int) -> None:
        self.start, self.end = start, start + sii.MAILBOX_SIZE

    def empty(self) -> None:
        pass

    def fill(self) -> None:
        pass


def _filled() -> ObjectDictionary:
    """Return the objects of a drive that nothing moves."""
    from test.ros.virtual_wire import Wire

    return Wire(1).slave.dictionary


_objects: list[ObjectDictionary] = []


def reset() -> None:
    """Take other objects for the next input."""
    _objects.clear()


def check(data: bytes) -> int:
    if not _objects:
        _objects.append(_filled())
    size = sii.MAILBOX_SIZE
    memory = bytearray(2 * size)
    server = MailboxServer(memory, (_Manager(0), _Manager(size)), _objects[0])
    server.start()
    reader = BytesReader(data)
    now = messages = 0
    while reader.left:
        kind = reader.byte()
        content = reader.take(reader.byte())
        if kind & 1:
            content = struct.pack("<HHBB", len(content), 0, 0, Protocol.COE | (kind >> 1 & 7) << 4) + content
        memory[:size] = content[:size].ljust(size, b"\0")
        server.take(now)
        now += DELAY
        for _ in range(_MOST_ANSWERS):
            if server.due > now:
                break
            server.send(now)
            answer = mailbox.decode(bytes(memory[size:]))
            assert answer.protocol in (Protocol.COE, Protocol.ERROR)
            assert len(answer.content) >= 4
        assert server.due > now, "answers without an end"
        messages += 1
    return messages


def seeds() -> list[bytes]:
    """Return transfers and requests of information, whole and with wrong fields."""
    request, information = struct.pack("<H", 2 << 12), struct.pack("<H", 8 << 12)
    found = []
    for index in (Object.CONTROLWORD, Object.ACTUAL_POSITION, Object.RECEIVE_PDO, 0x1018, 0x1008, 0x1C12):
        for command in (0x40, 0x50, 0x23, 0x2F, 0x2B, 0x21, 0x31, 0x60, 0x70, 0x00, 0x10, 0x80):
            body = request + struct.pack("<BHBI", command, index, 0, 4) + b"\1\2\3\4\5\6\7\x08"
            found.append(bytes((3, len(body))) + body)
        upload = request + struct.pack("<BHBI", 0x40, index, 0, 0)
        segment = request + struct.pack("<B7x", 0x60)
        found.append(bytes((3, len(upload))) + upload + bytes((5, len(segment))) + segment)
        for operation in (1, 3, 5):
            body = information + struct.pack("<BBHHB", operation, 0, 0, index, 0)
            found.append(bytes((3, len(body))) + body)
    for kind in range(6):
        body = information + struct.pack("<BBHH", 1, 0, 0, kind)
        found.append(bytes((3, len(body))) + body)
    for protocol in range(16):
        raw = mailbox.encode(Message(protocol, 1, request + b"\x40"), 40)
        found.append(bytes((0, len(raw))) + raw)
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=tuple(
        f"bam_ros.emulators.erob.{name}" for name in ("mailbox", "mailbox_server", "coe", "object_dictionary")
    ),
    longest=300,
    runs=PACKETS,
)
