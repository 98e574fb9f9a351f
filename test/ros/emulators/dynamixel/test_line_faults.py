# SPDX-License-Identifier: Apache-2.0
"""The line between client and servos: baud rates, ids, delays, faults, noise, clients that do not read."""

from __future__ import annotations

import time

import pytest
from dynamixel_sdk import (
    COMM_RX_CORRUPT,
    COMM_SUCCESS,
    PortHandler,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_ros.emulators.dynamixel import protocol1, protocol2
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus, build_servo
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.dynamixel.packets import Instruction, Packet
from bam_ros.emulators.dynamixel.pty_server import PtyServer
from test.ros.ros_helpers import wait_for
from test.ros.virtual_helpers import LOAD, Client, ServedBus, virtual_bus


@pytest.fixture(params=["mx106", "mx106_2"])
def generation(request):
    """One servo of each firmware generation."""
    with virtual_bus(request.param) as served:
        yield served


def test_a_servo_at_another_baud_rate_stays_silent(generation: ServedBus):
    client = generation.client
    client.port.setBaudRate(57600)
    assert client.silent(1)
    client.port.setBaudRate(1_000_000)
    assert client.handler.ping(client.port, 1)[1] == COMM_SUCCESS
    value = generation.table.baud_value(3_000_000)
    assert client.write("baud_rate", value) == 0
    assert client.silent(1)
    client.port.setBaudRate(3_000_000)
    assert client.handler.ping(client.port, 1)[1] == COMM_SUCCESS


def test_a_changed_id_holds_at_once(generation: ServedBus):
    client = generation.client
    assert client.write("id", 77) == 0
    assert client.silent(1)
    assert client.handler.ping(client.port, 77)[1] == COMM_SUCCESS


def test_both_generations_share_a_line():
    now = time.monotonic()
    servos = [
        build_servo(BusSetup(servo=name, ids=(i,)), 0, now) for i, name in ((1, "mx106"), (2, "mx106_2"))
    ]
    with PtyServer(VirtualBus(servos)) as server:
        for identifier, servo in enumerate(servos, start=1):
            client = Client(str(server.path), servo.table)
            assert client.handler.ping(client.port, identifier)[:2] == (
                servo.table.model_number,
                COMM_SUCCESS,
            )
            client.close()


def test_line_faults_lose_and_damage_replies():
    with virtual_bus("mx106", ids=(1,)) as served:
        client = served.client
        served.bus.faults.drop = 1.0
        assert client.silent(1)
        served.bus.faults.drop, served.bus.faults.corrupt = 0.0, 1.0
        with client.impatient():
            results = {client.handler.ping(client.port, 1)[1] for _ in range(10)}
        assert COMM_RX_CORRUPT in results
        served.bus.faults.corrupt = 0.0
        assert client.handler.ping(client.port, 1)[1] == COMM_SUCCESS


@pytest.mark.parametrize("servo", ["mx106", "mx106_2"])
@given(noise=st.lists(st.binary(min_size=1, max_size=120), min_size=1, max_size=5))
@settings(max_examples=15, deadline=None)
def test_noise_never_stops_the_server(servo, noise):
    with virtual_bus(servo, ids=(1,)) as served:
        for data in noise:
            served.client.port.writePort(data)
        wait_for(lambda: not served.client.silent(1))


@pytest.mark.parametrize("servo", ["mx106", "mx106_2"])
@given(
    instruction=st.sampled_from([*Instruction, 0x42]),
    parameters=st.binary(max_size=40),
    identifier=st.sampled_from([1, 2, 0xFE]),
)
@settings(max_examples=60, deadline=None)
def test_good_packets_with_nonsense_in_them_never_stop_the_bus(servo, instruction, parameters, identifier):
    bus = build_bus(BusSetup(servo=servo, ids=(1, 2), pendulum=LOAD), 0.0)
    codec = protocol1 if servo == "mx106" else protocol2
    bus.receive(codec.encode_instruction(Packet(identifier, instruction, parameters)), 0.01)
    bus.receive(codec.encode_instruction(Packet(1, Instruction.PING, b"")), 1.0)
    assert all(servo.bench.time == pytest.approx(1.0, abs=1e-3) for servo in bus.servos)


def test_return_delay_is_kept():
    with virtual_bus("mx106_2", ids=(1,)) as served:
        client = served.client
        client.write("return_delay_time", 254)
        start = time.perf_counter()
        for _ in range(20):
            client.read("led")
        assert (time.perf_counter() - start) / 20 > 254 * 2e-6


def test_wire_time_is_kept_when_asked_for():
    bus = build_bus(BusSetup(servo="mx106_2", baud_rate=57600), time.monotonic())
    with PtyServer(bus, wire_time=True) as server:
        client = Client(str(server.path), bus.servos[0].table, 57600)
        start = time.perf_counter()
        client.read("present_position")
        assert time.perf_counter() - start > (14 + 15) * 10 / 57600 + 500e-6  # bytes and return delay
        client.close()


def test_a_client_that_never_reads_does_not_block_the_server():
    with virtual_bus("mx106", ids=(1,)) as served:
        read = protocol1.encode_instruction(Packet(1, Instruction.READ, bytes((0, 74))))
        for _ in range(2000):  # whose answers are more than the line holds
            served.client.port.writePort(read)
        switch_on = Packet(1, Instruction.WRITE, bytes((served.table["torque_enable"].address, 1)))
        served.client.port.writePort(protocol1.encode_instruction(switch_on))
        wait_for(lambda: served.servo.torque_enabled)
        wait_for(lambda: drained(served.client.port))  # late answers are none to a ping
        wait_for(lambda: not served.client.silent(1))


def drained(port: PortHandler) -> bool:
    """Drop what has come, and tell whether nothing comes any more."""
    port.clearPort()
    time.sleep(0.1)
    return port.getBytesAvailable() == 0
