# SPDX-License-Identifier: Apache-2.0
"""Faults in words, and what they do to slaves."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import BamError, OutOfRange, UnknownName, Unsupported
from bam_ros.emulators.erob.faults import Faults, FrameDice, FrameFaults, apply_faults, parse_faults
from test.ros.virtual_wire import MS, OP, SAFE_OP, Wire


def test_words_become_faults_of_the_line_and_of_slaves():
    faults = parse_faults(["drop=0.01", "delay=0.002", "lost@2", "overcurrent@1", "fault=0x7305", "wkc@1"], 2)
    assert faults.frames == FrameFaults(drop=0.01, delay=0.002)
    assert faults.slaves == {1: ["overcurrent", 0x7305, "wkc"], 2: ["lost", 0x7305]}
    assert parse_faults([], 6) == Faults()


@pytest.mark.parametrize(
    ("word", "kind", "line"),
    [
        ("gremlins", UnknownName, "fault 'gremlins'"),
        ("drop", OutOfRange, "fault drop: is 'drop' (expected a probability"),
        ("drop=2", OutOfRange, "fault drop: is 'drop=2'"),
        ("delay=-1", OutOfRange, "fault delay: is 'delay=-1' (expected a delay in seconds"),
        ("delay=nan", OutOfRange, "fault delay: is 'delay=nan'"),
        ("drop=0.1@1", Unsupported, "fault drop: "),
        ("lost@3", OutOfRange, "slave of a fault: is 'lost@3' (expected @1 to @2)"),
        ("lost@", OutOfRange, "slave of a fault: is 'lost@'"),
        ("lost=1", OutOfRange, "fault: is 'lost=1' (expected lost)"),
        ("fault", OutOfRange, "fault: is 'fault' (expected fault=0x7305"),
        ("fault=soup", OutOfRange, "code of a fault: is 'fault=soup'"),
        ("fault=0x10000", OutOfRange, "code of a fault: is 'fault=0x10000'"),
    ],
)
def test_wrong_words_are_refused_by_name(word, kind, line):
    with pytest.raises(kind) as caught:
        parse_faults([word], 2)
    assert str(caught.value).startswith(line)


@given(st.lists(st.text(max_size=12), max_size=4))
def test_any_words_are_faults_or_refused(words):
    with contextlib.suppress(BamError):
        assert isinstance(parse_faults(words, 3), Faults)


def put(wire: Wire, *words: str, before: Faults | None = None) -> Faults:
    faults = parse_faults(words, wire.count)
    apply_faults(faults, before or Faults(), wire.segment, wire.now)
    return faults


def test_a_lost_slave_comes_back_as_switched_on():
    wire = Wire(2)
    wire.op()
    lost = put(wire, "lost@2")
    assert len(wire.segment.connected) == 1
    assert wire.exchange(bytes(10))[1] == 3
    put(wire, before=lost)
    assert len(wire.segment.connected) == 2
    assert wire.segment.slaves[1].states.status == 1
    assert wire.exchange(bytes(10))[1] == 3


def test_an_arm_whose_drive_is_lost_falls():
    wire = Wire(1)
    wire.slave.bench.place(1.5)
    put(wire, "lost@1")
    wire.wait(1000 * MS)
    assert abs(float(wire.slave.bench.state[0])) < 1.4


def test_a_stuck_slave_falls_and_stays_until_it_is_freed():
    wire = Wire()
    wire.op()
    stuck = put(wire, "safe_op")
    assert wire.state() == (SAFE_OP | 0x10, 0x1A)
    wire.request(SAFE_OP | 0x10)
    wire.exchange(bytes(10))
    wire.request(OP)
    assert wire.state() == (SAFE_OP | 0x10, 0x1A)
    put(wire, before=stuck)
    wire.request(SAFE_OP | 0x10)
    wire.exchange(bytes(10))
    wire.request(OP)
    assert wire.state() == (OP, 0)


def test_an_event_happens_once_however_often_its_word_is_set():
    wire = Wire()
    wire.op()
    faults = put(wire, "overcurrent")
    drive = wire.slave.drive
    assert drive.error_code.value == 0x2310
    wire.exchange((0).to_bytes(8, "little") + b"\x80\0")
    wire.exchange(bytes(10))
    assert drive.error_code.value == 0
    put(wire, "overcurrent", "wkc", before=faults)
    assert drive.error_code.value == 0
    assert wire.exchange(bytes(10))[1] == 2


def test_the_dice_are_the_same_for_a_seed_and_as_often_as_they_should_be():
    rolls = [[dice.hits(0.25) for _ in range(4000)] for dice in (FrameDice(1), FrameDice(1), FrameDice(2))]
    assert rolls[0] == rolls[1] != rolls[2]
    assert 0.2 < sum(rolls[0]) / 4000 < 0.3
    assert not any(FrameDice(1).hits(0.0) for _ in range(100))


def test_garble_flips_one_bit_near_the_front():
    frame = bytearray(80)
    FrameDice(3).garble(frame, len(frame))
    assert sum(byte.bit_count() for byte in frame) == 1
    assert not any(frame[40:])
