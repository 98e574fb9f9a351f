# SPDX-License-Identifier: Apache-2.0
"""Unmodified pysoem against the virtual segment over a pair of interfaces."""

from __future__ import annotations

import struct
import time

import pysoem
import pytest

from bam_core.servo.model import load_servo
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.emulators.erob.state_machine import AlCode
from bam_ros.erob.objects import PRODUCT_CODE, VENDOR_ID
from test.ros.ros_helpers import PATIENCE
from test.ros.soem_cases import exchange, needs_network, opened, run_script, states, to_op, to_safe_op, until

pytestmark = needs_network
DEFAULT_OUTPUTS = struct.Struct("<iIH")
DEFAULT_INPUTS = struct.Struct("<iIH")


@pytest.fixture
def segment():
    with VirtualSegmentProcess(1) as started:
        yield started


@pytest.fixture(scope="module")
def shared():
    """One drive for the tests that leave it as they found it, but for faults."""
    with VirtualSegmentProcess(1) as started:
        yield started


@pytest.fixture
def repaired(shared):
    yield shared
    shared.faults()


@pytest.mark.parametrize("count", [2, *(pytest.param(count, marks=pytest.mark.long) for count in (1, 6))])
def test_slaves_are_scanned_configured_and_run_in_op_with_dc(count):
    with VirtualSegmentProcess(count) as segment, opened(segment) as master:
        to_op(master, count)
        assert {(s.man, s.id, s.name) for s in master.slaves} == {(VENDOR_ID, PRODUCT_CODE, "ZeroErr Driver")}
        assert [(len(s.output), len(s.input)) for s in master.slaves] == [(10, 10)] * count
        counters = [exchange(master) for _ in range(300)]
        assert master.expected_wkc == 3 * count
        assert set(counters) - {-1} == {3 * count}  # -1: too late on a busy machine
        truth = segment.look()["slaves"]
        assert {slave["al_state"] for slave in truth} == {"OP"}


@pytest.mark.long
def test_clocks_agree_after_a_while():
    with VirtualSegmentProcess(2) as segment, opened(segment) as master:
        to_op(master, 2)
        for _ in range(1500):
            exchange(master)
        difference = int.from_bytes(master.slaves[1]._fprd(0x092C, 4), "little") & 0x7FFFFFFF
        assert difference < 1000  # ns


@pytest.mark.long
def test_objects_are_read_and_written(segment):
    with opened(segment) as master:
        to_safe_op(master, 1)
        slave = master.slaves[0]
        assert [int.from_bytes(slave.sdo_read(0x1018, i), "little") for i in (1, 2)] == [
            VENDOR_ID, PRODUCT_CODE,
        ]  # fmt: skip
        assert int.from_bytes(slave.sdo_read(0x6076, 0), "little") == round(
            6000.0 * load_servo("erob80_100").motor.torque_constant
        )
        assert slave.sdo_read(0x1C13, 0) == b"\x01"
        assert slave.sdo_read(0x1C13, 1) == b"\x00\x1a"
        with pytest.raises(pysoem.SdoError) as caught:
            slave.sdo_write(0x6076, 0, bytes(4))
        assert caught.value.abort_code == 0x06010002
        with pytest.raises(pysoem.SdoError) as caught:
            slave.sdo_write(0x1C13, 0, b"\0")
        assert caught.value.abort_code == 0x08000022  # not in SAFE-OP
        slave.sdo_write(0x6072, 0, struct.pack("<H", 1500))
        assert slave.sdo_read(0x6072, 0) == struct.pack("<H", 1500)


@pytest.mark.long
def test_the_assignment_is_written_in_pre_op_one_by_one_and_at_once(segment):
    with opened(segment) as master:
        until(lambda: master.config_init() == 1, "finding the slave")
        slave = master.slaves[0]
        slave.state_check(pysoem.PREOP_STATE, 500_000)
        slave.sdo_write(0x1C13, 0, b"\0")
        slave.sdo_write(0x1C13, 1, struct.pack("<H", 0x1A00))
        slave.sdo_write(0x1C13, 0, b"\1")
        slave.sdo_write(0x1C13, 0, struct.pack("<HH", 1, 0x1A00), True)
        assert slave.sdo_read(0x1C13, 0, ca=True) == struct.pack("<HH", 1, 0x1A00)
        slave.sdo_write(0x1A00, 0, struct.pack("<HII", 2, 0x60770010, 0x60410010), True)
        assert slave.sdo_read(0x1A00, 0, ca=True) == struct.pack("<HII", 2, 0x60770010, 0x60410010)


