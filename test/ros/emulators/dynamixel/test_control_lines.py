# SPDX-License-Identifier: Apache-2.0
"""Lines that break and repair a virtual bus, as its own process obeys them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from dynamixel_sdk import COMM_SUCCESS

from bam_core.errors import BamError
from bam_ros.dynamixel.control_table import control_table
from bam_ros.emulators.dynamixel.builder import BusSetup, build_servo
from bam_ros.emulators.dynamixel.process import VirtualBusProcess
from test.ros.virtual_helpers import Client, virtual_bus


@pytest.fixture(scope="module")
def process() -> Iterator[VirtualBusProcess]:
    with VirtualBusProcess("mx106_2", (1, 2)) as process:
        yield process


def test_a_bus_that_is_plugged_again_is_there_under_the_same_name(process: VirtualBusProcess) -> None:
    for _ in range(2):
        client = Client(process.port, control_table("mx106_2"))
        assert client.handler.ping(client.port, 2)[1] == COMM_SUCCESS
        client.write("torque_enable", 1, 2)
        client.close()
        assert [servo["driven"] for servo in process.look()["servos"]] == [False, True]
        process.request("unplug")
        assert [servo["driven"] for servo in process.look()["servos"]] == [False, True]  # it has its supply
        process.request("plug")
    process.request("power_cycle 2")
    assert [servo["torque_enabled"] for servo in process.look()["servos"]] == [False, False]


def test_a_mistake_is_one_line(process: VirtualBusProcess) -> None:
    for line, words in (("jump", "command 'jump'"), ("double 7", "id"), ("faults nonsense", "nonsense")):
        with pytest.raises(BamError, match=words):
            process.request(line)


@pytest.mark.parametrize("servo", ["mx106", "mx106_2"])
def test_two_servos_with_one_id_are_heard_as_one_as_long_as_they_say_the_same(servo: str) -> None:
    with virtual_bus(servo) as served:
        setup = BusSetup(servo=servo, ids=(1, 2), seed=7)
        served.bus.double = build_servo(setup, 0, time.monotonic())
        assert served.client.handler.ping(served.client.port, 1)[1] == COMM_SUCCESS
        with served.server.lock:
            served.bus.double.registers.set("goal_position", 1234)
        register = served.table["goal_position"]
        read = getattr(served.client.handler, f"read{register.size}ByteTxRx")
        with served.client.impatient():
            value, result, _ = read(served.client.port, 1, register.address)
        assert result != COMM_SUCCESS or value not in (1234, served.servo.registers.get("goal_position"))
        served.client.port.clearPort()
        assert served.client.read("goal_position", 2) == served.bus.servos[1].registers.get("goal_position")
