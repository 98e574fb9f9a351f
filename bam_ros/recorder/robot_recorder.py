# SPDX-License-Identifier: Apache-2.0
"""Playing a motion on a robot while a bag is written, whatever number of drivers it has."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from bam_bench.msg import ServoStates
from rclpy.node import Node
from rclpy.time import Time

from bam_core.errors import BadData, BamError, Conflict
from bam_core.robot.motion import RobotMotion
from bam_core.servo.gains import gain_of, gain_text
from bam_ros.driver.hardware_errors import FATAL, describe_hardware_errors
from bam_ros.driver.servo_bus import Gains
from bam_ros.recorder.bench_topics import namespace_of
from bam_ros.recorder.driver_client import TICK_PERIOD, DriverClient, Tick
from bam_ros.recorder.errors import RecordingStopped
from bam_ros.recorder.joint_reading import JointReading
from bam_ros.recorder.robot_link import RobotLink
from bam_ros.recorder.robot_playback import PlaybackLimits, RobotGoal, RobotPlayback, Stage
from bam_ros.recorder.run_writer import RunWriter
from bam_ros.recorder.stalls import StallWatch
from bam_ros.recorder.waits import DEFAULT_WAITS, Waits
from bam_ros.text.notice import Notice
from bam_ros.text.recorder_notices import RobotHolds
from bam_ros.text.spoiled_runs import GainsChanged, SpoiledRun

_RELEASE_TIME = 1.0  # s; how long a motion that was broken off waits for torque to be off


@dataclass(frozen=True, kw_only=True)
class RobotReport:
    """What became of a motion.

    Attributes:
        bag: its directory.
        states: that are in the bag.
        dropped: that are missing in it.
        problem: why it had better be recorded again; None: it is well.
    """

    bag: Path
    states: int
    dropped: int
    problem: SpoiledRun | None = None


class RobotLinks:
    """The drivers of a robot, each with its link; a context manager.

    Args:
        node: that they belong to; its executor must spin in another thread.
        drivers: names of the driver nodes; what is before the last slash is their topics' namespace.
        joints: of the motion.
        waits: for the drivers.

    Raises:
        Conflict: two drivers are in one namespace, where their topics are the same.
    """

    def __init__(
        self, node: Node, drivers: Sequence[str], joints: Sequence[str], waits: Waits = DEFAULT_WAITS
    ) -> None:
        _require_own_namespaces(drivers)
        self.clients = [DriverClient(node, name, waits=waits) for name in drivers]
        self._stack = ExitStack()
        self.links = [
            self._stack.enter_context(RobotLink(node, joints, namespace_of(name), waits)) for name in drivers
        ]

    def __enter__(self) -> RobotLinks:
        """Give the open links."""
        return self

    def __exit__(self, *error: object) -> None:
        """Let others set gains again, and close them."""
        try:
            for client in self.clients:
                client.free_gains()
        finally:
            self._stack.close()

    def hold_gains(self, motion: RobotMotion, tick: Tick) -> None:
        """Give every joint's controller the gains of a motion, until the end; raises BamError."""
        for link, client in zip(self.links, self.clients, strict=True):
            client.hold_gains(_gains_of(link.joints, motion), tick)

    def gains_problem(self, motion: RobotMotion, tick: Tick) -> str:
        """Return which servo does not hold its gains, in words; empty: all do. Raises Unavailable."""
        problems = (
            client.gains_problem(_gains_of(link.joints, motion), tick)
            for link, client in zip(self.links, self.clients, strict=True)
        )
        return next(filter(None, problems), "")


def _require_own_namespaces(drivers: Sequence[str]) -> None:
    """Raise Conflict where two drivers publish the same topics."""
    places: dict[str, list[str]] = {}
    for name in drivers:
        places.setdefault(namespace_of(name), []).append(name)
    for place, names in places.items():
        if len(names) > 1:
            raise Conflict(
                f"drivers {', '.join(names)}",
                f"share the topics of the namespace '{place or '/'}'",
                expected="a namespace for each driver, as in left/dynamixel,right/dynamixel",
                advice="start them with -r __ns:=/NAME",
            )