def test_a_long_text_arrives_in_segments(repaired):
    with opened(repaired) as master:
        to_safe_op(master, 1)
        text = master.slaves[0].sdo_read(0x100A, 0)
        assert len(text) > 128
        assert text.startswith(b"Emulated eRob firmware")


def test_the_dictionary_is_listed_with_names(repaired):
    with opened(repaired) as master:
        to_safe_op(master, 1)
        objects = {item.index: item for item in master.slaves[0].od}
        assert {0x1018, 0x1600, 0x6040, 0x6071, 0x6502} <= set(objects)
        assert objects[0x6071].name == b"Target torque"
        assert [entry.name for entry in objects[0x1018].entries][1] == b"Vendor ID"


@pytest.mark.long
def test_torque_mode_is_mapped_and_moves_the_arm(segment):
    with opened(segment) as master:

        def remap(position: int) -> None:
            slave = master.slaves[position]
            for index, words in (
                (0x1600, (0x60710010, 0x60400010, 0x60600008, 0x00000008)),
                (0x1A00, (0x60640020, 0x60770010, 0x60410010)),
            ):
                slave.sdo_write(index, 0, b"\0")
                for i, word in enumerate(words, 1):
                    slave.sdo_write(index, i, struct.pack("<I", word))
                slave.sdo_write(index, 0, bytes((len(words),)))

        until(lambda: master.config_init() == 1, "finding the slave")
        slave = master.slaves[0]
        slave.config_func = remap
        master.config_map()
        assert (len(slave.output), len(slave.input)) == (6, 8)
        until(lambda: states(master) == {pysoem.SAFEOP_STATE}, "SAFE-OP")
        exchange(master)
        master.state = pysoem.OP_STATE
        master.write_state()
        until(lambda: exchange(master) > 0 and states(master) == {pysoem.OP_STATE}, "OP")

        def command(word: int, torque: int = 0) -> tuple[int, int, int]:
            slave.output = struct.pack("<hHbx", torque, word, 10)
            for _ in range(4):
                exchange(master)
            return struct.unpack("<ihH", slave.input)

        for word in (0x06, 0x07, 0x0F):
            command(word)
        assert command(0x0F)[2] & 0x6F == 0x27
        until(lambda: command(0x0F, 500)[0] > 5000, "the arm moving")
        assert command(0x0F, 500)[1] == 500
        assert segment.look()["slaves"][0]["current"] == pytest.approx(3.0)
        assert segment.look()["slaves"][0]["position"] > 0.05
        command(0x00)
        assert segment.look()["slaves"][0]["current"] == 0.0


@pytest.mark.long
def test_a_master_that_stops_is_noticed_by_the_watchdog(segment):
    with opened(segment) as master:
        to_op(master, 1)
        until(lambda: segment.look()["slaves"][0]["al_state"] == "SAFE_OP", "the watchdog")
        truth = segment.look()["slaves"][0]
        assert (truth["al_error"], truth["al_code"]) == (True, AlCode.WATCHDOG)
        master.read_state()
        slave = master.slaves[0]
        assert (slave.state, slave.al_status) == (0x14, 0x001B)
        slave.state = pysoem.SAFEOP_STATE + pysoem.STATE_ACK
        slave.write_state()
        until(lambda: states(master) == {pysoem.SAFEOP_STATE}, "SAFE-OP without the error")
        slave.state = pysoem.OP_STATE
        slave.write_state()
        until(lambda: exchange(master) > 0 and states(master) == {pysoem.OP_STATE}, "OP again")


def test_a_killed_master_leaves_a_drive_without_torque(segment):
    process = run_script("soem_driving.py", segment.interface)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "driving\n", process.communicate(timeout=PATIENCE)
        assert segment.look()["slaves"][0]["torque_enabled"]
        assert segment.look()["slaves"][0]["current"] > 1.0
    finally:
        process.kill()
        process.communicate()
    until(lambda: not segment.look()["slaves"][0]["torque_enabled"], "torque off")
    truth = segment.look()["slaves"][0]
    assert (truth["power_state"], truth["error_code"], truth["current"]) == ("FAULT", 0x8180, 0.0)


