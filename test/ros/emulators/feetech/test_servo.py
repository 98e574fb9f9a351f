# SPDX-License-Identifier: Apache-2.0
"""The unmodified SDK of Feetech on emulated servos: instructions, the lock, byte orders, protection."""

from __future__ import annotations

import pytest
from scservo_sdk import COMM_RX_TIMEOUT, COMM_SUCCESS, GroupSyncRead, sms_sts
from scservo_sdk.scscl import scscl

from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.feetech.control_table import CONTROL_TABLES, control_table
from test.ros.feetech_helpers import client, feetech_bus

TABLE = control_table("sts3215")
CENTRE = 2048


@pytest.fixture
def bus():
    return feetech_bus()


@pytest.fixture
def sts(bus):
    return client(sms_sts, bus)


def write(handler, name: str, count: int, servo: int = 1) -> None:
    register = TABLE[name]
    data = list(register.encode(count))
    assert handler.writeTxRx(servo, register.address, len(data), data) == (COMM_SUCCESS, 0)


def read(handler, name: str, servo: int = 1) -> int:
    register = TABLE[name]
    data, result, _ = handler.readTxRx(servo, register.address, register.size)
    assert result == COMM_SUCCESS
    return register.decode(bytes(data))


@pytest.mark.parametrize("name", CONTROL_TABLES)
def test_ping_answers_with_the_model_number(name):
    handler = client(scscl if name == "scs0009" else sms_sts, feetech_bus(name))
    for servo in (1, 2):
        assert handler.ping(servo) == (CONTROL_TABLES[name].model_number, COMM_SUCCESS, 0)
    assert handler.ping(3)[1] == COMM_RX_TIMEOUT


def test_a_servo_of_another_baud_rate_does_not_answer(bus):
    assert client(sms_sts, bus, baud_rate=500_000).ping(1)[1] == COMM_RX_TIMEOUT


def test_the_arm_goes_to_the_goal_once_torque_is_on(sts):
    sts.WritePosEx(1, 2600, 0, 0)
    sts.portHandler.wait(0.5)
    assert sts.ReadPos(1)[0] == CENTRE
    write(sts, "torque_enable", 1)
    sts.portHandler.wait(1.5)
    assert sts.ReadPos(1)[0] == pytest.approx(2600, abs=25)


def test_speed_and_acceleration_limit_the_set_point(sts):
    write(sts, "torque_enable", 1)
    sts.WritePosEx(1, 3000, 400, 20)
    sts.portHandler.wait(0.1)
    assert 0 < sts.ReadSpeed(1)[0] < 300  # 20 · 8.7°/s² · 0.1 s is 198 counts/s
    sts.portHandler.wait(0.6)
    assert sts.ReadSpeed(1)[0] == pytest.approx(400, abs=70)


def test_a_registered_write_waits_for_the_action(sts):
    write(sts, "torque_enable", 1)
    sts.RegWritePosEx(1, 2600, 0, 0)
    sts.portHandler.wait(1.0)
    assert sts.ReadPos(1)[0] == CENTRE
    sts.RegAction()
    sts.portHandler.wait(1.5)
    assert sts.ReadPos(1)[0] > 2500


def test_sync_write_and_sync_read_reach_every_servo(sts):
    for servo in (1, 2):
        write(sts, "torque_enable", 1, servo)
        sts.SyncWritePosEx(servo, 2200 + 100 * servo, 0, 0)
    assert sts.groupSyncWrite.txPacket() == COMM_SUCCESS
    sts.portHandler.wait(1.5)
    group = GroupSyncRead(sts, 56, 4)
    for servo in (1, 2):
        group.addParam(servo)
    assert group.txRxPacket() == COMM_SUCCESS
    assert [group.getData(servo, 56, 2) for servo in (1, 2)] == [
        pytest.approx(2300, abs=20),
        pytest.approx(2400, abs=25),
    ]


def test_values_of_the_eeprom_last_where_the_lock_is_open(bus, sts):
    write(sts, "position_p_gain", 20)
    bus.servos[0].power_on(sts.portHandler.now)
    assert read(sts, "position_p_gain") == 32
    sts.unLockEprom(1)
    write(sts, "position_p_gain", 20)
    sts.LockEprom(1)
    bus.servos[0].power_on(sts.portHandler.now)
    assert read(sts, "position_p_gain") == 20


def test_a_servo_of_status_level_0_confirms_no_writes(sts):
    write(sts, "status_return_level", 0, 2)
    assert sts.write1ByteTxRx(2, TABLE["goal_acceleration"].address, 9)[0] == COMM_RX_TIMEOUT
    assert read(sts, "goal_acceleration", 2) == 9


def test_calibration_makes_the_present_position_the_middle(bus, sts):
    bus.servos[0].bench.place(0.5)
    assert sts.ReadPos(1)[0] == pytest.approx(CENTRE + 326, abs=1)
    write(sts, "torque_enable", 128)
    assert sts.ReadPos(1)[0] == CENTRE
    bus.servos[0].power_on(sts.portHandler.now)
    assert sts.ReadPos(1)[0] == pytest.approx(CENTRE, abs=1)


