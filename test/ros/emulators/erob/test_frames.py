# SPDX-License-Identifier: Apache-2.0
"""Frames and mailbox messages as bytes: round trips, and decoders that meet anything."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_ros.emulators.erob import mailbox
from bam_ros.emulators.erob.frames import Command, Datagram, FrameError, decode, encode, physical
from bam_ros.emulators.erob.mailbox import MalformedMessageError, Message
from bam_ros.emulators.erob.segment import Segment

WORDS = st.integers(0, 0xFFFF)
DATAGRAMS = st.builds(
    Datagram,
    command=st.integers(0, 255),
    number=st.integers(0, 255),
    address=st.integers(0, 0xFFFFFFFF),
    data=st.binary(max_size=200),
    working_counter=WORDS,
    interrupts=WORDS,
    circulating=st.booleans(),
)


@given(st.lists(DATAGRAMS, min_size=1, max_size=5))
def test_a_frame_decodes_to_what_it_was_made_of(datagrams):
    frame = encode(datagrams)
    assert decode(frame) == tuple(datagrams)
    assert len(frame) >= 60


@given(st.binary(max_size=120))
def test_any_bytes_are_a_frame_or_refused(data):
    with contextlib.suppress(FrameError):
        assert len(decode(data)) > 0


@given(st.lists(DATAGRAMS, min_size=1, max_size=3), st.data())
def test_a_cut_or_damaged_frame_never_raises_anything_else(datagrams, data):
    frame = encode(datagrams)
    frame[data.draw(st.integers(0, len(frame) - 1))] ^= data.draw(st.integers(1, 255))
    cut = frame[: data.draw(st.integers(0, len(frame)))]
    for candidate in (frame, cut):
        with contextlib.suppress(FrameError):
            assert len(decode(candidate)) > 0


def test_frames_of_other_protocols_are_named():
    with pytest.raises(FrameError, match="no EtherCAT frame"):
        decode(bytes(60))
    other = encode([Datagram(Command.BRD, 0, 0, b"\0")])
    other[15] = 0x40
    with pytest.raises(FrameError, match="type 4"):
        decode(other)


def test_a_station_and_a_position_are_both_addresses():
    assert physical(0x1001, 0x0130) == 0x01301001
    assert physical(-1, 0x0010) == 0x0010FFFF


def test_an_empty_segment_sends_nothing_back():
    frame = encode([Datagram(Command.BRD, 0, 0, b"\0\0")])
    assert not Segment([]).process(frame, len(frame), 0)


@given(st.integers(0, 15), st.integers(0, 7), st.binary(max_size=122))
def test_a_message_survives_the_mailbox(protocol, counter, content):
    message = Message(protocol, counter, content)
    assert mailbox.decode(mailbox.encode(message, 128)) == message


@given(st.binary(max_size=160))
def test_any_mailbox_is_a_message_or_refused_with_a_detail(data):
    with contextlib.suppress(MalformedMessageError):
        assert len(mailbox.decode(data).content) <= len(data)


def test_the_mailbox_counter_skips_zero():
    counters = [0]
    for _ in range(8):
        counters.append(mailbox.next_counter(counters[-1]))
    assert counters == [0, 1, 2, 3, 4, 5, 6, 7, 1]
