# SPDX-License-Identifier: Apache-2.0
"""How many cycles a line of Dynamixels or Feetech servos does, beside what its packets need."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bam_ros.driver.servo_bus import ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.emulators.dynamixel.process import DYNAMIXEL, VirtualBusProcess
from bam_ros.feetech.bus import FeetechBus
from studies.bench.counting_client import CountingClient, recorded_cycle


@dataclass(frozen=True, kw_only=True)
class Line:
    """Servos at a baud rate.

    Attributes:
        name: in the table.
        servos: in the order of their ids.
        baud_rate: bit/s.
        bus: of the driver.
        emulator: module that is started.
    """

    name: str
    servos: tuple[str, ...]
    baud_rate: int
    bus: type[DynamixelBus] = DynamixelBus
    emulator: str = DYNAMIXEL


LINES = (
    Line(name="6 XM430", servos=("xm430_w350",) * 6, baud_rate=4_000_000),
    Line(name="12 XM430", servos=("xm430_w350",) * 12, baud_rate=4_000_000),
    # An AX-12 knows no higher rate.
    Line(name="AX-12, MX-28(2.0), XM430", servos=("ax12a", "mx28_2", "xm430_w350"), baud_rate=1_000_000),
    Line(
        name="6 STS3215",
        servos=("sts3215",) * 6,
        baud_rate=1_000_000,
        bus=FeetechBus,
        emulator="bam_ros.emulators.feetech",
    ),
)
_BITS_PER_BYTE = 10
_TURNS = 5  # of driver and counting client: what else the machine does then concerns both
_USER_TIME = 11  # place behind the name in /proc/PID/stat; that of the system follows
_WATCHDOG, _ANSWER_TIMEOUT = 2.5, 0.5  # s; emulated servos share the processors


@dataclass(frozen=True, kw_only=True)
class LineRate:
    """Cycles of one line: goals of all servos written, states of all read.

    A cycle takes the time of its bytes, that of the driver's processor, and then that of the emulator and of
    the kernel, which wakes both programs up. Real servos have no such last part. What it takes is seen by a
    client that sends the same bytes on the same bus, and does nothing but count those that come back.

    Attributes:
        line: what is on it.
        baud_rate: bit/s.
        bytes_per_cycle: both ways.
        packets: cycles per second that these bytes would allow.
        cycles: per second.
        fastest: per second in the fastest tenth, in which no other program had the processor.
        driver: s of a processor that the driver needs per cycle.
        emulator: s of a processor that the emulator needs per cycle.
        counted: cycles per second of the counting client; it and the driver take turns.
        fastest_counted: of it in its fastest tenth.
    """

    line: str
    baud_rate: int
    bytes_per_cycle: float
    packets: float
    cycles: float
    fastest: float
    driver: float
    emulator: float
    counted: float
    fastest_counted: float

    @property
    def by_driver(self) -> float:
        """Cycles per second of the driver with servos that answer as fast as the bytes."""
        return 1.0 / (1.0 / self.packets + self.driver)


def line_rates(duration: float = 5.0) -> list[LineRate]:
    """Return the rate of each of `LINES`, its emulated servos as slow as the bytes on a wire.

    Args:
        duration: of each measurement, s.
    """
    return [line_rate(line, duration) for line in LINES]


def line_rate(line: Line, duration: float) -> LineRate:
    """Return the rate of a line whose servos all move, so that every cycle writes every goal."""
    ids = tuple(range(1, 1 + len(line.servos)))
    process = VirtualBusProcess(
        ",".join(line.servos), ids, "--wire-time", "--baud", str(line.baud_rate), module=line.emulator
    )
    process.start()
    bus = line.bus(
        DynamixelSettings(
            port=process.port,
            joints=tuple(f"joint{number}" for number in ids),
            ids=ids,
            baud_rate=line.baud_rate,
            watchdog=_WATCHDOG,
            answer_timeout=_ANSWER_TIMEOUT,
        )
    )
    try:
        bus.open()
        return _measured(line, bus, process.pid, duration)
    finally:
        bus.close()
        process.stop()


def _measured(line: Line, bus: DynamixelBus, emulator: int, duration: float) -> LineRate:
    """Return the rate of an open bus; `emulator` is the number of that process."""
    servos = len(bus.names)
    bus.exchange(ServoGoal(torque_enable=(True,) * servos, position=(0.0,) * servos))

    def drive() -> None:
        goal = 0.2 * math.sin(40.0 * time.monotonic())  # another count in every cycle
        bus.exchange(ServoGoal(torque_enable=(True,) * servos, position=(goal,) * servos))

    port = bus._port
    assert port is not None
    client = CountingClient(port.fd, recorded_cycle(port, drive))
    driven, counted = _Turns(drive, emulator), _Turns(client.run, emulator)
    for _ in range(_TURNS):
        before = bus.traffic
        driven.take(duration / _TURNS)
        driven.traffic += bus.traffic - before
        counted.take(duration / _TURNS)
    per_cycle = driven.traffic / driven.cycles
    return LineRate(
        line=line.name,
        baud_rate=line.baud_rate,
        bytes_per_cycle=per_cycle,
        packets=line.baud_rate / _BITS_PER_BYTE / per_cycle,
        cycles=driven.cycles / sum(driven.durations),
        fastest=driven.fastest,
        driver=driven.own / driven.cycles,
        emulator=driven.emulated / driven.cycles,
        counted=counted.cycles / sum(counted.durations),
        fastest_counted=counted.fastest,
    )


class _Turns:
    """Cycles of one of the two clients that take turns on a line.

    Args:
        cycle: runs one.
        emulator: number of that process.

    Attributes:
        durations: of cycles, s.
        own: processor time of this thread, s.
        emulated: of the emulator, s.
        traffic: bytes; added by the caller.
    """

    def __init__(self, cycle: Callable[[], None], emulator: int) -> None:
        self._cycle, self._emulator = cycle, emulator
        self.durations: list[float] = []
        self.own = self.emulated = 0.0
        self.traffic = 0

    @property
    def cycles(self) -> int:
        """How many there were."""
        return len(self.durations)

    @property
    def fastest(self) -> float:
        """Cycles per second in the fastest tenth."""
        return 1.0 / float(np.quantile(self.durations, 0.1))

    def take(self, duration: float) -> None:
        """Run cycles for so long, s."""
        own, emulated = time.thread_time(), _processor_time(self._emulator)
        begin = now = time.monotonic()
        while now < begin + duration:
            self._cycle()
            before, now = now, time.monotonic()
            self.durations.append(now - before)
        self.own += time.thread_time() - own
        self.emulated += _processor_time(self._emulator) - emulated


def _processor_time(process: int) -> float:
    """Return the s of a processor that a process has had; see proc(5)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[_USER_TIME]) + int(fields[_USER_TIME + 1])) / os.sysconf("SC_CLK_TCK")