@pytest.mark.long
def test_a_drive_fault_is_told_and_reset(segment):
    emergencies = []
    with opened(segment) as master:
        to_op(master, 1)
        slave = master.slaves[0]
        slave.add_emergency_callback(emergencies.append)

        def command(word: int) -> int:
            slave.output = DEFAULT_OUTPUTS.pack(0, 0, word)
            for _ in range(4):
                exchange(master)
            return DEFAULT_INPUTS.unpack(slave.input)[2] & 0x6F

        assert [command(word) for word in (0x06, 0x07, 0x0F)] == [0x21, 0x23, 0x27]
        segment.faults("overcurrent@1")
        until(lambda: command(0x0F) & 0x4F == 0x08, "the fault")

        def told() -> bool:
            slave.mbx_receive()
            return any(emergency.error_code == 0x2310 for emergency in emergencies)

        until(told, "the emergency message")
        exchange(master)
        assert int.from_bytes(slave.sdo_read(0x603F, 0), "little") == 0x2310
        command(0x00)
        assert command(0x80) == 0x40
        assert [command(word) for word in (0x06, 0x07, 0x0F)] == [0x21, 0x23, 0x27]


def test_frames_that_get_lost_late_or_damaged_are_missed_by_the_master(repaired):
    with opened(repaired) as master:
        to_op(master, 1, dc=False)
        for fault in ("drop=0.3", "corrupt=0.3", "garble=0.5", "delay=0.005"):
            repaired.faults(fault)
            until(lambda: exchange(master, 2000) == -1, f"a frame is missed: {fault}")
        repaired.faults()
        until(lambda: all(exchange(master) == 3 for _ in range(20)), "all in order again")
        assert repaired.look()["lost"] > 0


def test_overtaken_frames_come_back_in_another_order(repaired):
    with opened(repaired) as master:
        to_op(master, 1, dc=False)
        repaired.faults("reorder=0.5")
        counters = []
        for _ in range(100):
            master.send_processdata()
            time.sleep(0.0005)
            master.send_processdata()
            counters.append(master.receive_processdata(8000))
        assert counters.count(-1) < 100
        repaired.faults()
        until(lambda: all(exchange(master) == 3 for _ in range(20)), "all in order again")


@pytest.mark.long
def test_a_slave_that_is_gone_lowers_the_counter_and_is_found_again():
    with VirtualSegmentProcess(2) as segment, opened(segment) as master:
        to_op(master, 2, dc=False)
        segment.faults("lost@2")
        until(lambda: exchange(master) == 3, "the counter of one slave")
        segment.faults()
        until(lambda: master.slaves[1].recover() > 0, "finding it again")
        until(lambda: master.slaves[1].reconfig() >= pysoem.SAFEOP_STATE, "SAFE-OP")


def test_a_slave_that_is_stuck_says_why(repaired):
    with opened(repaired) as master:
        to_op(master, 1, dc=False)
        repaired.faults("safe_op@1")
        until(lambda: exchange(master) > 0 and states(master) == {0x14}, "the fall")
        assert master.slaves[0].al_status == AlCode.SYNCHRONISATION_ERROR


def test_a_mailbox_without_answers_times_out_and_leaves_process_data_alone(repaired):
    with opened(repaired) as master:
        to_op(master, 1, dc=False)
        master.sdo_read_timeout = 100_000  # µs: shorter than the watchdog
        repaired.faults("sdo_timeout@1")
        exchange(master)
        with pytest.raises((pysoem.SdoError, pysoem.WkcError, pysoem.MailboxError, pysoem.PacketError)):
            master.slaves[0].sdo_read(0x1018, 1)
        assert max(exchange(master) for _ in range(10)) == 3


@pytest.mark.long
def test_a_counter_that_is_off_by_one_is_seen(repaired):
    with opened(repaired) as master:
        to_op(master, 1, dc=False)
        repaired.faults("wkc@1")
        until(lambda: exchange(master) == 2, "the wrong counter")
