# SPDX-License-Identifier: Apache-2.0
"""A bus without hardware on a clock of its own, for tests that step a loop themselves."""

from __future__ import annotations

from dataclasses import replace

from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.servo_bus import ServoGoal, ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from test.ros.ros_helpers import FakeBus


class SteppedBus(FakeBus):
    """Servos that reach their goals at once, but those that are stuck; every exchange takes `step` s.

    Attributes:
        time: s, what the bus' clock shows.
        step: s that one exchange takes.
        stuck: joints that do not move.
    """

    def __init__(self, *names: str, position: float = 0.0, step: float = 0.002) -> None:
        super().__init__(names or ("joint",), position, period=0.0)
        self.time = 100.0
        self.step = step
        self.stuck: set[str] = set()

    def now(self) -> float:
        return self.time

    def exchange(self, goal: ServoGoal) -> ServoSample:
        self.time += self.step
        before = list(self.position)
        sample = super().exchange(goal)
        for index, name in enumerate(self.names):
            if name in self.stuck:
                self.position[index] = before[index]
        return replace(sample, position=tuple(self.position))


class SteppedLoop:
    """A loop without a thread, and what it said.

    Attributes:
        bus: see there.
        loop: to be stepped by `run`.
        events: lines in the order in which they were said.
    """

    def __init__(self, bus: SteppedBus, **settings: object) -> None:
        self.bus = bus
        self.events: list[str] = []
        self.loop = ServoLoop(
            bus,
            LoopSettings(**settings),  # type: ignore[arg-type]
            lambda *_: None,
            lambda _, line: self.events.append(line),
        )
        self.loop.step()  # there is a sample

    def command(self, position: float, *, on: bool = True, joint: int = 0) -> None:
        self.loop.take({joint: JointCommand(torque_enable=on, position=position)})

    def run(self, seconds: float, **streams: float) -> list[ServoGoal]:
        """Step for some time of the bus; each stream (joint=position) is a client that keeps commanding.

        Returns:
            The goals that the bus was told.
        """
        first, end = len(self.bus.goals), self.bus.time + seconds
        while self.bus.time < end - 1e-9:
            for name, position in streams.items():
                self.command(position, joint=self.bus.names.index(name))
            self.loop.step()
        return self.bus.goals[first:]
