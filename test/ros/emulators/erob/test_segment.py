# SPDX-License-Identifier: Apache-2.0
"""How datagrams pass through slaves: addresses, working counters, the way back."""

from __future__ import annotations

import struct

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bam_ros.emulators.erob.frames import Command, Datagram, encode, physical
from bam_ros.emulators.erob.registers import Register
from test.ros.virtual_wire import FIRST_STATION, MS, PRE_OP, Wire

STATION = Register.STATION_ADDRESS


@pytest.fixture
def wire() -> Wire:
    return Wire(3)


def one(wire: Wire, command: Command, address: int, data: bytes) -> Datagram:
    return wire.send(Datagram(command, 7, address, data))[0]


def test_a_position_counts_from_zero_and_everybody_increments_it(wire):
    wire.address_all()
    answer = one(wire, Command.APRD, physical(-1, STATION), bytes(2))
    assert answer.data == struct.pack("<H", FIRST_STATION + 1)
    assert (answer.working_counter, answer.address) == (1, physical(2, STATION))
    assert one(wire, Command.APRD, physical(-3, STATION), bytes(2)).working_counter == 0


def test_a_broadcast_counts_slaves_and_ors_what_they_say(wire):
    wire.address_all()
    answer = one(wire, Command.BRD, physical(0, STATION), bytes(2))
    together = (FIRST_STATION | FIRST_STATION + 1 | FIRST_STATION + 2).to_bytes(2, "little")
    assert (answer.working_counter, answer.data, answer.address & 0xFFFF) == (3, together, 3)
    assert one(wire, Command.BWR, physical(0, Register.DC_SYSTEM_DELAY), bytes(4)).working_counter == 3
    assert one(wire, Command.BRW, physical(0, Register.DC_SYSTEM_DELAY), b"\1\0\0\0").working_counter == 9


def test_a_station_address_reaches_one_slave(wire):
    wire.address_all()
    at = physical(FIRST_STATION + 2, Register.DC_SYSTEM_DELAY)
    assert one(wire, Command.FPWR, at, b"\5\0\0\0").working_counter == 1
    answer = one(wire, Command.FPRW, at, b"\6\0\0\0")
    assert (answer.working_counter, answer.data) == (3, b"\5\0\0\0")
    assert wire.read(Register.DC_SYSTEM_DELAY, 4, 3) == b"\6\0\0\0"
    assert one(wire, Command.FPRD, physical(0x2222, STATION), bytes(2)).working_counter == 0


@pytest.mark.parametrize(
    ("command", "slave"), [(Command.ARMW, 0), (Command.FRMW, FIRST_STATION)], ids=["position", "station"]
)
def test_read_multiple_write_takes_from_one_and_gives_to_those_behind(wire, command, slave):
    wire.address_all()
    wire.write(Register.DC_SYSTEM_DELAY, b"\7\0\0\0", 1)
    assert one(wire, command, physical(slave, Register.DC_SYSTEM_DELAY), bytes(4)).working_counter == 3
    assert wire.read(Register.DC_SYSTEM_DELAY, 4, 3) == b"\7\0\0\0"


def test_nop_and_unknown_commands_pass_unchanged(wire):
    for command in (Command.NOP, 77):
        answer = one(wire, command, physical(0, STATION), b"\1\2")
        assert answer == Datagram(command, 7, physical(0, STATION), b"\1\2")


def test_several_datagrams_in_a_frame_are_done_in_their_order(wire):
    wire.address_all()
    at = physical(FIRST_STATION, Register.DC_SYSTEM_DELAY)
    answers = wire.send(
        Datagram(Command.FPWR, 1, at, b"\1\0\0\0"),
        Datagram(Command.FPRD, 2, at, bytes(4)),
        Datagram(Command.FPWR, 3, at, b"\2\0\0\0"),
        Datagram(Command.FPRD, 4, at, bytes(4)),
    )
    assert [answer.data[0] for answer in answers] == [1, 1, 2, 2]
    assert [answer.number for answer in answers] == [1, 2, 3, 4]


def test_the_first_slave_marks_the_source_address(wire):
    frame = encode([Datagram(Command.BRD, 0, 0, b"\0")], source=b"\x01\x02\x03\x04\x05\x06")
    wire.segment.process(frame, len(frame), wire.now)
    assert frame[6] == 0x03


