# SPDX-License-Identifier: Apache-2.0
"""Recording a session: block by block, run by run, going on where an earlier attempt stopped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from pathlib import Path
from typing import Protocol

from bam_bench.action import Record
from rclpy.node import Node

from bam_core.errors import BadData
from bam_ros.driver.servo_bus import Gains
from bam_ros.recorder import bag_shelf
from bam_ros.recorder.bench_link import BenchLink
from bam_ros.recorder.bench_topics import BenchTopics, namespace_of
from bam_ros.recorder.driver_client import DriverClient
from bam_ros.recorder.rate_check import rate_warning
from bam_ros.recorder.readiness import wait_for_bench
from bam_ros.recorder.run import RunRecorder, RunReport
from bam_ros.recorder.session import PlannedRun, Session
from bam_ros.recorder.supply_check import measured_supply, supply_warning
from bam_ros.recorder.waits import DEFAULT_WAITS, Waits
from bam_ros.text.notice import Notice
from bam_ros.text.recorder_notices import (
    BagSetAside,
    OtherBags,
    RunRecorded,
    RunRepeated,
    RunsKept,
    RunSpoiled,
)


class RecordState(IntEnum):
    """What a recording session is doing; values of `bam_bench/action/Record` feedback."""

    PREPARING = Record.Feedback.STATE_PREPARING
    WAITING_FOR_LOAD = Record.Feedback.STATE_WAITING_FOR_LOAD
    RUNNING = Record.Feedback.STATE_RUNNING


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
    """Who watches a session and mounts the loads."""

    def show(self, notice: Notice, *, warning: bool = False) -> None:
        """Read what happened."""

    def progress(self, progress: Progress) -> None:
        """See how far it is, about ten times a second; raises RecordingStopped to end it."""

    def mount_load(self, progress: Progress) -> None:
        """Return when the load of `progress.run` hangs; raises RecordingStopped to end the session."""


class SessionRecorder:
    """Records sessions with one driver. The node's executor must spin in another thread.

    Args:
        node: that the recorder belongs to.
        driver: name of the driver node; what is before its last slash is the namespace of its topics.
        virtual_bench: name of a virtual bench that mounts the loads instead of an operator; may be empty.
        starts_with_driver: whether the driver may still be starting, as it may with a virtual bench.
        waits: for the driver.
    """

    def __init__(
        self,
        node: Node,
        *,
        driver: str = "dynamixel",
        virtual_bench: str = "",
        starts_with_driver: bool = False,
        waits: Waits = DEFAULT_WAITS,
    ) -> None:
        self._node = node
        self._waits = waits
        self._starts_with_driver = starts_with_driver or bool(virtual_bench)
        self._driver = DriverClient(node, driver, virtual_bench, waits)
        self._topics = BenchTopics.of(node, namespace_of(driver))
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
        shelf = bag_shelf.inspect(output, session, self._topics.run)
        bags = {run.name: output / run.name for run in plan if run.name in shelf.complete}
        self._report = SessionReport(recorded=0, resumed=len(bags), dropped=0, bags=_ordered(plan, bags))
        if shelf.complete:
            operator.show(RunsKept(output=output, complete=len(shelf.complete), runs=len(plan)))
        if shelf.others:
            operator.show(OtherBags(output=output, bags=shelf.others), warning=True)
        for name, bag in shelf.broken.items():
            operator.show(RunRepeated(run=name, bag=bag), warning=True)
        left = [run for run in plan if run.name not in bags]
        if not left:
            return self._report
        namespace, waits = namespace_of(self._driver.driver), self._waits
        with BenchLink(self._node, session.joint, namespace, waits) as link:
            hung: int | None = None
            timeout = waits.startup if self._starts_with_driver else waits.discovery
            for run in left:
                call = _Call(operator, run, len(plan), self._report.dropped)
                wait_for_bench(link, session, self._driver, call.prepare, call.tick, timeout, operator.show)
                timeout = waits.discovery
                if hung is None:
                    warning = supply_warning(session, measured_supply(link, call.tick))
                    if warning is not None:
                        operator.show(warning, warning=True)
                if run.block != hung:
                    self._hang_load(call)
                    hung = run.block
                    wait_for_bench(link, session, self._driver, call.prepare, call.tick)
                report = self._record(link, session, run, output, call)
                slow = rate_warning(report.states, run.script.duration)
                if slow is not None and run is left[0]:
                    operator.show(slow, warning=True)
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
        attempts = self._waits.attempts
        for attempt in range(1, attempts + 1):
            report = self._attempt(link, session, run, output / run.name, call)
            if report.spoiled is None:
                recorded = RunRecorded(
                    run=run.index,
                    runs=call.runs,
                    label=run.label,
                    states=report.states,
                    lost=report.dropped,
                )
                call.operator.show(recorded, warning=report.dropped > 0)
                return report
            spoiled, kept = report.spoiled, ""
            if report.bag.exists():
                kept = bag_shelf.set_aside(report.bag, spoiled.suffix).name
            notice = RunSpoiled(
                run=run.index,
                runs=call.runs,
                label=run.label,
                problem=spoiled,
                kept=kept,
                attempt=attempt,
                attempts=attempts,
            )
            call.operator.show(notice, warning=True)
        raise BadData(
            f"run {run.label}", f"{spoiled} in the last of {attempts} attempts", advice=spoiled.cure
        )

    def _attempt(
        self, link: BenchLink, session: Session, run: PlannedRun, bag: Path, call: _Call
    ) -> RunReport:
        """Record a run once; nobody else sets gains meanwhile."""
        gains = {session.joint: Gains(kp=run.kp, ki=run.ki, kd=run.kd)}
        call.prepare("setting gains")
        try:
            self._driver.hold_gains(gains, call.tick)
            if bag.exists():
                aside = bag_shelf.set_aside(bag)
                call.operator.show(BagSetAside(run=run.name, aside=aside.name))
            recorder = RunRecorder(
                link,
                session,
                run,
                bag,
                lambda: self._driver.gains_problem(gains, call.tick),
            )
            call.follow(recorder)
            return recorder.record(call.tick)
        finally:
            self._driver.free_gains()

    def _hang_load(self, call: _Call) -> None:
        if self._driver.can_set_load:
            call.prepare("the virtual bench mounts the load")
            self._driver.set_load(call.run.load, call.tick)
        else:
            call.wait_for_load()
            call.operator.mount_load(call.progress())


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

    def prepare(self, activity: str) -> None:
        """Show what is being prepared from now on."""
        self._state, self._activity = RecordState.PREPARING, activity
        self.tick()

    def wait_for_load(self) -> None:
        """Show that the load is waited for, from the next tick on: whoever waits for it is not ready yet."""
        self._state, self._activity = RecordState.WAITING_FOR_LOAD, "waiting for the load"

    def follow(self, recorder: RunRecorder) -> None:
        """Show what the recorder of the run is doing from now on."""
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
