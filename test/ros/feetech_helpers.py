# SPDX-License-Identifier: Apache-2.0
"""Emulated Feetech servos for tests, and a port of the maker's SDK that leads to them without a clock."""

from __future__ import annotations

from collections.abc import Sequence

from scservo_sdk import PortHandler, protocol_packet_handler

from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.feetech.catalog import FEETECH

LOAD = PendulumBench(mass=0.3, arm_mass=0.02, length=0.1)


class DirectPort(PortHandler):
    """A port of the SDK that hands packets to a bus at once; time passes only where a test says so.

    Args:
        bus: of emulated servos.
        baud_rate: of the client, bit/s.
    """

    def __init__(self, bus: VirtualBus, baud_rate: int = 1_000_000) -> None:
        super().__init__("direct")
        self.bus, self.baudrate, self.now = bus, baud_rate, 1.0
        self._answers = b""

    def wait(self, seconds: float) -> None:
        self.now += seconds
        self.bus.update(self.now)

    def clearPort(self) -> None:  # noqa: N802
        self._answers = b""

    def writePort(self, packet: Sequence[int]) -> int:  # noqa: N802
        self.now += 1e-3
        replies = self.bus.receive(bytes(packet), self.now, self.baudrate)
        self._answers += b"".join(reply.data for reply in replies)
        return len(packet)

    def readPort(self, length: int) -> list[int]:  # noqa: N802
        data, self._answers = self._answers[:length], self._answers[length:]
        return list(data)

    def isPacketTimeout(self) -> bool:  # noqa: N802
        return not self._answers


def feetech_bus(servo: str = "sts3215", ids: Sequence[int] = (1, 2), **setup) -> VirtualBus:
    """Return emulated servos on an explicit clock that begins at 0 s."""
    return build_bus(BusSetup(catalog=FEETECH, servo=servo, ids=ids, pendulum=LOAD, **setup), 0.0)


def client(handler: type[protocol_packet_handler], bus: VirtualBus, **port) -> protocol_packet_handler:
    """Return the SDK's packet handler on a bus; its `portHandler` is a DirectPort."""
    return handler(DirectPort(bus, **port))