def test_read_only_registers_count_nothing_when_written(wire):
    wire.address_all()
    assert wire.write(Register.AL_STATUS, b"\x08\0") == 0
    assert wire.write(Register.TYPE, b"\x00") == 0
    assert wire.read(Register.TYPE, 1) == b"\x11"


def test_logical_data_count_one_for_reading_and_two_for_writing():
    wire = Wire(2)
    wire.safe_op()
    size = 2 * 20
    assert wire.send(Datagram(Command.LRW, 0, 0, bytes(size)))[0].working_counter == 6
    assert wire.send(Datagram(Command.LRD, 0, 0, bytes(size)))[0].working_counter == 2
    assert wire.send(Datagram(Command.LWR, 0, 0, bytes(size)))[0].working_counter == 2
    assert wire.send(Datagram(Command.LRW, 0, 0x1000, bytes(size)))[0].working_counter == 0


def test_logical_ranges_that_cut_through_slaves_reach_those_inside():
    wire = Wire(2)
    wire.safe_op()
    only_first_output = wire.send(Datagram(Command.LRW, 0, 0, bytes(10)))[0]
    assert only_first_output.working_counter == 2
    middle = wire.send(Datagram(Command.LRW, 0, 5, bytes(20)))[0]
    assert middle.working_counter == 5  # both outputs in part, the first input in part


def test_outputs_and_inputs_at_the_same_logical_address_do_not_mix():
    wire = Wire(1)
    wire.safe_op()
    data = struct.pack("<IHBBHBBB", 0, 10, 0, 7, 0x1400, 0, 1, 1)
    wire.write(Register.FMMU + 16, data)
    wire.send(Datagram(Command.LRW, 0, 0, b"\xaa" * 10))
    answer = wire.send(Datagram(Command.LRW, 0, 0, b"\x55" * 10))[0]
    assert answer.working_counter == 3
    assert answer.data != b"\x55" * 10
    assert bytes(wire.slave.controller.memory[0x1100:0x110A]) == b"\x55" * 10


def test_process_data_stay_closed_below_safe_op():
    wire = Wire(1)
    wire.pre_op()
    wire.set_fmmus()
    assert wire.send(Datagram(Command.LRW, 0, 0, bytes(20)))[0].working_counter == 0


def test_fmmus_may_map_registers_such_as_the_mailbox_state():
    wire = Wire(1)
    wire.safe_op()
    at = Register.SYNC_MANAGER + 8 + 5  # of the second one: is there a message?
    wire.write(Register.FMMU + 32, struct.pack("<IHBBHBBB", 64, 1, 0, 7, at, 0, 1, 1))
    before = wire.send(Datagram(Command.LRD, 0, 64, b"\0"))[0]
    assert (before.working_counter, before.data[0] & 8) == (1, 0)
    wire.post(struct.pack("<HBHBI", 2 << 12, 0x40, 0x1000, 0, 0))
    wire.wait(MS)
    assert wire.send(Datagram(Command.LRD, 0, 64, b"\0"))[0].data[0] & 8


DATAGRAM = st.builds(
    Datagram,
    command=st.integers(0, 15),
    number=st.just(0),
    address=st.one_of(
        st.integers(0, 0xFFFFFFFF),
        st.builds(
            physical, st.sampled_from((0, -1, FIRST_STATION, FIRST_STATION + 1)), st.integers(0, 0x3010)
        ),
    ),
    data=st.binary(max_size=64),
    working_counter=st.just(0),
    interrupts=st.just(0),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(DATAGRAM, min_size=1, max_size=4), min_size=1, max_size=4))
def test_whatever_a_master_sends_comes_back_with_its_length(rounds):
    wire = Wire(2)
    wire.address_all()
    for datagrams in rounds:
        answers = wire.send(*datagrams)
        assert [len(a.data) for a in answers] == [len(d.data) for d in datagrams]
        wire.wait(MS)
    assert not any(slave.drive.torque_enabled for slave in wire.segment.slaves)


def test_a_slave_that_is_gone_is_not_reached_and_its_neighbour_becomes_the_last():
    wire = Wire(2)
    wire.pre_op()
    assert wire.word(Register.DL_STATUS) & 0x0C00 == 0x0800  # port 1 open, with a link
    wire.segment.connect(wire.segment.slaves[:1])
    assert one(wire, Command.BRD, physical(0, Register.AL_STATUS), bytes(2)).working_counter == 1
    assert wire.word(Register.DL_STATUS) & 0x0C00 == 0x0400
    assert wire.state() == (PRE_OP, 0)
