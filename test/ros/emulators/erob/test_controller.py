# SPDX-License-Identifier: Apache-2.0
"""The slave controller: EEPROM, mailbox, watchdog and clock, in registers."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_ros.emulators.erob import sii
from bam_ros.emulators.erob.distributed_clock import HOP
from bam_ros.emulators.erob.frames import Command, Datagram, physical
from bam_ros.emulators.erob.mailbox import MailboxError, Protocol
from bam_ros.emulators.erob.registers import Register
from bam_ros.emulators.erob.state_machine import AlCode
from bam_ros.erob.objects import PRODUCT_CODE, VENDOR_ID
from test.ros.virtual_wire import ACKNOWLEDGE, INIT, MS, OP, PRE_OP, SAFE_OP, Wire

SM1 = Register.SYNC_MANAGER + 8
READ_WORDS, WRITE_WORD = 0x0100, 0x0201


@pytest.fixture
def wire() -> Wire:
    wire = Wire(1)
    wire.address_all()
    return wire


def read_eeprom(wire: Wire, word: int) -> bytes:
    assert wire.write(Register.EEPROM_CONTROL, struct.pack("<HI", READ_WORDS, word)) == 1
    return wire.read(Register.EEPROM_DATA, 8)


# EEPROM


def test_the_eeprom_tells_the_identity_and_its_mailbox(wire):
    assert struct.unpack("<II", read_eeprom(wire, 8)) == (VENDOR_ID, PRODUCT_CODE)
    assert struct.unpack("<HHHH", read_eeprom(wire, 0x18)) == (0x1000, 128, 0x1080, 128)


def test_the_eeprom_has_every_category_that_a_master_looks_for(wire):
    content = b"".join(read_eeprom(wire, word) for word in range(0, sii.SIZE // 2, 4))
    found = dict(sii.categories(content))
    assert set(found) == {
        sii.STRINGS,
        sii.GENERAL,
        sii.FMMU,
        sii.SYNC_MANAGER,
        sii.TX_PDO,
        sii.RX_PDO,
        sii.DC,
    }
    assert b"ZeroErr Driver" in found[sii.STRINGS]
    assert found[sii.GENERAL][5] == sii.COE_DETAILS
    managers = [struct.unpack_from("<HHBBBB", found[sii.SYNC_MANAGER], 8 * i) for i in range(4)]
    assert [manager[:2] for manager in managers] == [(0x1000, 128), (0x1080, 128), (0x1100, 10), (0x1400, 10)]
    index, count = struct.unpack_from("<HB", found[sii.RX_PDO])
    assert (index, count) == (0x1600, 3)


def test_a_word_is_written_only_with_the_write_bit(wire):
    wire.write(Register.EEPROM_DATA, b"\x34\x12")
    wire.write(Register.EEPROM_CONTROL, struct.pack("<HI", 0x0200, 4))
    assert wire.word(Register.EEPROM_CONTROL) & 0x4000
    wire.write(Register.EEPROM_CONTROL, struct.pack("<HI", WRITE_WORD, 4))
    assert read_eeprom(wire, 4)[:2] == b"\x34\x12"


def test_a_word_far_outside_reads_as_empty_and_is_not_written(wire):
    assert read_eeprom(wire, 0xFFFFFF) == b"\xff" * 8
    wire.write(Register.EEPROM_CONTROL, struct.pack("<HI", WRITE_WORD, 0xFFFFFF))
    assert wire.word(Register.EEPROM_CONTROL) & 0x2000


def test_commands_are_refused_while_the_drive_has_the_eeprom(wire):
    wire.write(Register.EEPROM_CONFIGURATION, b"\x01")
    assert wire.write(Register.EEPROM_CONTROL, struct.pack("<HI", READ_WORDS, 8)) == 0
    wire.write(Register.EEPROM_CONFIGURATION, b"\x02")
    wire.write(Register.EEPROM_CONFIGURATION, b"\x00")
    assert wire.write(Register.EEPROM_CONTROL, struct.pack("<HI", READ_WORDS, 8)) == 1


@given(st.binary(max_size=300))
def test_categories_of_any_bytes_end(data):
    for _, content in sii.categories(data):
        assert len(content) <= len(data)


# mailbox

ASK_TYPE = struct.pack("<HBHBI", 2 << 12, 0x40, 0x1000, 0, 0)


def test_a_mailbox_is_read_once_and_only_when_it_is_full(wire):
    wire.pre_op()
    assert wire.collect() is None
    assert wire.post(ASK_TYPE) == 1
    assert wire.collect() is not None
    assert wire.collect() is None


def test_a_message_whose_end_is_not_read_stays(wire):
    wire.pre_op()
    wire.post(ASK_TYPE)
    wire.wait(MS)
    first = wire.read(sii.MAILBOX_IN, 16)
    assert wire.read(SM1 + 5, 1)[0] & 8
    again = wire.collect()
    assert again is not None
    assert again.content[:8] == first[6:14]


def test_a_lost_answer_is_repeated_on_request(wire):
    wire.pre_op()
    wire.post(ASK_TYPE)
    lost = wire.collect()
    activate = wire.read(SM1 + 6, 1)[0]
    wire.write(SM1 + 6, bytes((activate ^ 2,)))
    assert wire.read(SM1 + 7, 1)[0] & 2 == (activate ^ 2) & 2
    assert wire.collect() == lost


def test_clearing_the_mailbox_after_a_repeated_answer_leaves_all_registers_in_their_place(wire):
    """A master that starts anew writes zeros to the sync managers, which flips the repeat bit back."""
    wire.pre_op()
    wire.post(ASK_TYPE)
    wire.collect()
    wire.write(SM1 + 6, bytes((wire.read(SM1 + 6, 1)[0] ^ 2,)))
    size = len(wire.slave.controller.memory)
    divider = wire.read(Register.WATCHDOG_DIVIDER, 2)
    assert wire.write(Register.SYNC_MANAGER, bytes(32)) == 1
    assert len(wire.slave.controller.memory) == size
    assert wire.read(Register.WATCHDOG_DIVIDER, 2) == divider


def test_a_message_with_the_same_counter_is_a_repetition(wire):
    wire.pre_op()
    wire.post(ASK_TYPE, counter=3)
    assert wire.collect() is not None
    wire.post(ASK_TYPE, counter=3)
    assert wire.collect() is None
    wire.post(ASK_TYPE, counter=4)
    assert wire.collect() is not None


def test_answers_count_their_messages_from_1_to_7(wire):
    wire.pre_op()
    counters = []
    for _ in range(8):
        wire.post(ASK_TYPE)
        message = wire.collect()
        assert message is not None
        counters.append(message.counter)
    assert counters == [1, 2, 3, 4, 5, 6, 7, 1]


def test_another_protocol_gets_an_error_reply(wire):
    wire.pre_op()
    wire.post(b"\0\0", protocol=Protocol.FOE)
    answer = wire.collect()
    assert answer is not None
    assert answer.protocol == Protocol.ERROR
    assert struct.unpack("<HH", answer.content) == (1, MailboxError.UNSUPPORTED_PROTOCOL)


def test_a_message_longer_than_its_mailbox_gets_an_error_reply(wire):
    wire.pre_op()
    wire.write(sii.MAILBOX_OUT, struct.pack("<HHBB", 1000, 0, 0, 0x13).ljust(128, b"\0"))
    answer = wire.collect()
    assert answer is not None
    assert struct.unpack("<HH", answer.content) == (1, MailboxError.INVALID_SIZE)


# watchdog


def test_the_watchdog_takes_the_slave_to_safe_op_with_its_code(wire):
    wire.op()
    assert wire.word(Register.WATCHDOG_STATUS) == 1
    wire.wait(99 * MS)
    assert wire.state() == (OP, 0)
    wire.wait(2 * MS)
    assert wire.state() == (SAFE_OP | 0x10, AlCode.WATCHDOG)
    assert wire.word(Register.WATCHDOG_STATUS) == 0
    assert wire.read(Register.WATCHDOG_COUNTER_PROCESS_DATA, 1) == b"\x01"


def test_the_watchdog_time_is_what_the_registers_say(wire):
    wire.pre_op()
    wire.write(Register.WATCHDOG_TIME_PROCESS_DATA, struct.pack("<H", 50))
    wire.op()
    wire.wait(4 * MS)
    assert wire.state() == (OP, 0)
    wire.wait(2 * MS)
    assert wire.state() == (SAFE_OP | 0x10, AlCode.WATCHDOG)


def test_a_watchdog_of_zero_never_bites(wire):
    wire.pre_op()
    wire.write(Register.WATCHDOG_TIME_PROCESS_DATA, b"\0\0")
    wire.op()
    wire.wait(500 * MS)
    assert wire.state() == (OP, 0)


def test_after_the_watchdog_the_error_is_acknowledged_and_op_needs_new_outputs(wire):
    wire.op()
    wire.wait(150 * MS)
    wire.request(OP)
    assert wire.state() == (SAFE_OP | 0x10, AlCode.WATCHDOG)  # the error comes first
    wire.request(SAFE_OP | ACKNOWLEDGE)
    assert wire.state() == (SAFE_OP, 0)
    wire.request(OP)
    assert wire.state() == (SAFE_OP, 0)  # it waits
    wire.exchange(bytes(10))
    wire.wait(MS)
    assert wire.state() == (OP, 0)


def test_an_emulator_that_got_no_processor_is_excused(wire):
    wire.op()
    wire.slave.excuse(200 * MS)
    wire.wait(150 * MS)
    assert wire.state() == (OP, 0)


def test_damaged_frames_are_counted_and_the_counter_is_cleared_by_a_write(wire):
    for _ in range(300):
        wire.segment.damage()
    assert wire.read(Register.RX_ERROR_COUNTER, 1) == b"\xff"
    wire.write(Register.RX_ERROR_COUNTER, bytes(8))
    assert wire.read(Register.RX_ERROR_COUNTER, 1) == b"\0"


# distributed clock


def synchronise(wire: Wire) -> None:
    """Do what a master does: latch, set offsets and delays."""
    wire.send(Datagram(Command.BWR, 0, physical(0, Register.DC_RECEIVE_TIME), bytes(4)))
    for i in range(wire.count):
        (here,) = struct.unpack("<Q", wire.read(Register.DC_PROCESSING_TIME, 8, i + 1))
        wire.write(Register.DC_SYSTEM_OFFSET, struct.pack("<q", 1_000_000_000 - here), i + 1)
        wire.write(Register.DC_SYSTEM_DELAY, struct.pack("<I", HOP * i), i + 1)


def distribute(wire: Wire, cycles: int) -> None:
    for _ in range(cycles):
        wire.wait(MS)
        wire.send(Datagram(Command.FRMW, 0, physical(0x1001, Register.DC_SYSTEM_TIME), bytes(8)))


def test_receive_times_tell_the_distance_between_slaves():
    wire = Wire(3)
    wire.address_all()
    wire.send(Datagram(Command.BWR, 0, physical(0, Register.DC_RECEIVE_TIME), bytes(4)))
    turns = []
    for i in range(3):
        there, back = struct.unpack("<II", wire.read(Register.DC_RECEIVE_TIME, 8, i + 1))
        turns.append((back - there) & 0xFFFFFFFF if back else 0)
    assert turns == [4 * HOP, 2 * HOP, 0]


def test_distributed_time_takes_clocks_that_drift_together():
    wire = Wire(2)
    wire.address_all()
    synchronise(wire)
    distribute(wire, 3000)
    clocks = [slave.controller.clock for slave in wire.segment.slaves]
    apart = clocks[0].system(wire.now) - clocks[1].system(wire.now)
    assert abs(apart) < 100
    shown = int.from_bytes(wire.read(Register.DC_SYSTEM_DIFFERENCE, 4, 2), "little") & 0x7FFFFFFF
    assert shown < 100


def test_without_distribution_clocks_drift_apart():
    wire = Wire(2)
    wire.address_all()
    synchronise(wire)
    wire.wait(1000 * MS)
    clocks = [slave.controller.clock for slave in wire.segment.slaves]
    assert abs(clocks[0].system(wire.now) - clocks[1].system(wire.now)) > 500


def start_sync0(wire: Wire, cycle: int, start_in: int = 5 * MS) -> None:
    (now,) = struct.unpack("<Q", wire.read(Register.DC_SYSTEM_TIME, 8))
    wire.write(Register.DC_START_TIME, struct.pack("<Q", now + start_in))
    wire.write(Register.DC_SYNC0_CYCLE, struct.pack("<I", cycle))
    wire.write(Register.DC_ACTIVATION, b"\x03")


def test_sync0_comes_at_its_start_and_every_cycle_after_it(wire):
    start_sync0(wire, 2 * MS, start_in=5 * MS)
    began, clock = wire.now, wire.slave.controller.clock
    assert clock.last_sync0(began + 4 * MS) is None
    pulses = {clock.last_sync0(began + 4 * MS + i * MS // 10) for i in range(100)} - {None}
    times = sorted(pulses)
    assert abs(times[0] - began - 5 * MS) < 1000
    groups = [round((t - times[0]) / (2 * MS)) for t in times]
    assert set(groups) == {0, 1, 2, 3, 4}
    assert wire.read(Register.DC_ACTIVATION_STATUS, 1) == b"\x01"


def test_a_start_in_the_past_gives_no_pulse(wire):
    start_sync0(wire, 2 * MS, start_in=-MS)
    assert wire.slave.controller.clock.last_sync0(wire.now + 100 * MS) is None


@pytest.mark.parametrize(
    ("cycle", "activation", "code"),
    [
        (300_000, b"\x03", AlCode.INVALID_DC_CYCLE),
        (1_000_001, b"\x03", AlCode.INVALID_DC_CYCLE),
        (1_000_000, b"\x01", AlCode.INVALID_DC_SYNC),
    ],
)
def test_a_sync0_that_the_drive_cannot_follow_is_refused(wire, cycle, activation, code):
    wire.pre_op()
    start_sync0(wire, cycle)
    wire.write(Register.DC_ACTIVATION, b"\0")
    wire.write(Register.DC_ACTIVATION, activation)
    wire.request(SAFE_OP)
    assert wire.state() == (PRE_OP | 0x10, code)


def test_op_waits_for_sync0_and_says_so_when_it_does_not_come(wire):
    wire.safe_op()
    start_sync0(wire, MS, start_in=-MS)
    wire.exchange(bytes(10))
    wire.request(OP)
    for _ in range(30):
        wire.exchange(bytes(10), wait=80 * MS)
    assert wire.state() == (SAFE_OP | 0x10, AlCode.NO_SYNC)


def test_inputs_are_those_of_the_last_sync0(wire):
    wire.safe_op()
    start_sync0(wire, 10 * MS, start_in=5 * MS)
    wire.exchange(bytes(10))
    wire.wait(5 * MS)
    wire.request(OP)
    wire.exchange(bytes(10), wait=5 * MS)
    assert wire.state() == (OP, 0)
    wire.slave.bench.place(0.5)
    seen = []
    for _ in range(25):
        seen.append(wire.exchange(bytes(10))[0][0][:4])
    assert 3 <= len(set(seen)) <= 4  # the arm falls; one picture per 10 ms


def test_going_to_init_forgets_nothing_but_the_way_up(wire):
    wire.op()
    wire.request(INIT)
    assert wire.state() == (INIT, 0)
    wire.op()