class RobotRecorder:
    """One motion; `record` plays it.

    Args:
        links: to the drivers, ready, with torque off.
        motion: to play.
        limits: when to end.
        gains_problem: returns which servo does not hold the gains of the motion, in words; empty: all do.
    """

    def __init__(
        self,
        links: Sequence[RobotLink],
        motion: RobotMotion,
        limits: PlaybackLimits,
        gains_problem: Callable[[], str],
    ) -> None:
        self._links = links
        self._gains_problem = gains_problem
        self._motion = motion
        self._playback = RobotPlayback(motion, limits)
        self._silence = max(links[0].waits.silence, limits.state_timeout)
        self._playback.may_start = False
        self._epoch = links[0].now()
        self._now = 0.0
        self._lock = threading.Lock()  # every link has a thread of its own
        self._readings: dict[str, JointReading] = {}
        self._joints = frozenset(motion.joints)
        self._restarts = [link.restarts for link in links]
        self._dropped_before = 0
        self._dropped = 0
        self._watches = [StallWatch(limits.pause) for _ in links]
        self._writer: RunWriter | None = None
        self._failure: BaseException | None = None
        self._at_start, self._played, self._over = (threading.Event() for _ in range(3))

    @property
    def stage(self) -> Stage:
        """Where the motion is."""
        return self._playback.stage

    @property
    def elapsed(self) -> float:
        """Seconds into the motion."""
        return self._playback.elapsed

    def record(self, bag: Path, tick: Tick, show: Callable[[Notice], None]) -> RobotReport:
        """Play the motion and write its bag; returns with the servos released.

        Where `tick` raises RecordingStopped, the robot holds where it is until it raises it again.

        Args:
            bag: directory to write, must not exist.
            tick: called about ten times a second; what it raises breaks the motion off.
            show: shows what the robot does.

        Raises:
            BamError: a driver, a servo or the disk failed, or a joint left its goal. A bag that was begun is
                readable and marked as interrupted.
            RecordingStopped: somebody asked for the end.
        """
        for number, link in enumerate(self._links):
            link.listen(_Ear(self, number))
        try:
            try:
                self._wait(self._at_start, tick)
                problem = self._write(bag, tick)
                self._wait(self._over, tick)
            except RecordingStopped:
                self._hold(tick, show)
                raise
        finally:
            for link in self._links:
                link.sink = None
            self._let_go()
            for link in self._links:
                link.listen(None)
        return RobotReport(
            bag=bag,
            states=sum(watch.states for watch in self._watches),
            dropped=self._dropped,
            problem=problem,
        )

    def _write(self, bag: Path, tick: Tick) -> SpoiledRun | None:
        topics = {
            topic: about for link in self._links for topic, about in link.topics.in_bag(has_run=False).items()
        }
        with RunWriter(bag, topics, _gain_words(self._motion)) as self._writer:
            self._playback.may_start = True
            self._wait(self._played, tick)
            problem = self._find_problem()
            if problem is not None:
                self._writer.spoil()
        self._writer = None
        return problem

    def _find_problem(self) -> SpoiledRun | None:
        """Return why the motion had better be recorded again; None: it is well."""
        for watch in self._watches:
            if stall := watch.problem(self._dropped):
                return stall
        changed = self._gains_problem()
        return GainsChanged(answer=changed, what="motion") if changed else None

    def heard(self, number: int, now_ns: int, states: ServoStates) -> RobotGoal | None:
        """Take the motion one step further. Called in the link's thread."""
        link = self._links[number]
        with self._lock:
            stamp = (Time.from_msg(states.header.stamp).nanoseconds - self._epoch) * 1e-9
            self._note(states, stamp)
            if self._failure is not None or self._over.is_set():
                return link.torque_off
            self._check(number, now_ns, states)
            if not self._joints <= self._readings.keys():
                return None  # another driver has not spoken yet
            before = self._playback.stage
            goal = self._playback.step(self._now, self._readings)
            after = self._playback.stage
            if before is Stage.MOTION:
                self._watches[number].state(stamp, self._now)
            elif not self._played.is_set():
                self._watches[number].start(stamp, self._now)
            if before is not after:
                self._changed(before, after)
            if after is Stage.REST:
                self._at_start.set()
            return goal

    def fail(self, error: BaseException) -> None:
        """Break the motion off, and release the joints of all drivers; from any thread."""
        if self._failure is None:
            self._failure = error
            for link in self._links:
                link.release()

    def _note(self, states: ServoStates, stamp: float) -> None:
        for name, position, is_on in zip(states.name, states.position, states.torque_enabled, strict=True):
            if name in self._joints:
                self._readings[name] = JointReading(
                    time=stamp, position=float(position), torque_enabled=bool(is_on)
                )

    def _check(self, number: int, now_ns: int, states: ServoStates) -> None:
        self._now = max(self._now, (now_ns - self._epoch) * 1e-9)
        link = self._links[number]
        if link.restarts != self._restarts[number]:
            raise BadData(
                "driver",
                f"the sequence of {link.topics.states} began anew (it was restarted, or a second driver"
                " publishes there)",
                advice="leave one driver alone in its namespace and record again",
            )
        for name, bits in zip(states.name, states.hardware_error, strict=True):
            errors = describe_hardware_errors(name, bits & FATAL) if name in self._joints else []
            if errors:
                raise BamError("; ".join(errors))

    def _changed(self, before: Stage, after: Stage) -> None:
        if after is Stage.MOTION:
            assert self._writer is not None
            self._dropped_before = sum(link.dropped for link in self._links)
            for link in self._links:
                link.sink = self._writer.put
        elif before is Stage.MOTION:
            for link in self._links:
                link.sink = None
            self._dropped = sum(link.dropped for link in self._links) - self._dropped_before
            self._played.set()
        if after is Stage.DONE:
            self._over.set()

    def _wait(self, event: threading.Event, tick: Tick) -> None:
        """Wait for the motion; raises what broke it off, and torque goes off then."""
        try:
            while not event.wait(TICK_PERIOD):
                self._raise_failure()
                for link in self._links:
                    link.require_heard(self._silence)
                if self._writer is not None:
                    self._writer.check()
                tick()
            self._raise_failure()
        except RecordingStopped:
            raise
        except BaseException as error:
            self.fail(error)
            raise

    def _hold(self, tick: Tick, show: Callable[[Notice], None]) -> None:
        for link in self._links:
            link.sink = None
        with self._lock:
            if not self._playback.torque_wanted:
                return
            self._playback.hold(self._now)
        show(RobotHolds())
        self._wait(self._over, tick)

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _let_go(self) -> None:
        """Command torque off until the servos report it; their drivers' command timeout covers the rest."""
        self._over.set()
        deadline = time.monotonic() + _RELEASE_TIME
        while True:
            for link in self._links:
                link.release()
            is_on = any(reading.torque_enabled for reading in self._readings.values())
            if not is_on or time.monotonic() > deadline:
                return
            time.sleep(TICK_PERIOD / 10.0)


class _Ear:
    """Hears one driver."""

    def __init__(self, recorder: RobotRecorder, number: int) -> None:
        self._recorder = recorder
        self._number = number

    def on_states(self, now_ns: int, states: ServoStates) -> RobotGoal | None:
        """Take the motion one step further."""
        return self._recorder.heard(self._number, now_ns, states)

    def on_failure(self, error: BaseException) -> None:
        """Break the motion off."""
        self._recorder.fail(error)


def _gain_words(motion: RobotMotion) -> dict[str, str]:
    """Return the gains of every joint, as a bag has them."""
    return {
        name: gain_text({joint: gain_of(getattr(motion, name), joint) or 0.0 for joint in motion.joints})
        for name in ("kp", "ki", "kd")
    }


def _gains_of(joints: Sequence[str], motion: RobotMotion) -> dict[str, Gains]:
    gains = {
        joint: [gain_of(gain, joint) or 0.0 for gain in (motion.kp, motion.ki, motion.kd)] for joint in joints
    }
    return {joint: Gains(kp=kp, ki=ki, kd=kd) for joint, (kp, ki, kd) in gains.items()}
