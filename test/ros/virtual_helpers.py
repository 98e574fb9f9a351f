# SPDX-License-Identifier: Apache-2.0
"""Virtual servos for tests: with the unmodified `dynamixel_sdk` on a terminal, or on an explicit clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from dynamixel_sdk import COMM_RX_TIMEOUT, COMM_SUCCESS, PacketHandler, PortHandler, port_handler

from bam_core.servo.pendulum import PendulumBench
from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus, build_servo
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.dynamixel.packets import Complaint, Instruction, Packet, Refused
from bam_ros.emulators.dynamixel.pty_server import PtyServer
from bam_ros.emulators.dynamixel.servo import VirtualServo

_PATIENT, _IMPATIENT = 500, 16
# The SDK waits for twice this many ms; a busy machine can hold the emulator back for longer than its own 16.
# It is a constant of the SDK's module: whoever raises it puts it back, for the tests that come after.

LOAD = PendulumBench(mass=0.3, arm_mass=0.02, length=0.1)
LIGHT = PendulumBench(mass=0.05, length=0.1)


class Client:
    """The SDK, with register names instead of addresses.

    The packet handler of one protocol is `handler`, its port `port`; methods assert success of the
    communication and return the SDK's error byte where there is one.
    """

    def __init__(self, path: str, table: ControlTable, baud_rate: int = 1_000_000) -> None:
        self.table = table
        port_handler.LATENCY_TIMER = _PATIENT
        self.port = PortHandler(path)
        assert self.port.openPort()
        assert self.port.setBaudRate(baud_rate)
        self.handler = PacketHandler(float(table.protocol))

    def read(self, name: str, identifier: int = 1) -> int:
        register = self.table[name]
        read = getattr(self.handler, f"read{register.size}ByteTxRx")
        value, result, error = read(self.port, identifier, register.address)
        assert result == COMM_SUCCESS, self.handler.getTxRxResult(result)
        assert error & 0x7F == 0 or self.table.protocol == 1, self.handler.getRxPacketError(error)
        return register.decode(value.to_bytes(register.size, "little"))

    def write(self, name: str, value: int, identifier: int = 1) -> int:
        """Write a register and return the error byte."""
        register = self.table[name]
        write = getattr(self.handler, f"write{register.size}ByteTxRx")
        count = int.from_bytes(register.encode(value), "little")
        result, error = write(self.port, identifier, register.address, count)
        assert result == COMM_SUCCESS, self.handler.getTxRxResult(result)
        return error

    @contextmanager
    def impatient(self) -> Iterator[None]:
        """Wait as short as the SDK does by default, where silence is expected."""
        port_handler.LATENCY_TIMER = _IMPATIENT
        try:
            yield
        finally:
            port_handler.LATENCY_TIMER = _PATIENT

    def silent(self, identifier: int) -> bool:
        """Tell whether nobody answers a ping."""
        with self.impatient():
            return self.handler.ping(self.port, identifier)[1] == COMM_RX_TIMEOUT

    def close(self) -> None:
        self.port.closePort()
        port_handler.LATENCY_TIMER = _IMPATIENT


class ServedBus:
    """Bus, server and client of one test."""

    def __init__(self, bus: VirtualBus, server: PtyServer, client: Client) -> None:
        self.bus = bus
        self.server = server
        self.client = client

    @property
    def servo(self):
        return self.bus.servos[0]

    @property
    def table(self) -> ControlTable:
        return self.client.table


@contextmanager
def virtual_bus(servo: str, ids: tuple[int, ...] = (1, 2), **setup) -> Iterator[ServedBus]:
    """Serve a bus on a pseudo-terminal and connect the SDK to it."""
    bus = build_bus(BusSetup(servo=servo, ids=ids, pendulum=LOAD, **setup), time.monotonic())
    with PtyServer(bus) as server:
        client = Client(str(server.path), bus.servos[0].table)
        try:
            for identifier in ids:
                client.write("return_delay_time", 0, identifier)
            yield ServedBus(bus, server, client)
        finally:
            client.close()


def make(name: str = "mx106_2", load: PendulumBench = LOAD, seed: int = 0) -> VirtualServo:
    return build_servo(BusSetup(servo=name, pendulum=load, seed=seed), 0, 0.0)


class Clock:
    """A servo and its time; `heard` as if a client talked all the while."""

    def __init__(self, servo: VirtualServo) -> None:
        self.servo = servo
        self.now = 0.0

    def run(self, seconds: float, heard: bool = True) -> None:
        end = self.now + seconds
        while self.now < end:
            self.now = min(self.now + 0.01, end)
            self.servo.update(self.now)
            if heard:
                self.servo.heard(self.now)

    def write(self, **values: int) -> None:
        for name, value in values.items():
            register = self.servo.table[name]
            self.servo.write(register.address, register.encode(value), self.now)

    def refused(self, **values: int) -> Complaint:
        with pytest.raises(Refused) as caught:
            self.write(**values)
        return caught.value.complaint

    def read(self, name: str) -> int:
        register = self.servo.table[name]
        return register.decode(self.servo.read(register.address, register.size, self.now))

    def si(self, name: str) -> float:
        return self.servo.table[name].to_si(self.read(name))

    def answer(self, instruction: Instruction, parameters: bytes = b""):
        return self.servo.answer(Packet(self.servo.id, instruction, parameters), self.now)
