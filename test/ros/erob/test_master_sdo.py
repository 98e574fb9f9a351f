# SPDX-License-Identifier: Apache-2.0
"""Mailbox transfers, one frame per step, against a mailbox written from the standard."""

from __future__ import annotations

import random
import struct
from collections.abc import Generator

import pytest

from bam_ros.erob.sdo import Mailbox, SdoAbort, SdoLost

OUT, IN, LENGTH = 0x1000, 0x1080, 64


class Slave:
    """Two mailboxes and an object dictionary; answers a few frames after it was asked."""

    def __init__(self, objects: dict[tuple[int, int], bytes], delay: int = 0) -> None:
        self.objects, self.delay = dict(objects), delay
        self.mails: list[bytes] = []
        self.wait = 0
        self.segments = b""
        self.frames = 0
        self.lose: set[int] = set()
        self.abort_service = 3

    def frame(self) -> None:
        self.frames += 1
        if self.frames in self.lose:
            raise SdoLost("no answer")
        if self.wait:
            self.wait -= 1

    def read(self, address: int, length: int) -> bytes:
        self.frame()
        if address == 0x0800:
            registers = struct.pack("<HHHH", OUT, LENGTH, 0, 0) + struct.pack("<HHHH", IN, LENGTH, 0, 0)
            return registers[:length]
        full = bool(self.mails) and not self.wait
        if address == 0x080D:
            return b"\x08" if full else b"\x00"
        assert (address, length) == (IN, LENGTH)
        return self.mails.pop(0) if full else bytes(length)

    def write(self, address: int, data: bytes) -> None:
        self.frame()
        assert (address, len(data)) == (OUT, LENGTH)
        length, _, _, kind, coe = struct.unpack_from("<HHBBH", data)
        assert (kind, coe) == (3, 2 << 12)
        self.wait = self.delay
        self.reply(data[8 : 6 + length])

    def reply(self, request: bytes) -> None:
        command, index, sub = struct.unpack_from("<BHB", request)
        key = (index, sub)
        if command & 0xE0 == 0x60:
            toggle, most = command & 0x10, LENGTH - 9
            part, self.segments = self.segments[:most], self.segments[most:]
            last = not self.segments
            unused = 7 - len(part) if len(part) < 7 else 0
            self.mail(bytes([toggle | unused << 1 | last]) + part.ljust(7, b"\0"))
        elif key not in self.objects:
            self.mail(struct.pack("<BHBI", 0x80, index, sub, 0x06020000), service=self.abort_service)
        elif command == 0x40:
            data = self.objects[key]
            if len(data) <= 4:
                self.mail(struct.pack("<BHB", 0x43 | (4 - len(data)) << 2, index, sub) + data.ljust(4, b"\0"))
            else:
                room = LENGTH - 16
                self.segments = data[room:]
                self.mail(struct.pack("<BHBI", 0x41, index, sub, len(data)) + data[:room])
        else:
            size = 4 - (command >> 2 & 3) if command & 2 else struct.unpack_from("<I", request, 4)[0]
            self.objects[key] = request[4 : 4 + size] if command & 2 else request[8 : 8 + size]
            self.mail(struct.pack("<BHB4x", 0x60, index, sub))

    def mail(self, body: bytes, service: int = 3) -> None:
        mail = struct.pack("<HHBBH", len(body) + 2, 0, 0, 3, service << 12) + body
        self.mails.append(mail.ljust(LENGTH, b"\0"))


def run(steps: Generator[None, None, bytes], most: int = 1000) -> bytes:
    for _ in range(most):
        try:
            next(steps)
        except StopIteration as end:
            return bytes(end.value)
    raise AssertionError("does not end")


def mailbox(slave: Slave) -> Mailbox:
    return Mailbox.of(slave.read, slave.write)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 47, 48, 49, 60, 103, 104, 500])
def test_objects_of_any_size_are_read(size: int) -> None:
    data = random.Random(size).randbytes(size)
    slave = Slave({(0x1008, 0): data}, delay=2)
    assert run(mailbox(slave).upload(0x1008, 0)) == data


@pytest.mark.parametrize("size", [1, 2, 4, 5, 40])
def test_what_is_written_is_read_back(size: int) -> None:
    data = random.Random(size).randbytes(size)
    slave = Slave({(0x6075, 0): b"\0"})
    run(mailbox(slave).download(0x6075, 0, data))
    assert slave.objects[(0x6075, 0)] == data


def test_every_step_costs_at_most_one_frame() -> None:
    slave = Slave({(0x1008, 0): bytes(200)}, delay=3)
    box = mailbox(slave)
    steps = box.upload(0x1008, 0)
    before = slave.frames
    while True:
        try:
            next(steps)
        except StopIteration:
            break
        assert slave.frames - before <= 1
        before = slave.frames
    assert slave.frames - before <= 1


@pytest.mark.parametrize("service", [2, 3])  # the standard says 2, some drives say 3
def test_a_refusal_is_told_in_words(service: int) -> None:
    slave = Slave({})
    slave.abort_service = service
    with pytest.raises(SdoAbort, match=r"no such object \(abort code 0x06020000\)"):
        run(mailbox(slave).upload(0x2000, 0))
    with pytest.raises(SdoAbort, match="no such object"):
        run(mailbox(slave).download(0x2000, 0, b"\0"))


def test_an_emergency_in_between_is_passed_on_and_skipped() -> None:
    slave = Slave({(0x6075, 0): b"\x10\x27\0\0"})
    slave.mail(struct.pack("<HB5x", 0x2310, 1), service=1)
    told: list[int] = []
    box = Mailbox.of(slave.read, slave.write, told.append)
    assert run(box.upload(0x6075, 0)) == b"\x10\x27\0\0"
    assert told == [0x2310]


def test_a_lost_frame_ends_the_transfer_and_the_next_attempt_gets_it() -> None:
    for lost in range(2, 8):
        slave = Slave({(0x1008, 0): bytes(range(100))})
        box = mailbox(slave)
        slave.lose = {lost}
        try:
            result = run(box.upload(0x1008, 0))
        except SdoLost:
            result = run(box.upload(0x1008, 0))
        assert result == bytes(range(100))


def test_an_answer_to_another_request_is_refused() -> None:
    slave = Slave({(0x6075, 0): b"\0\0\0\0"})
    box = mailbox(slave)
    steps = box.upload(0x6075, 0)
    slave.reply = lambda request: slave.mail(struct.pack("<BHB4x", 0x43, 0x6076, 0))  # type: ignore[method-assign]
    with pytest.raises(SdoLost, match="another request"):
        run(steps)


def test_damaged_mails_never_crash() -> None:
    generator = random.Random(1)
    for _ in range(3000):
        slave = Slave({(0x1008, 0): bytes(100)})

        def reply(request: bytes, slave: Slave = slave) -> None:
            good = struct.pack("<HHBBH", 10, 0, 0, 3, 3 << 12) + generator.randbytes(56)
            mail = bytearray(generator.choice([good, generator.randbytes(LENGTH)]))
            mail[generator.randrange(LENGTH)] = generator.randrange(256)
            slave.mails.append(bytes(mail))

        slave.reply = reply  # type: ignore[method-assign]
        try:
            run(mailbox(slave).upload(0x1008, 0), 50)
        except (SdoAbort, SdoLost, AssertionError):
            continue
