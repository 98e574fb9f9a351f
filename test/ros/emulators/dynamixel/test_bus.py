# SPDX-License-Identifier: Apache-2.0
"""The unmodified `dynamixel_sdk` on the pseudo-terminal: every instruction, both protocols, all tables."""

from __future__ import annotations

from contextlib import nullcontext

import pytest
from dynamixel_sdk import (
    COMM_RX_TIMEOUT,
    COMM_SUCCESS,
    GroupBulkRead,
    GroupBulkWrite,
    GroupSyncRead,
    GroupSyncWrite,
)

from bam_ros.emulators.dynamixel import protocol2
from bam_ros.emulators.dynamixel.packets import Instruction, Packet
from test.ros.ros_helpers import wait_for
from test.ros.virtual_helpers import ServedBus, virtual_bus

PROTOCOL1, PROTOCOL2 = ("mx64", "mx106"), ("mx64_2", "mx106_2", "xl330")


@pytest.fixture(params=[*PROTOCOL1, *PROTOCOL2, "xm430_w350"])
def served(request):
    with virtual_bus(request.param) as served:
        yield served


@pytest.fixture(params=["mx106", "mx106_2"])
def generation(request):
    """One servo of each firmware generation."""
    with virtual_bus(request.param) as served:
        yield served


@pytest.fixture
def modern():
    """A servo with Protocol 2.0."""
    with virtual_bus("xl330") as served:
        yield served


def test_ping_answers_with_the_model_number(served: ServedBus):
    for identifier in (1, 2):
        assert served.client.handler.ping(served.client.port, identifier) == (
            served.table.model_number,
            COMM_SUCCESS,
            0,
        )
    assert served.client.silent(3)


def test_broadcast_ping_finds_every_servo(modern: ServedBus):
    found, result = modern.client.handler.broadcastPing(modern.client.port)
    assert result == COMM_SUCCESS
    assert found == {1: [1200, 51], 2: [1200, 51]}


def test_factory_values_are_those_of_the_manual(served: ServedBus):
    for register in served.table.registers:
        if register.initial is not None and register.name not in ("id", "baud_rate", "return_delay_time"):
            measured = register.name in ("present_current", "realtime_tick")
            if not measured and register.name != "torque_limit":
                assert served.client.read(register.name) == register.initial, register.name


def test_every_size_of_register_is_written_and_read(served: ServedBus):
    client = served.client
    low = 100
    names = {
        1: "led",
        2: "goal_position" if served.table.protocol == 1 else "position_p_gain",
        4: "goal_position",
    }
    for size, name in names.items():
        if served.table[name].size == size:
            value = 1 if size == 1 else low + size
            assert client.write(name, value) == 0
            assert client.read(name) == value
            assert client.read(name, 2) != value


def test_registered_write_waits_for_action(generation: ServedBus):
    client, table = generation.client, generation.table
    goal = table["goal_position"]
    before = client.read("goal_position")
    data = list(goal.encode(before + 55))
    result, error = client.handler.regWriteTxRx(client.port, 1, goal.address, goal.size, data)
    assert (result, error) == (COMM_SUCCESS, 0)
    assert client.read("registered_instruction") == 1
    assert client.read("goal_position") == before
    client.handler.action(client.port, 0xFE)
    assert client.read("goal_position") == before + 55
    assert client.read("registered_instruction") == 0


def test_sync_write_reaches_every_servo(served: ServedBus):
    client, goal = served.client, served.table["goal_position"]
    group = GroupSyncWrite(client.port, client.handler, goal.address, goal.size)
    for identifier, count in ((1, 2000), (2, 2100)):
        assert group.addParam(identifier, goal.encode(count))
    assert group.txPacket() == COMM_SUCCESS
    assert [client.read("goal_position", identifier) for identifier in (1, 2)] == [2000, 2100]


@pytest.mark.parametrize("servo", PROTOCOL2)
def test_sync_read_and_fast_sync_read_agree(servo):
    with virtual_bus(servo) as served:
        client, position = served.client, served.table["present_position"]
        group = GroupSyncRead(client.port, client.handler, position.address, position.size)
        for identifier in (1, 2):
            assert group.addParam(identifier)
        assert group.txRxPacket() == COMM_SUCCESS
        assert [group.getData(i, position.address, position.size) for i in (1, 2)] == [2048, 2048]
        assert group.fastSyncRead() == (COMM_SUCCESS if served.table.fast_read else COMM_RX_TIMEOUT)
        if served.table.fast_read:
            assert [group.getData(i, position.address, position.size) for i in (1, 2)] == [2048, 2048]


