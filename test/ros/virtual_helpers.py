# SPDX-License-Identifier: Apache-2.0
"""A virtual bus on a pseudo-terminal and the unmodified `dynamixel_sdk` at its other end."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from dynamixel_sdk import COMM_RX_TIMEOUT, COMM_SUCCESS, PacketHandler, PortHandler, port_handler

from bam_core.pendulum import PendulumBench
from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.virtual.builder import BusSetup, build_bus
from bam_ros.dynamixel.virtual.bus import VirtualBus
from bam_ros.dynamixel.virtual.pty_server import PtyServer

_PATIENT, _IMPATIENT = 500, 16
# The SDK waits for twice this many ms; a busy machine can hold the emulator back for longer than its own 16.
port_handler.LATENCY_TIMER = _PATIENT

LOAD = PendulumBench(mass=0.3, arm_mass=0.02, length=0.1)


class Client:
    """The SDK, with register names instead of addresses.

    The packet handler of one protocol is `handler`, its port `port`; methods assert success of the
    communication and return the SDK's error byte where there is one.
    """

    def __init__(self, path: str, table: ControlTable, baud_rate: int = 1_000_000) -> None:
        self.table = table
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


class Rig:
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
def virtual_rig(servo: str, ids: tuple[int, ...] = (1, 2), **setup) -> Iterator[Rig]:
    """Serve a bus on a pseudo-terminal and connect the SDK to it."""
    bus = build_bus(BusSetup(servo=servo, ids=ids, pendulum=LOAD, **setup), time.monotonic())
    with PtyServer(bus) as server:
        client = Client(str(server.path), bus.servos[0].table)
        try:
            for identifier in ids:
                client.write("return_delay_time", 0, identifier)
            yield Rig(bus, server, client)
        finally:
            client.close()
