# SPDX-License-Identifier: Apache-2.0
"""Packets that are composed here are those of the makers' SDKs, byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dynamixel_sdk as sdk
import pytest
import scservo_sdk
from dynamixel_sdk.protocol2_packet_handler import Protocol2PacketHandler
from hypothesis import assume, given
from hypothesis import strategies as st

from bam_ros.dynamixel.block_read import BlockRead
from bam_ros.dynamixel.link import sync_write_packet
from bam_ros.dynamixel.packets import PATTERN, crc16
from bam_ros.dynamixel.register import Register
from bam_ros.emulators.dynamixel.protocol2 import Parser


class Wire:
    """A port of an SDK that only keeps what is sent."""

    is_using = False

    def __init__(self) -> None:
        self.sent = b""

    def clearPort(self) -> None:  # noqa: N802
        pass

    def setPacketTimeout(self, length: int) -> None:  # noqa: N802
        pass

    def writePort(self, packet: Sequence[int]) -> int:  # noqa: N802
        self.sent += bytes(packet)
        return len(packet)


GOAL = Register(name="goal", address=116, size=4, writable=True, initial=0, low=0, high=1, signed=True)


def handler(protocol: int) -> Any:
    return sdk.PacketHandler(float(protocol))


@given(data=st.binary(max_size=80), more=st.binary(max_size=9))
def test_the_crc_is_that_of_the_sdk_however_the_bytes_are_cut(data: bytes, more: bytes) -> None:
    assert crc16(data) == Protocol2PacketHandler().updateCRC(0, data, len(data))
    assert crc16(more, crc16(data)) == crc16(data + more)


COUNTS = st.dictionaries(st.integers(1, 252), st.integers(-(1 << 31), (1 << 31) - 1), min_size=1, max_size=12)


@given(counts=COUNTS)
def test_a_sync_write_is_the_packet_of_the_sdk(counts: dict[int, int]) -> None:
    data = [byte for servo, count in counts.items() for byte in (servo, *GOAL.encode(count))]
    assume(PATTERN not in bytes(data))
    for protocol in (0, 1, 2):
        wire = Wire()
        if protocol == 0:
            feetech = scservo_sdk.protocol_packet_handler(wire, 0)
            feetech.syncWriteTxOnly(GOAL.address, GOAL.size, data, len(data))
        else:
            handler(protocol).syncWriteTxOnly(wire, GOAL.address, GOAL.size, data, len(data))
        assert sync_write_packet(protocol, GOAL, counts) == wire.sent


def test_a_goal_that_looks_like_a_header_is_stuffed_which_the_sdk_does_not_do() -> None:
    """The SDK drops what its `addStuffing` returns: such a goal, of -32 turns, never reached a servo."""
    counts = {7: int.from_bytes(b"\xff\xff\xfd\xff", "little", signed=True)}
    packet = sync_write_packet(2, GOAL, counts)
    assert packet[12:-2] == bytes((7, 0xFF, 0xFF, 0xFD, 0xFD, 0xFF))
    assert Parser().feed(packet)[0].parameters == bytes((116, 0, 4, 0, 7, 0xFF, 0xFF, 0xFD, 0xFF))


@pytest.mark.parametrize("protocol", [1, 2])
def test_a_read_of_one_servo_is_the_packet_of_the_sdk(protocol: int) -> None:
    wire = Wire()
    handler(protocol).readTx(wire, 9, 124, 23)
    assert BlockRead.of(protocol, {9: (124, 23)}).packet == wire.sent


@pytest.mark.parametrize("fast", [False, True])
def test_a_read_of_several_servos_is_the_packet_of_the_sdk(fast: bool) -> None:
    alike, unlike = Wire(), Wire()
    handler(2).syncReadTx(alike, 124, 23, [1, 5, 3], 3, fast)
    assert BlockRead.of(2, dict.fromkeys((1, 5, 3), (124, 23)), fast=fast).packet == alike.sent
    handler(2).bulkReadTx(unlike, [1, 124, 0, 23, 0, 5, 44, 1, 9, 0], 10, fast)
    assert BlockRead.of(2, {1: (124, 23), 5: (300, 9)}, fast=fast).packet == unlike.sent


def test_a_read_of_several_old_or_feetech_servos_is_the_packet_of_the_sdk() -> None:
    old, feetech = Wire(), Wire()
    # The SDK's own call of this passes it an argument that it does not have.
    handler(1).bulkReadTx(old, [8, 1, 36, 9, 5, 30], 6)
    assert BlockRead.of(1, {1: (36, 8), 5: (30, 9)}).packet == old.sent
    scservo_sdk.protocol_packet_handler(feetech, 0).syncReadTx(56, 15, [1, 5, 3], 3)
    assert BlockRead.of(0, dict.fromkeys((1, 5, 3), (56, 15))).packet == feetech.sent
