# SPDX-License-Identifier: Apache-2.0
"""Only complete and intact status packets are found among received bytes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_ros.dynamixel.status_packets import Damaged, first_status
from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.packets import Packet, Status

ENCODE = {1: protocol1.encode_status, 2: protocol2.encode_status}
AWKWARD = st.lists(st.sampled_from((0x00, 0x01, 0x55, 0xFD, 0xFE, 0xFF)), max_size=24).map(bytes)
STATUSES = st.builds(Status, st.integers(0, 252), st.integers(0, 254), AWKWARD)
PROTOCOLS = pytest.mark.parametrize("protocol", [1, 2])


@PROTOCOLS
@given(status=STATUSES, behind=st.binary(max_size=8))
def test_a_packet_comes_out_as_it_was_sent_whatever_its_data(
    protocol: int, status: Status, behind: bytes
) -> None:
    raw = ENCODE[protocol](status)
    found = first_status(protocol, raw + behind)
    assert found is not None
    assert (found.sender, found.error, found.data) == status
    assert (found.raw, found.end) == (raw, len(raw))


@PROTOCOLS
@given(status=STATUSES)
def test_the_beginning_of_a_packet_is_none(protocol: int, status: Status) -> None:
    raw = ENCODE[protocol](status)
    for length in range(len(raw)):
        assert first_status(protocol, raw[:length]) is None


@PROTOCOLS
@given(noise=st.sampled_from((b"\x00", b"\xff", b"\xfd\x00", b"\x00\xff")), status=STATUSES)
def test_noise_of_the_adapter_before_it_is_passed_over(protocol: int, noise: bytes, status: Status) -> None:
    found = first_status(protocol, noise + ENCODE[protocol](status))
    assert found is not None
    assert (found.sender, found.error, found.data) == status


@PROTOCOLS
def test_nothing_is_searched_behind_a_damaged_packet(protocol: int) -> None:
    raw = bytearray(ENCODE[protocol](Status(1, 0, b"\x10\x20")))
    raw[-3] ^= 1
    with pytest.raises(Damaged):
        first_status(protocol, bytes(raw) + ENCODE[protocol](Status(1, 0, b"\x10\x20")))


def test_the_echo_of_an_instruction_is_no_answer() -> None:
    echo = protocol2.encode_instruction(Packet(1, 2, b"\x24\x00\x02\x00"))
    assert first_status(2, echo) is None
    found = first_status(2, echo + protocol2.encode_status(Status(1, 0, b"\x07\x00")))
    assert found is not None
    assert found.data == b"\x07\x00"
