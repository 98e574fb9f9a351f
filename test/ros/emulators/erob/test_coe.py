# SPDX-License-Identifier: Apache-2.0
"""SDO transfers: expedited, normal, segmented, complete; aborts by name; mapping; descriptions."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.servo.model import load_servo
from bam_ros.emulators.erob.coe import SdoServer
from bam_ros.emulators.erob.object_dictionary import (
    Abort,
    Access,
    DataType,
    Entry,
    ObjectDictionary,
    SdoAbort,
)
from bam_ros.erob.objects import PRODUCT_CODE, VENDOR_ID, Object
from test.ros.virtual_wire import MS, PRE_OP, SAFE_OP, Wire

REQUEST = struct.pack("<H", 2 << 12)
TORQUE_IN, TORQUE_OUT = 0x60710010, 0x60770010
CONTROL, STATUS = 0x60400010, 0x60410010


@pytest.fixture
def wire() -> Wire:
    wire = Wire()
    wire.pre_op()
    return wire


def abort(answer: bytes) -> Abort:
    assert answer[0] == 0x80
    return Abort(int.from_bytes(answer[4:8], "little"))


# on the wire


def test_the_identity_is_read_expedited(wire):
    assert wire.upload(Object.IDENTITY, 0) == 4
    assert wire.upload(Object.IDENTITY, 1) == VENDOR_ID
    assert wire.upload(Object.IDENTITY, 2) == PRODUCT_CODE


def test_rated_torque_is_that_of_the_rated_current(wire):
    current, torque = wire.upload(Object.RATED_CURRENT), wire.upload(Object.RATED_TORQUE)
    assert current == 6000
    assert torque == pytest.approx(current * load_servo("erob80_100").motor.torque_constant, rel=1e-3)


def test_aborts_say_what_is_wrong(wire):
    assert abort(wire.sdo(struct.pack("<BHBI", 0x40, 0x5555, 0, 0))) is Abort.NO_OBJECT
    assert abort(wire.sdo(struct.pack("<BHBI", 0x40, 0x1018, 9, 0))) is Abort.NO_SUBINDEX
    assert abort(wire.sdo(struct.pack("<BHBI", 0xC0, 0x1018, 0, 0))) is Abort.UNKNOWN_COMMAND
    assert wire.download(Object.RATED_TORQUE, 0, 1, 4) == Abort.READ_ONLY
    assert wire.download(Object.TARGET_TORQUE, 0, 1, 4) == Abort.TOO_LONG
    assert wire.download(Object.TARGET_POSITION, 0, 1, 2) == Abort.TOO_SHORT
    assert wire.download(Object.MODE_OF_OPERATION, 0, 3, 1) == Abort.OUT_OF_RANGE
    assert wire.download(Object.MAXIMUM_TORQUE, 0, 2001, 2) == Abort.TOO_HIGH


def test_torque_is_mapped_in_pre_op_and_travels_then(wire):
    wire.map_pdo(Object.RECEIVE_PDO, TORQUE_IN, CONTROL)
    wire.map_pdo(Object.TRANSMIT_PDO, TORQUE_OUT, STATUS)
    wire.safe_op(4, 4)
    (inputs,), counter = wire.exchange(bytes(4))
    assert (len(inputs), counter) == (4, 3)
    assert struct.unpack("<hH", inputs)[1] & 0x6F == 0x40


def test_the_old_size_is_refused_after_another_mapping(wire):
    wire.map_pdo(Object.RECEIVE_PDO, TORQUE_IN, CONTROL)
    wire.set_managers(10, 10)
    wire.request(SAFE_OP)
    assert wire.state()[0] == PRE_OP | 0x10


def test_mapping_has_rules(wire):
    pdo = Object.RECEIVE_PDO
    assert wire.download(pdo, 1, TORQUE_IN, 4) == Abort.COUNT_NOT_ZERO
    assert wire.download(pdo, 0, 0, 1) == 0
    assert wire.download(pdo, 1, TORQUE_OUT, 4) == Abort.NOT_MAPPABLE  # it is sent, not received
    assert wire.download(pdo, 1, 0x60710020, 4) == Abort.INCOMPATIBLE_PARAMETER
    assert wire.download(pdo, 1, 0x55550010, 4) == Abort.NO_OBJECT
    assert wire.download(pdo, 1, 0x00000008, 4) == 0  # a gap
    assert wire.download(pdo, 0, 17, 1) == Abort.TOO_HIGH
    assign = Object.RECEIVE_PDO_ASSIGN
    assert wire.download(assign, 0, 0, 1) == 0
    assert wire.download(assign, 1, 0x1A00, 2) == Abort.OUT_OF_RANGE


def test_mapping_is_refused_outside_pre_op():
    wire = Wire()
    wire.safe_op()
    assert wire.download(Object.TRANSMIT_PDO_ASSIGN, 0, 0, 1) == Abort.WRONG_STATE
    assert wire.download(Object.TRANSMIT_PDO, 0, 0, 1) == Abort.WRONG_STATE


def test_process_data_have_a_longest_size(wire):
    wire.map_pdo(Object.TRANSMIT_PDO, *[0x60640020] * 16)
    wire.map_pdo(Object.TRANSMIT_PDO + 1, *[0x60640020] * 16)
    wire.map_pdo(Object.TRANSMIT_PDO + 2, STATUS)
    assign = Object.TRANSMIT_PDO_ASSIGN
    assert wire.download(assign, 0, 0, 1) == 0
    for i in range(3):
        assert wire.download(assign, i + 1, Object.TRANSMIT_PDO + i, 2) == 0
    assert wire.download(assign, 0, 3, 1) == Abort.PDO_TOO_LONG
    assert wire.download(assign, 0, 2, 1) == 0


def test_a_fault_is_told_by_an_emergency_message(wire):
    wire.slave.drive.inject("overcurrent")
    message = wire.collect()
    assert message is not None
    service, code, register = struct.unpack_from("<HHB", message.content)
    assert (service >> 12, code, register & 1) == (1, 0x2310, 1)


def test_a_mute_slave_takes_requests_and_answers_none(wire):
    wire.slave.mute = True
    wire.post(REQUEST + struct.pack("<BHBI", 0x40, 0x1018, 1, 0))
    wire.wait(1000 * MS)
    assert wire.collect() is None
    wire.slave.mute = False
    assert wire.upload(Object.IDENTITY, 1) == VENDOR_ID


# the server alone

SIZE = 64


def dictionary(text: str = "") -> ObjectDictionary:
    made = ObjectDictionary()
    made.add(Entry(0x2000, 0, "text", DataType.VISIBLE_STRING, text=text))
    made.add(Entry(0x2001, 0, "number", DataType.UNSIGNED32, 5, Access.READ_WRITE))
    made.add(
        Entry(0x2002, 0, "Number of entries", DataType.UNSIGNED8, 40, Access.READ_WRITE, high=40),
        *(Entry(0x2002, i, f"{i}", DataType.UNSIGNED16, i, Access.READ_WRITE) for i in range(1, 41)),
        name="list",
    )
    return made


def ask(server: SdoServer, body: bytes) -> bytes:
    (answer,) = server.answer(REQUEST + body)
    return answer[2:]


def upload(server: SdoServer, index: int, complete: bool = False) -> bytes:
    """Read an object as a master does, whichever kind of transfer that takes."""
    answer = ask(server, struct.pack("<BHBI", 0x50 if complete else 0x40, index, 0, 0))
    if answer[0] & 2:
        return answer[4 : 8 - (answer[0] >> 2 & 3)]
    size = int.from_bytes(answer[4:8], "little")
    data, toggle = answer[8:], 0
    while len(data) < size:
        answer = ask(server, bytes((0x60 | toggle,)) + bytes(7))
        assert answer[0] & 0xF0 == toggle
        data += answer[1 : 8 - (answer[0] >> 1 & 7)] if len(answer) == 8 else answer[1:]
        assert bool(answer[0] & 1) == (len(data) == size)
        toggle ^= 0x10
    return data


@given(st.text(st.characters(codec="latin-1"), max_size=300))
def test_a_text_of_any_length_arrives_whole(text):
    assert upload(SdoServer(dictionary(text), SIZE), 0x2000) == text.encode("latin-1")


def test_every_message_fits_its_mailbox():
    server = SdoServer(dictionary("x" * 300), SIZE)
    answer = server.answer(REQUEST + struct.pack("<BHBI", 0x40, 0x2000, 0, 0))[0]
    assert len(answer) == SIZE
    assert len(server.answer(REQUEST + bytes((0x60,)) + bytes(7))[0]) == SIZE


def test_a_wrong_toggle_ends_a_segmented_transfer():
    server = SdoServer(dictionary("x" * 300), SIZE)
    ask(server, struct.pack("<BHBI", 0x40, 0x2000, 0, 0))
    assert abort(ask(server, bytes((0x70,)) + bytes(7))) is Abort.TOGGLE
    assert abort(ask(server, bytes((0x60,)) + bytes(7))) is Abort.UNKNOWN_COMMAND


def test_complete_access_reads_count_and_values_at_once():
    data = upload(SdoServer(dictionary(), SIZE), 0x2002, complete=True)
    assert data == struct.pack("<H40H", 40, *range(1, 41))
    answer = ask(SdoServer(dictionary(), SIZE), struct.pack("<BHBI", 0x50, 0x2000, 0, 0))
    assert abort(answer) is Abort.NO_COMPLETE_ACCESS


@pytest.mark.parametrize("count", [0, 3, 22, 40])
def test_complete_access_writes_over_as_many_segments_as_it_takes(count):
    objects = dictionary()
    server = SdoServer(objects, SIZE)
    data = struct.pack(f"<H{count}H", count, *range(100, 100 + count))
    room = SIZE - 10
    answer = ask(server, struct.pack("<BHBI", 0x31, 0x2002, 0, len(data)) + data[:room])
    assert answer[0] == 0x70
    rest, toggle = data[room:], 0
    while rest:
        part, rest = rest[: SIZE - 3], rest[SIZE - 3 :]
        command = toggle | (0 if rest else 1) | max(7 - len(part), 0) << 1
        assert ask(server, bytes((command,)) + part.ljust(7, b"\0"))[0] == 0x20 | toggle
        toggle ^= 0x10
    assert objects.entry(0x2002, 0).value == count
    assert [objects.entry(0x2002, i + 1).value for i in range(count)] == list(range(100, 100 + count))


def test_a_normal_download_of_a_number_counts_as_the_expedited_one():
    objects = dictionary()
    answer = ask(SdoServer(objects, SIZE), struct.pack("<BHBII", 0x21, 0x2001, 0, 4, 77))
    assert (answer[0], objects.entry(0x2001).value) == (0x60, 77)


def test_objects_describe_themselves():
    server = SdoServer(dictionary(), SIZE)

    def inform(operation: int, data: bytes) -> list[bytes]:
        return server.answer(struct.pack("<HBBH", 8 << 12, operation, 0, 0) + data)

    (listed,) = inform(1, struct.pack("<H", 1))
    assert struct.unpack_from("<HHHH", listed, 6) == (1, 0x2000, 0x2001, 0x2002)
    (described,) = inform(3, struct.pack("<H", 0x2002))
    assert struct.unpack_from("<HHBB", described, 6) == (0x2002, DataType.UNSIGNED8, 40, 9)
    assert described[12:] == b"list"
    (entry,) = inform(5, struct.pack("<HBB", 0x2001, 0, 7))
    assert entry[16:] == b"number"
    (error,) = inform(3, struct.pack("<H", 0x7777))
    assert error[2] == 7
    assert int.from_bytes(error[6:10], "little") == Abort.NO_OBJECT


def test_a_list_longer_than_a_mailbox_comes_in_parts():
    objects = dictionary()
    for i in range(100):
        objects.add(Entry(0x3000 + i, 0, "x", DataType.UNSIGNED8))
    parts = SdoServer(objects, SIZE).answer(struct.pack("<HBBHH", 8 << 12, 1, 0, 0, 1))
    assert len(parts) > 2
    assert [int.from_bytes(part[4:6], "little") for part in parts] == list(range(len(parts)))[::-1]
    data = b"".join(part[6:] for part in parts)
    assert struct.unpack(f"<{len(data) // 2}H", data)[1:] == tuple(objects)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.binary(max_size=80), max_size=6))
def test_any_message_gets_whole_answers_or_none(messages):
    server = SdoServer(dictionary("x" * 200), SIZE)
    for message in messages:
        assert all(2 <= len(answer) <= SIZE for answer in server.answer(message))


REQUESTS = st.tuples(st.integers(0, 255), st.sampled_from((0x2000, 0x2001, 0x2002)), st.binary(max_size=70))


@settings(max_examples=300, deadline=None)
@given(st.lists(REQUESTS, max_size=6))
def test_any_request_is_answered_by_one_response(requests):
    server = SdoServer(dictionary("x" * 200), SIZE)
    for command, index, data in requests:
        answer = ask(server, struct.pack("<BHB", command, index, 0) + data)
        assert len(answer) >= 8
        assert len(answer) <= SIZE - 2


def test_writes_that_are_refused_change_nothing():
    objects = dictionary()
    objects.add(Entry(0x2003, 0, "n", DataType.INTEGER8, 1, Access.READ_WRITE, low=0, high=3))
    for data in (b"\x04", b"\xff", b"\x01\x02", b""):
        with pytest.raises(SdoAbort):
            objects.write(0x2003, 0, data)
        assert objects.entry(0x2003).value == 1


def test_one_request_can_be_aborted_as_a_fault(wire):
    wire.slave.refused.number = wire.slave.refused.count + 2
    read = struct.pack("<BHBI", 0x40, Object.IDENTITY, 1, 0)
    assert wire.sdo(read)[0] != 0x80
    assert abort(wire.sdo(read)) is Abort.GENERAL
    assert wire.sdo(read)[0] != 0x80
