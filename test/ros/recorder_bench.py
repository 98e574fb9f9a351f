# SPDX-License-Identifier: Apache-2.0
"""A bench in one process for the recorder's tests: servo node without hardware, short scripts, operator."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest
from bam_bench.msg import ServoCommands
from rclpy.context import Context
from rclpy.executors import Executor, MultiThreadedExecutor, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.time import Time

from bam_core.recordings.trajectories import SCRIPTS, TrajectoryScript
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.servo_bus import ServoBus, ServoSample
from bam_ros.driver.servo_node import ServoNode
from bam_ros.recorder import RecordingStopped, Session
from bam_ros.recorder.motion import MotionTimes
from bam_ros.recorder.session_recorder import Progress, RecordState
from bam_ros.recorder.waits import Waits
from bam_ros.text.notice import Notice
from test.ros.fake_about import FAKE_ABOUT
from test.ros.recorder_time import RecorderTime, TimedBus
from test.ros.ros_client import SpinningThread
from test.ros.ros_helpers import LONGEST_COMMAND_TIMEOUT, PATIENCE

_N = TypeVar("_N", bound=Notice)
_FARTHEST = 0.1  # rad from one read to the next, at 10 rad/s


def short(name: str, duration: float = 0.4) -> TrajectoryScript:
    """Return a script that is over soon; one that lets go does so in the middle."""
    release = duration / 2.0 if math.isfinite(SCRIPTS[name].release_time) else math.inf
    return replace(SCRIPTS[name], duration=duration, release_time=release)


def short_session(scripts: tuple[str, ...] = ("sin_sin", "lift_and_drop"), **changes: Any) -> Session:
    """Return a session of one load whose runs take 0.4 s each."""
    fields: dict[str, Any] = {
        "name": "short",
        "servo": load_servo("mx106"),
        "joint": "joint",
        "id": 1,
        "supply_voltage": 15.0,
        "loads": (PendulumBench(mass=0.5, length=0.1),),
        "gains": (8.0,),
        "scripts": tuple(short(name) for name in scripts),
        "notes": "of a test",
        "approach_speed": 3.0,
        "pause_limit": 10.0,  # the machine's own pauses are not what most tests are about
    }
    return Session(**{**fields, **changes})


HURRY = Waits(
    discovery=PATIENCE,
    silence=PATIENCE,
    supply=PATIENCE,
    motion=MotionTimes(free=0.02, still=0.05, shortest_move=0.1),
)
"""Short waits before and after a script, which a bench without mass does not need. The time that driver and
discovery have is that of a machine which may stand still."""


class FakeDriver(ServoNode):
    """The real servo node on a bus without hardware, whose clock learns what it publishes and takes."""

    ABOUT = FAKE_ABOUT

    def __init__(self, bus: TimedBus, **arguments: Any) -> None:
        self.fake = bus
        super().__init__("driver", **arguments)

    def create_bus(self) -> ServoBus:
        return self.fake

    def _publish(self, sample: ServoSample, sequence: int) -> None:
        self.fake.clock.published(self._servo_states.topic_name, sequence)
        super()._publish(sample, sequence)

    def _on_commands(self, message: ServoCommands) -> None:
        super()._on_commands(message)
        self.fake.clock.taken(self._commands.topic_name, Time.from_msg(message.header.stamp).nanoseconds)


class Bench:
    """A driver and a node for the recorder, spinning in a thread each; `close` ends all.

    Driver and recorder are on a time of their own: no machine is too slow for them.

    Args:
        namespace: of the driver.
        setup: of the bus, as for `TimedBus`.
    """

    def __init__(self, *, namespace: str = "", **setup: Any) -> None:
        self.context = Context()
        self.context.init()
        self._patch = pytest.MonkeyPatch()
        self.clock = RecorderTime(self._patch)
        self.bus = TimedBus(self.clock, **setup)
        # As no servo jumps: after a pause of the machine, goals do, and such readings would be thrown out.
        self.bus.farthest = _FARTHEST
        self.driver = FakeDriver(
            self.bus, namespace=namespace, **self.parameters(command_timeout=LONGEST_COMMAND_TIMEOUT)
        )
        self.node = Node("test_recorder", context=self.context)
        self._threads: list[SpinningThread] = []
        self.spin(self.driver, SingleThreadedExecutor(context=self.context))  # as the driver's own main does
        self.spin(self.node)
        self.driver.start()

    def spin(self, node: Node, executor: Executor | None = None) -> None:
        executor = executor or MultiThreadedExecutor(num_threads=3, context=self.context)
        self._threads.append(SpinningThread(executor, node))

    def parameters(self, **values: Any) -> dict[str, Any]:
        return {
            "context": self.context,
            "parameter_overrides": [Parameter(name, value=value) for name, value in values.items()],
        }

    def close(self) -> None:
        for thread in reversed(self._threads):
            thread.close()
        self.context.try_shutdown()
        self._patch.undo()


class Operator:
    """Keeps what it is shown; hangs every load at once; ends the session when `stop_when` says so."""

    def __init__(self, stop_when: Any = lambda progress: False) -> None:
        self.shown: list[Progress] = []
        self.loads: list[PendulumBench] = []
        self.notices: list[Notice] = []
        self._stop_when = stop_when

    def show(self, notice: Notice, *, warning: bool = False) -> None:
        self.notices.append(notice)

    def of(self, kind: type[_N]) -> list[_N]:
        """Return the notices of a kind."""
        return [notice for notice in self.notices if isinstance(notice, kind)]

    def progress(self, progress: Progress) -> None:
        self.shown.append(progress)
        if self._stop_when(progress):
            raise RecordingStopped("enough")

    def mount_load(self, progress: Progress) -> None:
        assert progress.state is RecordState.WAITING_FOR_LOAD
        self.loads.append(progress.run.load)


def running(progress: Progress) -> bool:
    """Whether the script of a run is under way."""
    return progress.elapsed > 0.0


def directories(output: Path) -> list[str]:
    """Names in an output directory, sorted."""
    return sorted(path.name for path in output.iterdir())
