# SPDX-License-Identifier: Apache-2.0
"""What the master's SDO transfers make of anything that a drive puts into its mailbox."""

from __future__ import annotations

import struct

from bam_ros.erob.sdo import Mailbox, SdoAbort, SdoLost, Steps
from test.fuzz.bytes_reader import BytesReader
from test.fuzz.target import PACKETS, Target

_SIZE = 128
_MOST_STEPS = 20_000  # a second of a cycle of 0.05 ms; the master gives a transfer a second


class _Drive:
    """Memory that reads as the input says."""

    def __init__(self, reader: BytesReader) -> None:
        self._reader = reader
        self.done = False

    def read(self, address: int, length: int) -> bytes:
        if not self._reader.left:
            raise SdoLost("no answer")
        if length == 1:
            return b"\x08"
        kind = self._reader.byte()
        content = self._reader.take(self._reader.byte())
        if kind & 1:  # a response to an SDO request
            content = struct.pack("<HHBBH", len(content) + 2, 0, 0, 3, (kind >> 1 & 7) << 12) + content
        return content[:length].ljust(length, b"\0")

    def write(self, address: int, data: bytes) -> None:
        assert len(data) == _SIZE


def check(data: bytes) -> None:
    reader = BytesReader(data)
    flags = reader.byte()
    drive = _Drive(reader)
    emergencies: list[int] = []
    mail = Mailbox(drive.read, drive.write, 0x1000, _SIZE, 0x1400, _SIZE, emergencies.append)
    if flags & 4:
        try:
            mail = Mailbox.of(drive.read, drive.write, emergencies.append)
        except SdoLost:
            return
        if mail.in_length != _SIZE or mail.out_length != _SIZE:
            return
    index, subindex = 0x6064, flags >> 4
    steps = mail.download(index, subindex, bytes(flags & 15)) if flags & 1 else mail.upload(index, subindex)
    found = _result(steps)
    assert isinstance(found, (bytes, str))
    assert len(found) <= 1 << 16
    assert isinstance(found, bytes) or found.isprintable()


def _result(steps: Steps) -> bytes | str:
    """Return what the transfer gives, or why it gives nothing."""
    try:
        for _ in range(_MOST_STEPS):
            next(steps)
    except StopIteration as end:
        return end.value
    except (SdoAbort, SdoLost) as error:
        return str(error)
    raise AssertionError("the transfer does not end")


def seeds() -> list[bytes]:
    """Return right answers, aborts, emergencies in between and segments."""
    found = []
    expedited = struct.pack("<BHBI", 0x43, 0x6064, 0, 7)
    normal = struct.pack("<BHBI", 0x41, 0x6064, 0, 20)
    segment = b"\x01" + bytes(7)
    abort = struct.pack("<BHBI", 0x80, 0x6064, 0, 0x06020000)
    taken = struct.pack("<BHBI", 0x60, 0x6064, 0, 0)

    def mails(*each: tuple[int, bytes]) -> bytes:
        return b"".join(bytes((1 | kind << 1, len(content))) + content for kind, content in each)

    for flags in (0, 1, 5, 0x10):
        head = bytes((flags,))
        stale = mails((3, b"\0" * 8))
        for mail in (
            mails((3, expedited)),
            mails((2, abort)),
            mails((3, abort)),
            mails((3, taken)),
            mails((1, bytes(8)), (3, expedited)),
            mails((3, normal), (3, b"\0" + bytes(7)), (3, b"\x10" + bytes(7)), (3, segment)),
            mails((3, normal + bytes(20))),
            mails((3, struct.pack("<BHBI", 0x41, 0x6064, 0, 0xFFFFFFFF))),
        ):
            found += [head + mail, head + stale + mail]
    return found


TARGET = Target(check=check, seeds=seeds, modules=("bam_ros.erob.sdo",), longest=600, runs=PACKETS)
