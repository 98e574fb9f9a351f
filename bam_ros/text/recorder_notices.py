# SPDX-License-Identifier: Apache-2.0
"""What a recording reports: bags that are there, runs that are done, loads to mount, how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bam_ros.text.notice import Notice
from bam_ros.text.spoiled_runs import SpoiledRun


@dataclass(frozen=True, kw_only=True)
class BrokenBag(Notice):
    """What is wrong with the bag of a run.

    Attributes:
        kind: "unreadable", "no_state" (interrupted before the first one was on disk), "interrupted",
            "cut_short", or "no_header".
        duration: of what is there of an interrupted run, s.
        messages: that are there of a bag that is cut short.
        expected: number of them, or the header's type.
        reason: why it is unreadable.
    """

    kind: Literal["unreadable", "no_state", "interrupted", "cut_short", "no_header"]
    duration: float = 0.0
    messages: int = 0
    expected: int | str = 0
    reason: str = ""

    def __str__(self) -> str:
        return {
            "unreadable": f"its bag cannot be read ({self.reason})",
            "no_state": "was interrupted before its first state was on disk",
            "interrupted": f"was interrupted after {self.duration:.1f} s",
            "cut_short": f"has a bag that is cut short ({self.messages} of {self.expected} messages)",
            "no_header": f"has a bag without {self.expected}",
        }[self.kind]


@dataclass(frozen=True, kw_only=True)
class RunRepeated(Notice):
    """The run of a broken bag, which will be recorded again."""

    run: str
    bag: BrokenBag

    def __str__(self) -> str:
        return f"run {self.run} {self.bag}: it will be recorded again"


@dataclass(frozen=True, kw_only=True)
class BagSetAside(Notice):
    """The interrupted bag of a run is kept under the name `aside`."""

    run: str
    aside: str

    def __str__(self) -> str:
        return f"run {self.run}: the interrupted bag is kept as {self.aside}, recording again"


@dataclass(frozen=True, kw_only=True)
class RunsKept(Notice):
    """Runs that are complete in an output directory.

    Attributes:
        output: directory.
        complete: number of these runs.
        runs: number of those in the session.
    """

    output: Path
    complete: int
    runs: int

    def __str__(self) -> str:
        return f"{self.output}: {self.complete} of {self.runs} runs are complete and kept"


@dataclass(frozen=True, kw_only=True)
class RunRecorded(Notice):
    """A run that counts.

    Attributes:
        run: number in the session, from 1.
        runs: number of those in the session.
        label: load, gain and script.
        states: in the bag.
        lost: states that are missing there.
    """

    run: int
    runs: int
    label: str
    states: int
    lost: int = 0

    def __str__(self) -> str:
        lost = f", {self.lost} lost on the way from the driver" if self.lost else ""
        return f"run {self.run} of {self.runs}, {self.label}: {self.states} states{lost}"


@dataclass(frozen=True, kw_only=True)
class RunSpoiled(Notice):
    """A run that does not count.

    Attributes:
        run: number in the session, from 1.
        runs: number of those in the session.
        label: load, gain and script.
        problem: why.
        kept: name of its bag; empty: there is none.
        attempt: number, from 1.
        attempts: after which the session ends.
    """

    run: int
    runs: int
    label: str
    problem: SpoiledRun
    kept: str = ""
    attempt: int
    attempts: int

    def __str__(self) -> str:
        kept = f"; its bag is kept as {self.kept} and counts for nothing" if self.kept else ""
        return (
            f"run {self.run} of {self.runs}, {self.label}: {self.problem}{kept} (attempt {self.attempt} of"
            f" {self.attempts})"
        )


@dataclass(frozen=True, kw_only=True)
class OtherSupply(Notice):
    """A supply that differs from that of the session.

    Attributes:
        session: name.
        nominal: in the session, V.
        measured: by the servo, V.
        tolerance: share of the nominal one by which it may differ.
    """

    session: str
    nominal: float
    measured: float
    tolerance: float

    def __str__(self) -> str:
        expected = f"within {100 * self.tolerance:g} %"
        return f"session {self.session}: {self.problem} (expected {expected}); {self.cure}"

    @property
    def problem(self) -> str:
        """What differs."""
        return f"supply_voltage is {self.nominal:g} V, but the servo measures {self.measured:.3g} V"

    @property
    def cure(self) -> str:
        """What to do."""
        return "correct supply_voltage in the session file, or the supply"


@dataclass(frozen=True, kw_only=True)
class FewStates(Notice):
    """A driver that reports too few states.

    Attributes:
        rate: of the states, 1/s.
        least: from which friction is seen to change, 1/s.
    """

    rate: float
    least: float

    def __str__(self) -> str:
        return (
            f"the driver reports {self.rate:.0f} states per second ({self.least:.0f} or more expected), which"
            " hides how friction changes near standstill; set the adapter's latency timer to 1 ms, or use a"
            " higher baud rate"
        )


@dataclass(frozen=True, kw_only=True)
class LoadWanted(Notice):
    """A load that the operator shall mount.

    Attributes:
        mass: kg.
        arm_mass: kg.
        length: m.
        service: to call then.
    """

    mass: float
    arm_mass: float
    length: float
    service: str

    def __str__(self) -> str:
        return (
            f"hang {self.mass:g} kg at {self.length:g} m (arm {self.arm_mass:g} kg), then call {self.service}"
            " (std_srvs/srv/Trigger)"
        )


@dataclass(frozen=True, kw_only=True)
class RecorderBusy(Notice):
    """A goal that comes while a session is recorded."""

    def __str__(self) -> str:
        return "recorder: a session is being recorded; wait for its end or cancel it"


@dataclass(frozen=True, kw_only=True)
class DriverAwaited(Notice):
    """A driver that is not heard yet.

    Attributes:
        driver: name.
        topic: on which its states are expected.
        limit: until which it is waited for, s.
    """

    driver: str
    topic: str
    limit: float

    def __str__(self) -> str:
        return f"waiting for driver {self.driver!r}: states on {self.topic}, up to {self.limit:g} s"


@dataclass(frozen=True, kw_only=True)
class DriversThere(Notice):
    """Which drivers run while one is awaited that is not among them.

    Attributes:
        driver: that is awaited.
        running: nodes that publish states of servos, as `--driver` takes them.
    """

    driver: str
    running: tuple[str, ...]

    def __str__(self) -> str:
        if not self.running:
            return f"driver {self.driver!r} is not there yet, nor any other"
        return f"driver {self.driver!r} is not there yet; those that run: {', '.join(self.running)}"


@dataclass(frozen=True, kw_only=True)
class OtherBags(Notice):
    """Bags of other runs in an output directory; `bags` is their number."""

    output: Path
    bags: int

    def __str__(self) -> str:
        there = "1 bag" if self.bags == 1 else f"{self.bags} bags"
        return (
            f"{self.output}: {there} of another session stay there, too, and an identification of this"
            " directory uses them; another --output keeps sessions apart"
        )


@dataclass(frozen=True, kw_only=True)
class RecordingEnded(Notice):
    """A recording of the node that somebody ended.

    Attributes:
        kind: "cancelled" (the goal) or "node" (which ends).
    """

    kind: Literal["cancelled", "node"]

    def __str__(self) -> str:
        return {
            "cancelled": "cancelled: the servo is released; the same goal goes on from here",
            "node": "recorder: ends; the servo is released, the same goal goes on from here",
        }[self.kind]


@dataclass(frozen=True, kw_only=True)
class SessionStopped(Notice):
    """A session of the command that somebody stopped.

    Attributes:
        output: directory of its bags.
        complete: runs that are there.
        runs: of the session.
    """

    output: Path
    complete: int
    runs: int

    def __str__(self) -> str:
        kept = (
            f"{self.complete} of {self.runs} runs are complete and kept in {self.output}"
            if self.complete
            else "no run is complete"
        )
        return (
            f"interrupted, the servo is released; {kept}; a run that was cut short is recorded again: give"
            " the same command to continue"
        )


@dataclass(frozen=True, kw_only=True)
class SessionRecorded(Notice):
    """A session that is complete.

    Attributes:
        output: directory of its bags.
        recorded: runs recorded now.
        resumed: complete runs that were there.
        lost: states that are missing.
    """

    output: Path
    recorded: int
    resumed: int = 0
    lost: int = 0

    def __str__(self) -> str:
        verb = "was" if self.resumed == 1 else "were"
        kept = f", {self.resumed} {verb} there already" if self.resumed else ""
        lost = f"{self.lost} states lost" if self.lost else "no state lost"
        return f"{self.output}: {runs_text(self.recorded)} recorded{kept}, {lost}"


@dataclass(frozen=True, kw_only=True)
class RobotHolds(Notice):
    """A robot that holds where it is after its motion was interrupted."""

    def __str__(self) -> str:
        return "holds where it is: support the robot, then press Ctrl-C again to release it"


def runs_text(count: int) -> str:
    """Return a number of runs."""
    return "1 run" if count == 1 else f"{count} runs"
