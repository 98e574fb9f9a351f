# SPDX-License-Identifier: Apache-2.0
"""Process data layouts: what is accepted, how it is packed, and what is said about mistakes."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest

from bam_core.errors import Conflict, Malformed, UnknownName, Unreadable
from bam_ros.erob.axis import NEEDED_RECEIVE, NEEDED_TRANSMIT
from bam_ros.erob.objects import DEFAULT_RECEIVE_PDO, DEFAULT_TRANSMIT_PDO, Object
from bam_ros.erob.pdo_layout import layout_names, load_layout, parse_layout

CONTROL, STATUS = {"object": 0x6040, "bits": 16}, {"object": 0x6041, "bits": 16}


def parse(receive: Any, transmit: Any = (STATUS,)) -> Any:
    return parse_layout("mine", {"receive": list(receive), "transmit": list(transmit)})


def test_both_layouts_that_come_along_can_be_loaded() -> None:
    assert layout_names() == ("default", "torque")
    default = load_layout("default")
    assert default.receive.objects == tuple(DEFAULT_RECEIVE_PDO)
    assert default.transmit.objects == tuple(DEFAULT_TRANSMIT_PDO)
    load_layout("torque").require(NEEDED_RECEIVE, NEEDED_TRANSMIT)


def test_the_position_law_refuses_a_layout_without_torque() -> None:
    with pytest.raises(Conflict, match="0x6071") as caught:
        load_layout("default").require(NEEDED_RECEIVE, NEEDED_TRANSMIT)
    assert caught.value.thing == "layout default"


def test_values_come_back_as_they_were_packed_little_endian_and_signed() -> None:
    layout = load_layout("torque")
    receive = layout.receive
    assert receive.pack([-1500, 0x000F, 10]) == struct.pack("<hHbx", -1500, 0x000F, 10)
    assert receive.unpack(receive.pack([-1500, 0x000F, 10])) == (-1500, 0x000F, 10)
    transmit = layout.transmit
    values = (-123456789, -5000, 321, 0x1237, 0x8611, 10, 48000)
    assert transmit.unpack(transmit.pack(values)) == values
    assert transmit.place(Object.ACTUAL_POSITION) == 0
    assert transmit.place(Object.DIGITAL_INPUTS) == -1


def test_a_gap_is_found_and_packed_as_zeros() -> None:
    receive = load_layout("torque").receive
    assert receive.gap == 5
    assert receive.size == 6
    assert load_layout("default").receive.gap == -1


def test_the_mapping_object_gets_index_subindex_and_bits() -> None:
    assert [entry.mapping for entry in load_layout("torque").receive.entries] == [
        0x60710010,
        0x60400010,
        0x60600008,
        0x00000008,
    ]


@pytest.mark.parametrize(
    ("receive", "transmit", "message"),
    [
        ([{"object": 0x6041, "bits": 16}], [STATUS], "receive has no 0x6040 controlword"),
        ([CONTROL], [{"object": 0x6064, "bits": 32}], "transmit has no 0x6041 statusword"),
        ([CONTROL, {"object": 0x6071, "bits": 32}], [STATUS], "0x6071 target torque of receive 2 .*32 bits"),
        ([CONTROL, {"object": 0x7000, "bits": 16}], [STATUS], "object 0x7000 of receive 2 .*0x6064"),
        ([CONTROL, {"object": 0x6071, "sub": 1, "bits": 16}], [STATUS], "object 0x6071 sub 1 of receive 2"),
        ([CONTROL, CONTROL], [STATUS], "receive has 0x6040 controlword twice"),
        ([CONTROL, {"object": 0, "bits": 7}], [STATUS], "receive 2 .* 7 bits"),
        ([CONTROL, *[{"object": 0, "bits": 248}] * 5], [STATUS], r"157 bytes .*at most 128"),
        ([CONTROL, *[{"object": 0, "bits": 8}] * 40], [STATUS], "41 entries"),
        ([], [STATUS], "expected a list of objects"),
        ([CONTROL, "0x6071"], [STATUS], "receive 2 is '0x6071'"),
        ([CONTROL, {"object": 0x6071, "bits": "16"}], [STATUS], "bits of receive 2 is '16'"),
        ([CONTROL, {"object": 0x6071, "bits": True}], [STATUS], "bits of receive 2 is True"),
        ([CONTROL, {"object": 0x6071, "bits": 16, "name": "x"}], [STATUS], "expected such as"),
    ],
)
def test_a_wrong_layout_is_named_with_its_cure(receive: Any, transmit: Any, message: str) -> None:
    with pytest.raises(Malformed, match=message) as caught:
        parse(receive, transmit)
    assert caught.value.path == "mine"
    assert "\n" not in str(caught.value)


def test_a_file_of_ones_own_is_read_and_its_mistakes_are_told(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("receive: [{object: 0x6040, bits: 16}]\ntransmit: [{object: 0x6041, bits: 16}]\n")
    assert load_layout(str(path)).receive.size == 2
    path.write_text("receive: [")
    with pytest.raises(Malformed) as caught:
        load_layout(str(path))
    assert caught.value.path == str(path)
    path.write_text("[]")
    with pytest.raises(Malformed):
        load_layout(str(path))
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(Malformed):
        load_layout(str(path))
    with pytest.raises(Unreadable):
        load_layout(str(tmp_path / "missing.yaml"))
    with pytest.raises(UnknownName, match="did you mean 'torque'"):
        load_layout("torqe")
