# SPDX-License-Identifier: Apache-2.0
"""Recording a session: block by block, run by run, going on where an earlier attempt stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Protocol

from rclpy.node import Node
from rclpy.time import Time

from bam_core.errors import unknown_name
from bam_ros.recorder import bag_shelf
from bam_ros.recorder.bench_link import BenchLink
from bam_ros.recorder.driver_client import TICK_PERIOD, DriverClient
from bam_ros.recorder.errors import BenchError
from bam_ros.recorder.run import SILENCE, RunRecorder, RunReport
from bam_ros.recorder.session import PlannedRun, Session

_DISCOVERY = 10.0  # s; DDS discovery takes up to 4 s
_STALE = 30.0  # s; DDS forgets a killed process after 20 s
_LONG_PAUSE = 0.05  # s; the arm swings at about 2 Hz
_CLOCK_DIFFERENCE = 5.0  # s; more than any delay


class RecordState(IntEnum):
    """What a recording session is doing; values of `bam_bench/action/Record` feedback."""

    PREPARING = 0
    WAITING_FOR_LOAD = 1
    RUNNING = 2


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a session is.

    Attributes:
        state: what it is doing.
        run: the present run.
        runs: in the session.
        elapsed: within the script of the run, s.
        dropped: states lost so far.
        activity: what is going on, in words.
    """

    state: RecordState
    run: PlannedRun
    runs: int
    elapsed: float
    dropped: int
    activity: str


@dataclass(frozen=True, kw_only=True)
class SessionReport:
    """What a session left.

    Attributes:
        recorded: runs recorded now.
        resumed: complete runs that were there.
        dropped: states lost between driver and bags.
        bags: directories of all complete runs, in the order of the session.
    """

    recorded: int
    resumed: int
    dropped: int
    bags: tuple[Path, ...]


class Operator(Protocol):
    """Who watches a session and hangs the loads."""

    def tell(self, line: str, *, warning: bool = False) -> None:
        """Read one line about what happened."""

    def progress(self, progress: Progress) -> None:
        """See how far it is, about ten times a second; raises RecordingStopped to end it."""

    def mount_load(self, progress: Progress) -> None:
        """Return when the load of `progress.run` hangs; raises RecordingStopped to end the session."""


