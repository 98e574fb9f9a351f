# SPDX-License-Identifier: Apache-2.0
"""Answers are taken where they are exactly what was asked for; anything else is searched for packets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_ros.dynamixel.block_read import BlockRead
from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.packets import Status

BLOCKS = {3: (124, 5), 1: (36, 2)}
STATUSES = [Status(3, 0x80, b"\x01\x02\xff\xff\x05"), Status(1, 0, b"\xff\xfe")]
ANSWERS = {3: (b"\x01\x02\xff\xff\x05", 0x80), 1: (b"\xff\xfe", 0)}
KINDS = [
    (BlockRead.of(2, BLOCKS), b"".join(map(protocol2.encode_status, STATUSES))),
    (BlockRead.of(2, BLOCKS, fast=True), protocol2.encode_fast_status(STATUSES)),
    (BlockRead.of(1, BLOCKS), b"".join(map(protocol1.encode_status, STATUSES))),
]
IDS = ["one by one", "one packet", "protocol 1"]


@pytest.mark.parametrize(("request_", "wire"), KINDS, ids=IDS)
def test_right_answers_are_taken_apart(request_: BlockRead, wire: bytes) -> None:
    assert request_.length == len(wire)
    assert wire.startswith(request_.begin)
    assert request_.take(wire) == ANSWERS


@pytest.mark.parametrize(("request_", "wire"), KINDS, ids=IDS)
def test_no_answer_with_a_changed_bit_is_taken(request_: BlockRead, wire: bytes) -> None:
    for at in range(8 * len(wire)):
        damaged = bytearray(wire)
        damaged[at // 8] ^= 1 << at % 8
        assert request_.take(bytes(damaged)) is None


@pytest.mark.parametrize(("request_", "wire"), KINDS, ids=IDS)
@given(noise=st.binary(min_size=1, max_size=4))
def test_neither_answers_behind_noise_nor_parts_of_them_are_taken(
    request_: BlockRead, wire: bytes, noise: bytes
) -> None:
    late = (noise + wire)[: len(wire)]
    assert late == wire or request_.take(late) is None
    assert request_.take(wire[: -len(noise)]) is None


def test_the_answer_of_another_servo_is_not_taken() -> None:
    others = [Status(3, 0, bytes(5)), Status(2, 0, bytes(2))]
    assert KINDS[0][0].take(b"".join(map(protocol2.encode_status, others))) is None
    assert KINDS[1][0].take(protocol2.encode_fast_status(others)) is None
    assert KINDS[2][0].take(b"".join(map(protocol1.encode_status, others))) is None


def test_data_that_look_like_a_header_are_not_taken_as_they_are() -> None:
    """The servo sends a further byte behind such a pattern: the packet is longer, the data are not."""
    longer = protocol2.encode_status(Status(1, 0, b"\xff\xff\xfd\x00"))
    request_ = BlockRead.of(2, {1: (36, 5)})
    assert len(longer) == request_.length
    assert request_.take(longer) is None