@pytest.mark.parametrize("servo", PROTOCOL2)
def test_bulk_read_and_fast_bulk_read_take_different_blocks_of_different_servos(servo):
    with virtual_bus(servo) as served:
        client, table = served.client, served.table
        group = GroupBulkRead(client.port, client.handler)
        voltage, position = table["present_input_voltage"], table["present_position"]
        assert group.addParam(1, voltage.address, voltage.size)
        assert group.addParam(2, position.address, position.size)
        for read in (group.txRxPacket, group.fastBulkRead):
            if read == group.fastBulkRead and not served.table.fast_read:
                assert read() == COMM_RX_TIMEOUT
                continue
            assert read() == COMM_SUCCESS
            supply = group.getData(1, voltage.address, voltage.size) * 0.1
            assert supply == pytest.approx(served.servo.bench.hidden.supply_voltage, abs=0.1)
            assert group.getData(2, position.address, position.size) == 2048


@pytest.mark.parametrize("servo", PROTOCOL1)
def test_bulk_read_of_protocol_1_takes_different_blocks_of_different_servos(servo):
    # Without GroupBulkRead: that of SDK 4.1.0 passes an argument too many to its Protocol 1.0 handler.
    with virtual_bus(servo) as served:
        client, table = served.client, served.table
        voltage, position = table["present_input_voltage"], table["present_position"]
        wanted = [voltage.size, 1, voltage.address, position.size, 2, position.address]
        assert client.handler.bulkReadTx(client.port, wanted, len(wanted)) == COMM_SUCCESS
        (supply,), result, error = client.handler.readRx(client.port, 1, voltage.size)
        assert (result, error) == (COMM_SUCCESS, 0)
        assert supply * 0.1 == pytest.approx(served.servo.bench.hidden.supply_voltage, abs=0.1)
        data, result, error = client.handler.readRx(client.port, 2, position.size)
        assert (result, error) == (COMM_SUCCESS, 0)
        assert position.decode(bytes(data)) == 2048


def test_bulk_write_takes_different_blocks_of_different_servos(modern: ServedBus):
    client, table = modern.client, modern.table
    group = GroupBulkWrite(client.port, client.handler)
    gain, goal = table["position_p_gain"], table["goal_position"]
    assert group.addParam(1, gain.address, gain.size, gain.encode(640))
    assert group.addParam(2, goal.address, goal.size, goal.encode(2222))
    assert group.txPacket() == COMM_SUCCESS
    assert client.read("position_p_gain", 1) == 640
    assert client.read("goal_position", 2) == 2222


def test_a_missing_servo_silences_those_behind_it(modern: ServedBus):
    client, position = modern.client, modern.table["present_position"]
    group = GroupSyncRead(client.port, client.handler, position.address, position.size)
    for identifier in (1, 7, 2):
        group.addParam(identifier)
    with client.impatient():
        assert group.txRxPacket() == COMM_RX_TIMEOUT


def test_reboot_restores_ram_and_keeps_eeprom(modern: ServedBus):
    client = modern.client
    client.write("position_p_gain", 640)
    client.write("temperature_limit", 65)
    client.write("torque_enable", 1)
    result, error = client.handler.reboot(client.port, 1)
    assert (result, error) == (COMM_SUCCESS, 0)
    wait_for(lambda: not client.silent(1), 2.0)
    assert client.read("position_p_gain") == 400
    assert client.read("temperature_limit") == 65
    assert client.read("torque_enable") == 0


@pytest.mark.parametrize(
    ("option", "identifier", "baud_rate"), [(0xFF, 1, 57600), (0x01, 2, 57600), (0x02, 2, 1_000_000)]
)
def test_factory_reset_keeps_what_its_option_says(modern: ServedBus, option, identifier, baud_rate):
    client = modern.client
    client.write("temperature_limit", 65, 2)
    client.write("id", 9, 1)  # out of the way of the one that is reset
    assert client.handler.factoryReset(client.port, 2, option) == (COMM_SUCCESS, 0)
    client.port.setBaudRate(baud_rate)
    wait_for(lambda: not client.silent(identifier), 2.0)
    assert client.read("temperature_limit", identifier) == 70


def test_factory_reset_of_protocol_1_restores_id_and_baud_rate():
    with virtual_bus("mx64", ids=(5,)) as served:
        client = served.client
        client.write("position_p_gain", 12, 5)
        assert client.handler.factoryReset(client.port, 5) == (COMM_SUCCESS, 0)
        client.port.setBaudRate(57600)
        assert client.handler.ping(client.port, 1)[:2] == (310, COMM_SUCCESS)
        assert client.read("position_p_gain") == 32


@pytest.mark.parametrize("level", [0, 1, 2])
def test_status_return_level_decides_who_is_answered(generation: ServedBus, level):
    client, table = generation.client, generation.table
    client.write("status_return_level", level)
    address = table["led"].address
    handler, port = client.handler, client.port
    assert generation.servo.registers.get("status_return_level") == level
    with client.impatient() if level < 1 else nullcontext():
        read = handler.read1ByteTxRx(port, 1, address)[1]
    with client.impatient() if level < 2 else nullcontext():
        written = handler.write1ByteTxRx(port, 1, address, 1)[0]
    assert read == (COMM_SUCCESS if level else COMM_RX_TIMEOUT)
    assert written == (COMM_SUCCESS if level == 2 else COMM_RX_TIMEOUT)
    wait_for(lambda: generation.servo.registers.get("led") == 1, 2.0)
    if table.protocol == 2:  # the SDK's ping of Protocol 1.0 reads the model number, too
        assert handler.ping(port, 1)[1] == COMM_SUCCESS


