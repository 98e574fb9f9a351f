# SPDX-License-Identifier: Apache-2.0
"""Whatever arrives on the wire, reading gives the block that was asked for or a bus error."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BamError
from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout
from bam_ros.dynamixel import link, port
from bam_ros.dynamixel.block_read import BlockRead
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.packets import crc16
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.register import Register
from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.packets import Status


class Noise(SerialPort):
    """A port on which the given bytes arrive, then nothing."""

    def __init__(self, data: bytes) -> None:
        super().__init__("noise")
        self._data = data
        self.tx_time_per_byte = 0.01

    def clearPort(self) -> None:  # noqa: N802
        pass

    def writePort(self, packet: Sequence[int]) -> int:  # noqa: N802
        return len(packet)

    def isPacketTimeout(self) -> bool:  # noqa: N802
        return not self._data and not self._buffer

    def drain(self, quiet: float, longest: float = 0.2) -> None:
        pass

    def _receive(self, milliseconds: float) -> bool:
        arrived, self._data = self._data, b""
        self._buffer += arrived
        return bool(arrived)


LED = Register(name="led", address=65, size=1, writable=True, initial=0, low=0, high=1, signed=False)
HEADERS = {1: b"\xff\xff\x01", 2: b"\xff\xff\xfd\x00\x01"}


@pytest.mark.parametrize("protocol", [1, 2])
@settings(max_examples=300, deadline=None)
@given(noise=st.binary(max_size=60), tail=st.binary(max_size=30), ids=st.sampled_from([(1,), (1, 2)]))
def test_noise_gives_a_whole_block_or_a_bus_error(
    protocol: int, noise: bytes, tail: bytes, ids: tuple[int, ...]
) -> None:
    noisy = Link(Noise(noise + HEADERS[protocol] + tail), protocol)
    try:
        answers = noisy.read_block(ids, 36, 8, attempts=1)
    except BamError:
        return
    assert set(answers) == set(ids)
    assert all(len(data) == 8 for data, _ in answers.values())


class LatePort(SerialPort):
    """A port with a Protocol 1.0 servo whose every byte holds its address, on a clock that waiting advances.

    Args:
        delays: s that the answers to the first packets take; those to later ones come at once.
    """

    def __init__(self, delays: Sequence[float]) -> None:
        super().__init__("late")
        self.now = 100.0  # s
        self._delays = list(delays)
        self._coming: list[tuple[float, bytes]] = []  # when an answer arrives, s

    def clearPort(self) -> None:  # noqa: N802
        self._buffer.clear()
        self._coming = [answer for answer in self._coming if answer[0] > self.now]

    def writePort(self, packet: Sequence[int]) -> int:  # noqa: N802
        delay = self._delays.pop(0) if self._delays else 0.0
        body = bytes([packet[2], 2, 0])
        if packet[4] == 2:  # read
            body = bytes([packet[2], packet[6] + 2, 0, *[packet[5]] * packet[6]])
        self._coming.append((self.now + delay, b"\xff\xff" + body + bytes([~sum(body) & 0xFF])))
        self._coming.sort()
        return len(packet)

    def _receive(self, milliseconds: float) -> bool:
        end = self.now + 1e-3 * milliseconds + 1e-6  # time goes on, as short as the wait may be
        if not self._coming or self._coming[0][0] > end:
            self.now = end
            return False
        arrived, data = self._coming.pop(0)
        self.now = max(self.now, arrived)
        self._buffer += data
        return True


@pytest.fixture
def late_link(monkeypatch: pytest.MonkeyPatch) -> Link:
    """The first answer comes after the SDK has asked again, so that its second one comes unasked."""
    late = LatePort([0.08, 0.04, 0.03])
    clock = SimpleNamespace(monotonic=lambda: late.now, time_ns=lambda: round(late.now * 1e9))
    for module in (port, link):
        monkeypatch.setattr(module, "time", clock)
    late.tx_time_per_byte = 1e4 / 57600
    return Link(late, 1)


def test_an_answer_that_comes_late_is_not_taken_for_that_to_another_question(late_link: Link) -> None:
    assert late_link.read_block((1,), 34, 2)[1][0] == bytes([34, 34])
    assert late_link.read_block((1,), 14, 2)[1][0] == bytes([14, 14])
    assert late_link.read_block((1,), 24, 2)[1][0] == bytes([24, 24])


FAST = BlockRead.of(2, dict.fromkeys((1, 2), (36, 2)), fast=True)
FAST_WIRE = protocol2.encode_fast_status([Status(1, 0, b"\x01\x02"), Status(2, 0, b"\x03\x04")])


@pytest.mark.parametrize(("protocol", "length"), [(2, 2), (2, 1), (1, 1)])
def test_a_checksum_is_not_taken_for_the_value_of_a_register(protocol: int, length: int) -> None:
    refused = (protocol1 if protocol == 1 else protocol2).encode_status(Status(1, 4, b""))
    with pytest.raises(BusCorrupt):
        Link(Noise(refused), protocol).read_block((1,), 36, length, attempts=1)


@pytest.mark.parametrize(
    "data",
    [
        b"\xff\xff\xfd\xff\xff\xfd\x01\x02",
        b"\xff\xff\xfd\xff\xfd\xfd\x01\x02",  # of these the SDK drops a byte
        b"\xff\xff\xff\xfd\xff\xfd\xfd\x01",
    ],
)
def test_data_that_hold_a_header_arrive_whole(data: bytes) -> None:
    link = Link(Noise(protocol2.encode_status(Status(1, 0, data))), 2)
    assert link.read_block((1,), 36, 8, attempts=1) == {1: (data, 0)}


def test_the_packet_of_another_sender_is_no_fast_answer() -> None:
    other = FAST_WIRE[:4] + b"\x05" + FAST_WIRE[5:-2]
    packet = other + crc16(other).to_bytes(2, "little")
    with pytest.raises(BusCorrupt):
        Link(Noise(packet), 2).read_blocks(FAST, attempts=1)
    answers = Link(Noise(b"\x00" + FAST_WIRE), 2).read_blocks(FAST, attempts=1)
    assert answers == {1: (b"\x01\x02", 0), 2: (b"\x03\x04", 0)}


@pytest.mark.parametrize("protocol", [1, 2])
def test_the_answer_to_a_read_confirms_no_write(protocol: int) -> None:
    late = (protocol1 if protocol == 1 else protocol2).encode_status(Status(1, 0, b"\x01"))
    with pytest.raises(BusCorrupt):
        Link(Noise(late), protocol).write(1, LED, 0, attempts=1)


@pytest.mark.parametrize(("protocol", "error"), [(1, 0x10), (2, 0x03)])
def test_a_write_that_reached_the_servo_damaged_is_repeated_and_not_refused(
    protocol: int, error: int
) -> None:
    wire = (protocol1 if protocol == 1 else protocol2).encode_status(Status(1, error, b""))
    with pytest.raises(BusCorrupt):
        Link(Noise(wire), protocol).write(1, LED, 0, attempts=1)


def test_a_byte_that_came_twice_spoils_the_answer_though_its_checksum_is_right() -> None:
    """Where the byte is the checksum itself, the sum of one byte notices nothing."""
    first, wire = next(
        (first, wire)
        for first in range(256)
        if (wire := protocol1.encode_status(Status(1, 0, bytes((first, 0x20)))))[-1] == first
    )
    doubled = wire[:5] + bytes((first,)) + wire[5:]
    with pytest.raises(BusCorrupt):
        Link(Noise(doubled), 1).read_block((1,), 36, 2, attempts=1)


def test_the_silent_one_of_several_is_named_where_a_later_one_answers() -> None:
    with pytest.raises(BusTimeout, match="id 1"):
        Link(Noise(protocol1.encode_status(Status(2, 0, b"\x01\x02"))), 1).read_block(
            (1, 2), 36, 2, attempts=1
        )
