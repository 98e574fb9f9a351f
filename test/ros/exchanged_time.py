# SPDX-License-Identifier: Apache-2.0
"""Time of a driver and its emulated servos that the test advances, by which no machine is too slow."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from bam_ros.driver.servo_bus import ServoSample
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.settings import DynamixelSettings
from test.ros.ros_helpers import PATIENCE, VirtualServos

_ANSWER_TIMEOUT = 2.0  # s of the wall clock: the emulator's thread waits for its turn, too


class ExchangedTime:
    """A clock that stands still but for `advance`.

    Attributes:
        now: s.
    """

    def __init__(self) -> None:
        self.now = 100.0

    def advance(self, seconds: float) -> None:
        """Let time pass, s."""
        self.now += seconds

    def at(self, time: float, *, intended: float = 0.0, idle: bool = False) -> float:
        """Return `now`, whatever the machine's clock shows."""
        return self.now


class TimedDynamixelBus(DynamixelBus):
    """A bus whose servos are emulated on the same time."""

    def __init__(self, settings: DynamixelSettings, time: ExchangedTime) -> None:
        super().__init__(settings)
        self._time = time

    def now(self) -> float:
        return self._time.now

    def acquired(self, sample: ServoSample) -> float:
        return self._time.now


@contextlib.contextmanager
def timed_dynamixels(
    servo: str, joints: tuple[str, ...], time: ExchangedTime, **settings: Any
) -> Iterator[TimedDynamixelBus]:
    """Give a bus with emulated servos, ids 1, 2…, on a time; no stall of the machine lets torque go."""
    ids = tuple(range(1, len(joints) + 1))
    with VirtualServos(servo=servo, ids=ids, clock=time) as virtual:
        yield TimedDynamixelBus(
            DynamixelSettings(
                port=virtual.path,
                baud_rate=1_000_000,
                protocol=virtual.servo.table.protocol,
                joints=joints,
                ids=ids,
                watchdog=2.5,
                guardian_silence=PATIENCE,
                answer_timeout=_ANSWER_TIMEOUT,
                **settings,
            ),
            time,
        )
