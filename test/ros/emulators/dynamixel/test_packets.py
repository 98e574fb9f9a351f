# SPDX-License-Identifier: Apache-2.0
"""Both protocols on the wire: the manual's examples, stuffing, and parsers that survive any noise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.packets import Packet, Status

CODECS = {"1.0": protocol1, "2.0": protocol2}
each_codec = pytest.mark.parametrize("codec", CODECS.values(), ids=CODECS)

short_packets = st.builds(
    Packet, st.integers(0, 0xFC), st.integers(1, 0x54), st.binary(max_size=200), st.just(True)
)


@pytest.mark.parametrize(
    ("codec", "packet", "wire"),
    [
        (protocol1, Packet(1, 3, bytes.fromhex("0c64aa")), "ff ff 01 05 03 0c 64 aa dc"),
        (protocol1, Packet(1, 2, bytes.fromhex("2b01")), "ff ff 01 04 02 2b 01 cc"),
        (protocol2, Packet(1, 1, b""), "ff ff fd 00 01 03 00 01 19 4e"),
        (protocol2, Packet(1, 2, bytes.fromhex("84000400")), "ff ff fd 00 01 07 00 02 84 00 04 00 1d 15"),
    ],
)
def test_instruction_packets_are_those_of_the_manual(codec, packet, wire):
    assert codec.encode_instruction(packet) == bytes.fromhex(wire)
    assert codec.Parser().feed(bytes.fromhex(wire)) == [packet]


@pytest.mark.parametrize(
    ("codec", "status", "wire"),
    [
        (protocol1, Status(1, 0x24), "ff ff 01 02 24 d8"),
        (protocol1, Status(1, 0, b"\x20"), "ff ff 01 03 00 20 db"),
        (protocol2, Status(1, 0, b"\x06\x04\x26"), "ff ff fd 00 01 07 00 55 00 06 04 26 65 5d"),
        (protocol2, Status(2, 0, b"\x24"), "ff ff fd 00 02 05 00 55 00 24 8b a9"),
    ],
)
def test_status_packets_are_those_of_the_manual(codec, status, wire):
    assert codec.encode_status(status) == bytes.fromhex(wire)


@each_codec
@given(data=st.data())
def test_packets_survive_the_wire_however_it_is_cut(codec, data):
    packets = data.draw(st.lists(short_packets, max_size=4))
    wire = b"".join(codec.encode_instruction(packet) for packet in packets)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(wire)), max_size=5)))
    parser = codec.Parser()
    received = []
    for start, end in zip([0, *cuts], [*cuts, len(wire)], strict=True):
        received += parser.feed(wire[start:end])
    assert received == packets


@given(st.lists(st.sampled_from([0xFF, 0xFD, 0x00, 0x55]), max_size=60).map(bytes))
def test_stuffing_keeps_headers_out_of_parameters(parameters):
    wire = protocol2.encode_instruction(Packet(1, 3, parameters))
    assert b"\xff\xff\xfd\x00" not in wire[4:-2]
    assert protocol2.Parser().feed(wire) == [Packet(1, 3, parameters)]


@each_codec
@given(noise=st.binary(max_size=300), packet=short_packets)
def test_a_packet_behind_noise_is_found(codec, noise, packet):
    parser = codec.Parser()
    parser.feed(noise)
    found = parser.feed(codec.encode_instruction(packet))
    # Noise may end in the middle of what looks like a packet; the real one is still there, at the latest
    # when it is sent again.
    found += parser.feed(codec.encode_instruction(packet))
    assert packet in found


@each_codec
@given(packet=short_packets, position=st.integers(0, 10_000), flip=st.integers(1, 255))
def test_a_damaged_packet_is_never_taken_for_a_good_one(codec, packet, position, flip):
    wire = bytearray(codec.encode_instruction(packet))
    wire[position % len(wire)] ^= flip
    assert packet not in codec.Parser().feed(bytes(wire))


@each_codec
def test_a_wrong_checksum_is_reported_once(codec):
    wire = bytearray(codec.encode_instruction(Packet(1, 3, b"\x18\x01")))
    wire[-1] ^= 0x01
    assert codec.Parser().feed(bytes(wire)) == [Packet(1, 3, b"\x18\x01", intact=False)]


def test_fast_status_carries_a_crc_behind_every_servo():
    packet = protocol2.encode_fast_status([Status(1, 0, b"\x10\x11"), Status(2, 0x80, b"\x20\x21")])
    assert packet[:8] == bytes.fromhex("ff ff fd 00 fe 0d 00 55")
    assert packet[8:12] == b"\x00\x01\x10\x11"
    assert packet[12:14] == protocol2.crc16(packet[:12]).to_bytes(2, "little")
    assert packet[14:18] == b"\x80\x02\x20\x21"
    assert packet[18:] == protocol2.crc16(packet[:18]).to_bytes(2, "little")
