# SPDX-License-Identifier: Apache-2.0
"""Bytes that flip, get lost or come twice on the line: a sample is lost then, and never wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout, ServoGoal, ServoSample
from test.ros.dynamixel.wired_bus import WiredBus, intact, wired_bus

SERVOS = 3
OFF = ServoGoal.released(SERVOS)
LINES = {
    "fast sync read": ("xm430_w350", 4),
    "sync read": ("mx64_2", 4),
    "bulk read": ("xm430_w350,mx106_2,h54_200_s500_r", 4),
    # One event: the sum of Protocol 1.0 lets one of 256 pairs of errors pass, whoever receives them.
    "protocol 1": ("mx106", 1),
    "both protocols": ("ax12a,mx106,xm430_w350", 1),
    "feetech": ("sts3215", 1),
}
"""Line -> servos, and how many events damage the answers to one request."""

BYTES = st.sampled_from((0x00, 0x01, 0x55, 0xFD, 0xFE, 0xFF)) | st.integers(0, 255)
EVENTS = st.tuples(st.sampled_from(("flip", "lose", "double")), st.integers(0, 400), st.integers(0, 7))
Event = tuple[str, int, int]


def damaged(data: bytes, events: Sequence[Event]) -> bytes:
    """Return bytes to which these events happened."""
    line = bytearray(data)
    for kind, place, bit in events:
        if not line:
            break
        at = place % len(line)
        if kind == "flip":
            line[at] ^= 1 << bit
        elif kind == "lose":
            del line[at]
        else:
            line.insert(at, line[at])
    return bytes(line)


@pytest.fixture(scope="module", params=LINES)
def line(request: pytest.FixtureRequest) -> Iterator[tuple[WiredBus, int]]:
    servo, most = LINES[request.param]
    with pytest.MonkeyPatch.context() as patch, wired_bus(patch, servo, SERVOS) as wired:
        for emulated in wired.servos:
            patch.setattr(emulated, "_measure", lambda: None)  # what the test puts there stays
        yield wired, most


def put(wired: WiredBus, content: bytes) -> None:
    """Fill all registers that show measurements."""
    for place, servo in enumerate(wired.servos):
        row, end = servo._measured_from, servo._measured_to
        length = end - row
        servo.registers.data[row:end] = (content[place:] + content[:place]).ljust(length, b"\x07")[:length]


def values(sample: ServoSample) -> str:
    """Return all that servos measured; NaN equals itself."""
    return repr((sample.position, sample.velocity, sample.current, sample.duty, sample.voltage))


@settings(deadline=None)
@given(
    content=st.lists(BYTES, min_size=30, max_size=60).map(bytes),
    events=st.lists(EVENTS, min_size=1, max_size=4),
    request_=st.integers(0, 2),
)
def test_answers_are_right_or_lost(
    line: tuple[WiredBus, int], content: bytes, events: list[Event], request_: int
) -> None:
    wired, most = line
    put(wired, content)
    wired.port.answered = intact
    right = values(wired.bus.exchange(OFF))
    count = iter(range(10))
    wired.port.answered = lambda data: damaged(data, events[:most]) if next(count) == request_ else data
    try:
        sample = wired.bus.exchange(OFF)
    except (BusTimeout, BusCorrupt):
        return
    assert values(sample) == right


@settings(deadline=None)
@given(
    content=st.lists(BYTES, min_size=30, max_size=60).map(bytes),
    events=st.lists(EVENTS, min_size=1, max_size=1),
)
def test_samples_are_right_or_lost_where_requests_are_damaged(
    line: tuple[WiredBus, int], content: bytes, events: list[Event]
) -> None:
    wired, _ = line
    put(wired, content)
    wired.port.answered = wired.port.asked = intact
    right = values(wired.bus.exchange(OFF))
    wired.port.asked = lambda data: damaged(data, events)
    try:
        sample = wired.bus.exchange(OFF)
    except (BusTimeout, BusCorrupt):
        return
    finally:
        wired.port.asked = intact
        wired.port.now += 1.0  # what servos heard of it is forgotten
    assert values(sample) == right


@settings(deadline=None)
@given(events=st.lists(EVENTS, min_size=1, max_size=1), place=st.integers(0, SERVOS - 1))
def test_a_register_is_read_right_or_not_at_all(
    line: tuple[WiredBus, int], events: list[Event], place: int
) -> None:
    wired, _ = line
    wired.port.answered = intact
    joint = wired.bus.names[place]
    right = wired.bus.read_register(joint, "model_number").count
    wired.port.answered = lambda data: damaged(data, events)
    try:
        held = wired.bus.read_register(joint, "model_number").count
    except (BusTimeout, BusCorrupt):
        return
    assert held == right
