# SPDX-License-Identifier: Apache-2.0
"""Whatever arrives on the wire, reading gives the block that was asked for or a bus error."""

from __future__ import annotations

import os
import threading
import time
import tty
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BamError
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort


class Noise:
    """A port on which the given bytes arrive, then nothing."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.is_using = False

    def clearPort(self) -> None:  # noqa: N802
        pass

    def writePort(self, packet: Sequence[int]) -> int:  # noqa: N802
        return len(packet)

    def setPacketTimeout(self, length: int) -> None:  # noqa: N802
        pass

    def readPort(self, length: int) -> bytes:  # noqa: N802
        data, self._data = self._data[:length], self._data[length:]
        return data

    def isPacketTimeout(self) -> bool:  # noqa: N802
        return not self._data

    def drain(self, quiet: float) -> None:
        pass


HEADERS = {1: b"\xff\xff\x01", 2: b"\xff\xff\xfd\x00\x01"}


@pytest.mark.parametrize("protocol", [1, 2])
@settings(max_examples=300, deadline=None)
@given(noise=st.binary(max_size=60), tail=st.binary(max_size=30), ids=st.sampled_from([(1,), (1, 2)]))
def test_noise_gives_a_whole_block_or_a_bus_error(
    protocol: int, noise: bytes, tail: bytes, ids: tuple[int, ...]
) -> None:
    link = Link(Noise(noise + HEADERS[protocol] + tail), protocol)  # type: ignore[arg-type]
    try:
        answers = link.read_block(ids, 36, 8, attempts=1)
    except BamError:
        return
    assert set(answers) == set(ids)
    assert all(len(data) == 8 for data, _ in answers.values())


class LateServo:
    """A Protocol 1.0 servo whose every byte holds its address, and whose answers take so many s in turn."""

    def __init__(self, delays: Sequence[float]) -> None:
        self._delays = list(delays)
        self._master, slave = os.openpty()
        tty.setraw(slave)
        self._slave = slave
        self.path = os.ttyname(slave)
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        waiting = b""
        while True:
            try:
                waiting += os.read(self._master, 64)
            except OSError:
                return
            while len(waiting) >= 4 and len(waiting) >= 4 + waiting[3]:
                packet, waiting = waiting[: 4 + waiting[3]], waiting[4 + waiting[3] :]
                delay = self._delays.pop(0) if self._delays else 0.0
                threading.Timer(delay, self._answer, [packet]).start()

    def _answer(self, packet: bytes) -> None:
        body = bytes([packet[2], 2, 0])
        if packet[4] == 2:  # read
            body = bytes([packet[2], packet[6] + 2, 0, *[packet[5]] * packet[6]])
        os.write(self._master, b"\xff\xff" + body + bytes([~sum(body) & 0xFF]))

    def close(self) -> None:
        os.close(self._master)
        os.close(self._slave)


@pytest.fixture
def late_link() -> Iterator[Link]:
    """The first answer comes after the SDK has asked again, so that its second one comes unasked."""
    servo = LateServo([0.08, 0.04, 0.03])
    port = SerialPort(servo.path)
    port.openPort()
    yield Link(port, 1)
    time.sleep(0.3)  # until nothing is on its way
    port.closePort()
    servo.close()


def test_an_answer_that_comes_late_is_not_taken_for_that_to_another_question(late_link: Link) -> None:
    assert late_link.read_block((1,), 34, 2)[1][0] == bytes([34, 34])
    assert late_link.read_block((1,), 14, 2)[1][0] == bytes([14, 14])
    assert late_link.read_block((1,), 24, 2)[1][0] == bytes([24, 24])
