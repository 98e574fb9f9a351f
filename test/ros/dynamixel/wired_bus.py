# SPDX-License-Identifier: Apache-2.0
"""A driver's bus wired to emulated servos in one process: no terminal, and a clock that waiting advances."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest

from bam_core.servo.pendulum import PendulumBench
from bam_ros.dynamixel import bus as bus_module
from bam_ros.dynamixel import watch as watch_module
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.dynamixel.catalog import DYNAMIXEL
from bam_ros.emulators.dynamixel.servo import VirtualServo
from bam_ros.emulators.feetech.catalog import FEETECH
from bam_ros.feetech.bus import FeetechBus

Damage = Callable[[bytes], bytes]
_TRANSACTION = 1e-4  # s
NO_LOAD = PendulumBench(mass=1e-3, length=0.1)  # friction holds it where it is placed


def intact(data: bytes) -> bytes:
    """Return bytes as they are."""
    return data


class WiredPort(SerialPort):
    """A port whose packets reach emulated servos at once.

    Attributes:
        now: clock, s; advanced by a packet, and by waiting for bytes that do not come.
        asked: what becomes of bytes on their way to the servos.
        answered: what becomes of bytes on their way back; called once for all answers to a packet.
    """

    def __init__(self, bus: VirtualBus) -> None:
        super().__init__("wired")
        self.now = 1.0
        self.asked: Damage = intact
        self.answered: Damage = intact
        self._bus = bus
        self._coming = b""

    def openPort(self) -> bool:  # noqa: N802
        self.is_open = True
        return self.setBaudRate(57600)

    def closePort(self) -> None:  # noqa: N802
        self._held.clear()
        self.is_open = self.is_using = False

    def setBaudRate(self, baudrate: int) -> bool:  # noqa: N802
        self.baudrate = baudrate
        self.tx_time_per_byte = 1e4 / baudrate
        self.clearPort()
        return True

    def clearPort(self) -> None:  # noqa: N802
        self._buffer.clear()
        self._coming = b""

    def getBytesAvailable(self) -> int:  # noqa: N802
        return len(self._buffer) + len(self._coming)

    def getCurrentTime(self) -> float:  # noqa: N802
        return 1e3 * self.now

    def _write(self, data: bytes) -> int:
        self.now += _TRANSACTION
        replies = self._bus.receive(self.asked(data), self.now, self.baudrate)
        self._coming += self.answered(b"".join(reply.data for reply in replies))
        return len(data)

    def _receive(self, milliseconds: float) -> bool:
        if not self._coming:
            self.now += 1e-3 * max(milliseconds, 0.0) + 1e-6  # time goes on, as short as the wait may be
            return False
        self._buffer += self._coming
        self._coming = b""
        return True


class _NoGuardian:
    """A guardian that is never needed."""

    silence, gap, pid = 1e9, 0.0, 0

    def beat(self, now: float, *, torque: bool) -> None:
        pass

    def dismiss(self) -> None:
        pass


class WiredBus:
    """A driver's bus, open, and the emulated servos that it is wired to.

    Attributes:
        bus: of the driver.
        port: between both.
        servos: emulated, in the order of their ids, which are 1, 2, ...
    """

    def __init__(self, bus: DynamixelBus, port: WiredPort, servos: Sequence[VirtualServo]) -> None:
        self.bus, self.port, self.servos = bus, port, servos

    def deafen(self, place: int) -> None:
        """Let a servo hear nothing any more, and answer nothing."""
        self.servos[place]._boots_until = 1e9

    def torques(self) -> list[bool]:
        """Return of each servo whether its torque is on."""
        return [servo.torque_enabled for servo in self.servos]

    def note_writes(self, place: int, register: str) -> list[tuple[float, int]]:
        """Return what is written into a register of a servo from now on: when, s, and the count."""
        noted: list[tuple[float, int]] = []
        servo: Any = self.servos[place]
        written = servo._written

        def note(changes: dict[str, int], now: float) -> None:
            if register in changes:
                noted.append((now, changes[register]))
            written(changes, now)

        servo._written = note
        return noted


@contextmanager
def wired_bus(
    monkeypatch: pytest.MonkeyPatch,
    servo: str,
    servos: int = 1,
    *,
    opened: bool = True,
    driver: type[DynamixelBus] | None = None,
) -> Iterator[WiredBus]:
    """Give a bus with servos of these models; one model for all, or one of each with commas between.

    Args:
        monkeypatch: puts port and guardian into the driver.
        servo: model, or models.
        servos: how many.
        opened: whether the bus is open.
        driver: None: that of the servos.
    """
    feetech = servo.startswith(("sts", "scs", "hls"))
    driver = driver or (FeetechBus if feetech else DynamixelBus)
    ids = tuple(range(1, 1 + servos))
    catalog = FEETECH if feetech else DYNAMIXEL
    virtual = build_bus(BusSetup(catalog=catalog, servo=servo, ids=ids, pendulum=NO_LOAD), 0.0)
    port = WiredPort(virtual)
    monkeypatch.setattr(bus_module, "SerialPort", lambda path, answer_timeout: port)
    monkeypatch.setattr(watch_module, "Guardian", lambda fd, packets, silence: _NoGuardian())
    settings = DynamixelSettings(
        port="wired", joints=tuple(f"joint{number}" for number in ids), ids=ids, baud_rate=1_000_000
    )
    bus = driver(settings)
    try:
        if opened:
            bus.open()
        yield WiredBus(bus, port, virtual.servos)
    finally:
        port.asked = port.answered = intact
        bus.close()
