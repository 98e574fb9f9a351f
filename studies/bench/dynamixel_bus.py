# SPDX-License-Identifier: Apache-2.0
"""How many cycles a line of Dynamixels or Feetech servos does, beside what its packets need."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

from bam_ros.driver.servo_bus import ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus, DynamixelSettings
from bam_ros.emulators.dynamixel.process import DYNAMIXEL, VirtualBusProcess
from bam_ros.feetech.bus import FeetechBus


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
_WATCHDOG, _ANSWER_TIMEOUT = 2.5, 0.5  # s; emulated servos share the processors


@dataclass(frozen=True, kw_only=True)
class LineRate:
    """Cycles of one line: goals of all servos written, states of all read.

    Attributes:
        line: what is on it.
        baud_rate: bit/s.
        bytes_per_cycle: both ways.
        packets: cycles per second that these bytes would allow.
        cycles: per second.
        fastest: per second in the fastest tenth, in which no other program had the processor.
    """

    line: str
    baud_rate: int
    bytes_per_cycle: float
    packets: float
    cycles: float
    fastest: float


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
        return _measured(line.name, bus, line.baud_rate, duration)
    finally:
        bus.close()
        process.stop()


def _measured(name: str, bus: DynamixelBus, baud_rate: int, duration: float) -> LineRate:
    servos = len(bus.names)
    bus.exchange(ServoGoal(torque_enable=(True,) * servos, position=(0.0,) * servos))
    durations, traffic, begin = [], bus.traffic, time.monotonic()
    now = begin
    while now < begin + duration:
        goal = 0.2 * math.sin(40.0 * now)  # another count in every cycle
        bus.exchange(ServoGoal(torque_enable=(True,) * servos, position=(goal,) * servos))
        before, now = now, time.monotonic()
        durations.append(now - before)
    per_cycle = (bus.traffic - traffic) / len(durations)
    return LineRate(
        line=name,
        baud_rate=baud_rate,
        bytes_per_cycle=per_cycle,
        packets=baud_rate / _BITS_PER_BYTE / per_cycle,
        cycles=len(durations) / (now - begin),
        fastest=1.0 / float(np.quantile(durations, 0.1)),
    )
