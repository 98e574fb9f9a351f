# SPDX-License-Identifier: Apache-2.0
"""Servos of one protocol answer in one packet where they can, and each for itself where one is missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.servo_bus import BusTimeout, ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.emulators.dynamixel.packets import Instruction, Reply
from bam_ros.emulators.dynamixel.protocol2 import Parser
from test.ros.ros_helpers import CALM, VirtualServos

MakeVirtual = Callable[..., VirtualServos]
JOINTS = ("a", "b", "c")
OFF = ServoGoal.released(3)
NO_LOAD = PendulumBench(mass=1e-3, length=0.1)  # friction holds it where it is placed


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> Callable[[VirtualServos], list[Instruction]]:
    """Listens on a bus: the instructions that reach it from now on."""

    def listen(virtual: VirtualServos) -> list[Instruction]:
        instructions: list[Instruction] = []
        parser, receive = Parser(), virtual.bus.receive

        def note(data: bytes, now: float, baud_rate: int | None = None) -> list[Reply]:
            instructions.extend(Instruction(packet.instruction) for packet in parser.feed(data))
            return receive(data, now, baud_rate)

        monkeypatch.setattr(virtual.bus, "receive", note)
        return instructions

    return listen


@pytest.fixture
def opened() -> Iterator[Callable[[VirtualServos], DynamixelBus]]:
    buses = []

    def make(virtual: VirtualServos) -> DynamixelBus:
        patient = {**CALM, "joints": JOINTS, "ids": (1, 2, 3)}
        bus = DynamixelBus(DynamixelSettings(port=virtual.path, baud_rate=1_000_000, **patient))  # type: ignore[arg-type]
        buses.append(bus)
        bus.open()
        return bus

    yield make
    for bus in buses:
        bus.close()


@pytest.mark.parametrize(
    ("servos", "instruction"),
    [
        ("xm430_w350", Instruction.FAST_SYNC_READ),
        ("xl330,xm430_w350,xl430_w250", Instruction.FAST_BULK_READ),
        ("xm430_w350,mx64_2,xm430_w350", Instruction.SYNC_READ),  # an MX(2.0) knows no fast reads
        ("xl320,xm430_w350,xl330", Instruction.BULK_READ),
    ],
)
def test_servos_are_read_with_the_shortest_packets_they_know(
    servos: str,
    instruction: Instruction,
    virtual_servos: MakeVirtual,
    heard: Callable[[VirtualServos], list[Instruction]],
    opened: Callable[[VirtualServos], DynamixelBus],
) -> None:
    virtual = virtual_servos(servo=servos, ids=(1, 2, 3), pendulum=NO_LOAD)
    for place, servo in enumerate(virtual.bus.servos):
        servo.bench.place(0.1 * place)
    bus = opened(virtual)
    instructions = heard(virtual)
    sample = bus.exchange(OFF)
    assert sample.position == pytest.approx((0.0, 0.1, 0.2), abs=0.01)
    assert sample.read_after == ()
    assert instruction in instructions


def test_an_older_firmware_is_read_without_fast_packets(
    virtual_servos: MakeVirtual,
    heard: Callable[[VirtualServos], list[Instruction]],
    opened: Callable[[VirtualServos], DynamixelBus],
) -> None:
    virtual = virtual_servos(servo="xm430_w350", ids=(1, 2, 3))
    old = virtual.bus.servos[1]
    old.table = replace(old.table, fast_read=False)
    bus = opened(virtual)
    instructions = heard(virtual)
    assert len(bus.exchange(OFF).position) == 3
    assert Instruction.SYNC_READ in instructions
    assert Instruction.FAST_SYNC_READ not in instructions


def test_a_servo_that_is_missing_in_the_one_packet_is_named_by_the_next_read(
    virtual_servos: MakeVirtual,
    heard: Callable[[VirtualServos], list[Instruction]],
    opened: Callable[[VirtualServos], DynamixelBus],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    virtual = virtual_servos(servo="xm430_w350", ids=(1, 2, 3))
    bus = opened(virtual)
    monkeypatch.setattr("dynamixel_sdk.port_handler.LATENCY_TIMER", 16)
    gone = virtual.bus.servos[1]
    monkeypatch.setattr(gone, "awake", lambda now: False)
    things = []
    for _ in range(2):
        with pytest.raises(BusTimeout) as lost:
            bus.exchange(OFF)
        things.append(lost.value.thing)
    assert things == ["ids 1, 2, 3", "id 2"]
    monkeypatch.undo()
    assert len(bus.exchange(OFF).position) == 3
    instructions = heard(virtual)
    bus.exchange(OFF)
    assert Instruction.FAST_SYNC_READ in instructions