def test_eeprom_is_locked_while_torque_is_on(served: ServedBus):
    client = served.client
    assert client.write("torque_enable", 1) == 0
    assert client.write("temperature_limit", 60) == (7 if served.table.protocol == 2 else 0x08)
    assert client.read("temperature_limit") == served.table["temperature_limit"].initial
    assert client.write("torque_enable", 0) == 0
    assert client.write("temperature_limit", 60) == 0


@pytest.mark.parametrize("servo", PROTOCOL1)
def test_error_bits_of_protocol_1(servo):
    with virtual_bus(servo, ids=(1,)) as served:
        client, handler, port = served.client, served.client.handler, served.client.port
        client.write("max_position_limit", 3000)
        assert client.write("goal_position", 3500) == 0x02  # angle limit
        assert client.write("position_p_gain", 255) == 0x08  # range
        assert client.write("present_position", 1) == 0x08  # read-only
        assert handler.txRxPacket(port, [0, 0, 1, 2, 0x42, 0])[2] == 0x40  # unknown instruction
        assert handler.txRxPacket(port, [0, 0, 1, 2, Instruction.ACTION, 0])[2] == 0x40  # nothing registered
        port.writePort(b"\xff\xff\x01\x02\x01\x00")
        port.setPacketTimeout(6)
        assert handler.rxPacket(port)[0][4] == 0x10  # checksum


@pytest.mark.parametrize("servo", PROTOCOL2)
def test_error_numbers_of_protocol_2(servo):
    with virtual_bus(servo, ids=(1,)) as served:
        client, handler, port, table = (
            served.client,
            served.client.handler,
            served.client.port,
            served.table,
        )
        client.write("max_position_limit", 3000)
        goal = table["goal_position"]
        assert handler.txRxPacket(port, [0, 0, 0, 0, 1, 3, 0, 0x42, 0, 0])[2] == 2  # unknown instruction
        assert handler.txRxPacket(port, [0, 0, 0, 0, 1, 3, 0, 0x01, 0, 0])[2] == 0
        assert client.write("position_p_gain", 16384) == 4  # range
        assert handler.write2ByteTxRx(port, 1, goal.address, 100)[1] == 5  # half a register
        assert client.write("goal_position", 3500) == 6  # limit
        assert client.write("goal_pwm", 900) == 6
        assert client.write("present_position", 1) == 7  # read-only
        assert handler.write1ByteTxRx(port, 1, 57, 1)[1] == 7  # nothing there
        assert handler.readTxRx(port, 1, table.size, 1)[2] == 7
        packet = bytearray(protocol2.encode_instruction(Packet(1, Instruction.PING, b"")))
        packet[-1] ^= 1
        port.writePort(bytes(packet))
        port.setPacketTimeout(11)
        assert handler.rxPacket(port, False)[0][8] == 3  # CRC


@pytest.mark.parametrize("servo", PROTOCOL2)
def test_action_without_a_registered_write_is_an_instruction_error(servo):
    with virtual_bus(servo, ids=(1,)) as served:
        served.client.port.writePort(protocol2.encode_instruction(Packet(1, Instruction.ACTION, b"")))
        served.client.port.setPacketTimeout(11)
        assert served.client.handler.rxPacket(served.client.port, False)[0][8] == 2


def test_parameters_that_look_like_a_header_survive(modern: ServedBus):
    client = modern.client
    data = [0xFF, 0xFF, 0xFD, 0x00, 0xFF, 0xFF, 0xFD, 0x01]
    start = modern.table["indirect_data_1"].address
    result, error = client.handler.writeTxRx(client.port, 1, start, len(data), data)
    assert (result, error) == (COMM_SUCCESS, 0)
    assert client.handler.readTxRx(client.port, 1, start, len(data)) == (data, COMM_SUCCESS, 0)


def test_indirect_data_read_and_write_other_registers(modern: ServedBus):
    client, table = modern.client, modern.table
    for i, address in enumerate((*range(132, 136), 146, 116, 117, 118, 119), start=1):
        assert client.write(f"indirect_address_{i}", address) == 0
    data = table["indirect_data_1"].address
    values, result, error = client.handler.readTxRx(client.port, 1, data, 5)
    assert (result, error) == (COMM_SUCCESS, 0)
    assert int.from_bytes(bytes(values[:4]), "little") == 2048
    assert 20 <= values[4] <= 35
    assert client.handler.write4ByteTxRx(client.port, 1, data + 5, 2345) == (COMM_SUCCESS, 0)
    assert client.read("goal_position") == 2345