def test_a_negative_offset_has_bit_11_set(bus, sts):
    bus.servos[0].bench.place(-0.5)
    write(sts, "torque_enable", 128)
    assert read(sts, "homing_offset") == pytest.approx(0x800 + 326, abs=1)


def test_overload_leaves_the_holding_torque_until_another_goal(bus, sts):
    write(sts, "torque_limit", 1000)
    write(sts, "torque_enable", 1)
    servo = bus.servos[0]
    servo.inject("overload")
    sts.WritePosEx(1, CENTRE, 0, 0)  # the goal that it has
    assert sts.ping(1)[2] == 0x20
    servo.bench.place(1.0)
    sts.portHandler.wait(0.01)
    assert abs(read(sts, "present_load") & 0x3FF) == 200
    servo.repair()
    sts.WritePosEx(1, CENTRE - 1, 0, 0)
    assert sts.ping(1)[2] == 0


def test_what_overloads_a_servo_does_not_end_with_another_goal(bus, sts):
    """A driver whose every packet has another goal would not notice an overload otherwise."""
    write(sts, "torque_enable", 1)
    bus.servos[0].inject("overload")
    for goal in (CENTRE - 1, CENTRE - 2):
        sts.WritePosEx(1, goal, 0, 0)
        assert sts.ping(1)[2] == 0x20


def test_a_motor_that_is_held_is_overloaded_after_the_protection_time(bus, sts):
    write(sts, "protection_time", 30)
    write(sts, "torque_enable", 1)
    sts.WritePosEx(1, 3500, 0, 0)
    servo = bus.servos[0]
    for _ in range(100):
        servo.bench.place(0.0)
        sts.portHandler.wait(0.01)
    assert sts.ping(1)[2] & 0x20
    assert read(sts, "present_load") & 0x3FF <= 200


def test_heat_switches_torque_off(bus, sts):
    write(sts, "torque_enable", 1)
    bus.servos[0].inject("overheat")
    sts.portHandler.wait(0.1)
    assert read(sts, "torque_enable") == 0
    assert sts.ping(1)[2] == 0x04


def test_damping_holds_a_falling_arm_back(bus, sts):
    swings = []
    for torque in (0, 2):
        write(sts, "torque_enable", torque)
        bus.servos[0].bench.place(0.0, velocity=4.0)
        sts.portHandler.wait(0.05)
        swings.append(sts.ReadPos(1)[0] - CENTRE)
    assert swings[1] < 0.7 * swings[0]


def test_scs_servos_send_the_high_byte_first():
    bus = feetech_bus("scs0009")
    scs = client(scscl, bus)
    assert scs.ReadPos(1)[0] == 512
    swapped = client(sms_sts, bus)
    assert swapped.ReadPos(1)[0] == 2  # 0x0200 read as 0x0002


def test_the_current_of_an_hls_servo_is_that_of_its_goal():
    bus = feetech_bus("hls3930")
    servo, table = bus.servos[0], CONTROL_TABLES["hls3930"]
    load = table["present_load"]
    assert servo.registers.get("goal_current") == servo.registers.get("protection_current")
    hls = client(sms_sts, bus)

    def put(name: str, count: int) -> None:
        register = table[name]
        data = list(register.encode(count))
        assert hls.writeTxRx(1, register.address, len(data), data) == (COMM_SUCCESS, 0)

    put("operating_mode", 2)
    put("goal_current", 60)
    put("torque_enable", 1)
    servo.bench.place(0.0)
    hls.portHandler.wait(0.01)
    current = table["present_current"]
    assert hls.read2ByteTxRx(1, current.address)[0] == pytest.approx(60, abs=8)
    put("operating_mode", 3)  # its goal is a duty then
    put("goal_current", 0x400 | 150)
    hls.portHandler.wait(0.01)
    assert hls.read2ByteTxRx(1, load.address)[0] == 0x400 | 150


def test_the_duty_of_an_hls_servo_is_that_of_its_goal():
    servo, duties = feetech_bus("hls3930").servos[0], []
    for count in (300, 1024 + 300):  # sign and magnitude
        for name, value in (("operating_mode", 3), ("goal_current", count), ("torque_enable", 1)):
            servo.registers.set(name, value)
        servo._configure()
        assert servo.bench.commands[k.MODE] == k.DUTY_MODE
        duties.append(servo.bench.commands[k.GOAL_DUTY])
    assert abs(duties[0]) == pytest.approx(0.3)
    assert duties[1] == -duties[0]


def test_an_hls_servo_follows_positions_within_the_current_of_its_goal():
    bus = feetech_bus("hls3930")
    servo = bus.servos[0]
    hls = client(sms_sts, bus)
    hls.WritePosEx(1, 2600, 0, 0)
    servo.registers.set("goal_current", 511)
    hls.write1ByteTxRx(1, CONTROL_TABLES["hls3930"]["torque_enable"].address, 1)
    hls.portHandler.wait(1.5)
    assert hls.ReadPos(1)[0] == pytest.approx(2600, abs=60)
    servo.registers.set("goal_current", 0)
    servo._configure()
    hls.portHandler.wait(1.5)
    assert hls.ReadPos(1)[0] < 2450  # the load pulls it back