class SessionRecorder:
    """Records sessions with one driver. The node's executor must spin in another thread.

    Args:
        node: that the recorder belongs to.
        driver: name of the driver node.
        virtual_bench: name of a virtual bench that hangs the loads instead of an operator; may be empty.
    """

    def __init__(self, node: Node, *, driver: str = "dynamixel", virtual_bench: str = "") -> None:
        self._node = node
        self._driver = DriverClient(node, driver, virtual_bench)
        self.reset()

    @property
    def report(self) -> SessionReport:
        """What the session in progress, or the last one, has left so far."""
        return self._report

    def reset(self) -> None:
        """Begin a new report."""
        self._report = SessionReport(recorded=0, resumed=0, dropped=0, bags=())

    def record(self, session: Session, output: Path, operator: Operator) -> SessionReport:
        """Record every run of a session that is not in the output directory yet.

        Raises:
            BamError: the bench, the arm or the disk failed; what is recorded stays.
            RecordingStopped: the operator ended it; what is recorded stays.
        """
        plan = session.runs()
        shelf = bag_shelf.inspect(output, session)
        bags = {run.name: output / run.name for run in plan if run.name in shelf.complete}
        self._report = SessionReport(recorded=0, resumed=len(bags), dropped=0, bags=_ordered(plan, bags))
        if shelf.complete:
            operator.tell(f"{output}: {len(shelf.complete)} of {len(plan)} runs are complete and kept")
        for name, problem in shelf.broken.items():
            operator.tell(f"run {name} {problem}: it will be recorded again", warning=True)
        left = [run for run in plan if run.name not in bags]
        if not left:
            return self._report
        with BenchLink(self._node, session.joint) as link:
            hung: int | None = None
            for run in left:
                call = _Call(operator, run, len(plan), self._report.dropped)
                self._wait_for_bench(link, session, call)
                if run.block != hung:
                    self._hang_load(call)
                    hung = run.block
                    self._wait_for_bench(link, session, call)
                call.show(RecordState.PREPARING, "setting gains")
                self._driver.set_gains(session.joint, run.kp, call.tick)
                report = self._record(link, session, run, output, call)
                bags[run.name] = report.bag
                self._report = replace(
                    self._report,
                    recorded=self._report.recorded + 1,
                    dropped=self._report.dropped + report.dropped,
                    bags=_ordered(plan, bags),
                )
        return self._report

    def _record(
        self, link: BenchLink, session: Session, run: PlannedRun, output: Path, call: _Call
    ) -> RunReport:
        bag = output / run.name
        if bag.exists():
            aside = bag_shelf.set_aside(bag)
            call.operator.tell(
                f"run {run.name}: the interrupted bag is kept as {aside.name}, recording again"
            )
        recorder = RunRecorder(link, session, run, bag)
        call.follow(recorder)
        report = recorder.record(call.tick)
        lost = f", {report.dropped} lost on the way from the driver" if report.dropped else ""
        pause = f", nothing for {report.pause:.2f} s once" if report.pause > _LONG_PAUSE else ""
        call.operator.tell(
            f"run {run.index} of {call.runs}, {run.label}: {report.states} states{lost}{pause}",
            warning=bool(lost or pause),
        )
        return report

    def _hang_load(self, call: _Call) -> None:
        if self._driver.hangs_loads:
            call.show(RecordState.PREPARING, "the virtual bench hangs the load")
            self._driver.hang_load(call.run.load, call.tick)
        else:
            call.show(RecordState.WAITING_FOR_LOAD, "waiting for the load")
            call.operator.mount_load(call.progress())

    def _wait_for_bench(self, link: BenchLink, session: Session, call: _Call) -> None:
        """Return when exactly one driver sends states of the joint and takes commands, from nobody but us."""
        call.show(RecordState.PREPARING, "waiting for the driver")
        start = time.monotonic()
        while True:
            rivals = _rivals(link)
            if not rivals and link.connected and link.silence < SILENCE:
                break
            waited = time.monotonic() - start
            if rivals and waited > _STALE:
                raise BenchError(f"{rivals}; stop the others and record again")
            if not rivals and waited > _DISCOVERY:
                raise BenchError(self._why_silent(link, call))
            if rivals:
                call.show(RecordState.PREPARING, f"waiting: {rivals}")
            call.tick()
            time.sleep(TICK_PERIOD / 5.0)
        assert link.newest is not None
        if session.joint not in link.newest.name:
            raise BenchError(f"session: {unknown_name('joint', session.joint, link.newest.name)}")
        apart = (link.now() - Time.from_msg(link.newest.header.stamp).nanoseconds) * 1e-9
        if abs(apart) > _CLOCK_DIFFERENCE:
            raise BenchError(
                f"clock: driver and recorder differ by {apart:.1f} s (expected the same time); "
                f"set use_sim_time alike for both, or synchronise the machines' clocks"
            )

    def _why_silent(self, link: BenchLink, call: _Call) -> str:
        name = self._driver.driver
        state = self._driver.state(call.tick)
        if state == "active":
            return f"driver {name!r}: is active but sends nothing on {link.topics.states}; look at its log"
        if state:
            return (
                f"driver {name!r}: is {state} (expected active); look at its log, "
                f"then 'ros2 lifecycle set {name} configure' and 'activate'"
            )
        return (
            f"driver {name!r}: no states on {link.topics.states} for {_DISCOVERY:g} s; start one, "
            f"e.g. ros2 run bam_bench dynamixel --ros-args -p port:=/dev/ttyUSB0"
        )


class _Call:
    """One run as the operator is shown it."""

    def __init__(self, operator: Operator, run: PlannedRun, runs: int, dropped: int) -> None:
        self.operator = operator
        self.run = run
        self.runs = runs
        self._dropped_before = dropped
        self._recorder: RunRecorder | None = None
        self._state = RecordState.PREPARING
        self._activity = ""

    def show(self, state: RecordState, activity: str) -> None:
        """Say what is being done from now on."""
        self._state = state
        self._activity = activity
        self.tick()

    def follow(self, recorder: RunRecorder) -> None:
        """Say what the recorder of the run is doing from now on."""
        self._state = RecordState.RUNNING
        self._recorder = recorder

    def progress(self) -> Progress:
        """Return how far the session is."""
        recorder = self._recorder
        return Progress(
            state=self._state,
            run=self.run,
            runs=self.runs,
            elapsed=recorder.elapsed if recorder else 0.0,
            dropped=self._dropped_before + (recorder.dropped if recorder else 0),
            activity=recorder.phase.value if recorder else self._activity,
        )

    def tick(self) -> None:
        """Show the operator; raises where he ends the session."""
        self.operator.progress(self.progress())


def _ordered(plan: tuple[PlannedRun, ...], bags: dict[str, Path]) -> tuple[Path, ...]:
    return tuple(bags[run.name] for run in plan if run.name in bags)


def _rivals(link: BenchLink) -> str:
    """Name who else sends states or commands; empty where that is nobody."""
    for topic, allowed in ((link.topics.states, 1), (link.topics.commands, 1)):
        senders = link.node.get_publishers_info_by_topic(topic)
        if len(senders) > allowed:
            names = sorted(
                f"{sender.node_namespace.rstrip('/')}/{sender.node_name}"
                for sender in senders
                if sender.node_name != link.node.get_name()
            )
            return f"{topic}: {len(senders)} nodes publish it (expected one), {', '.join(names)}"
    return ""
