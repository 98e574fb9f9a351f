# SPDX-License-Identifier: Apache-2.0
"""The cycle of the EtherCAT master: one frame per period, control of every drive, torque off on errors.

The master is a process of its own. As a thread of the node, it would wait for the node's interpreter lock
after every sleep and every answer. Error of the period, measured at 1 kHz on two busy cores beside a node
that publishes at 500 Hz:

- thread: 7 ms (p99)
- thread with real-time priority and a short switch interval: 0.4 ms (p99), 8 ms (p99.9)
- process: 0.02 ms (p99), 0.3 to 1.1 ms (p99.9)

A node that is killed or hangs cannot keep torque on either. The master notices the end of the node at once,
and its silence after `MasterSettings.silence`.

There are two reactions to errors. A lost cycle is counted; the drives keep their last goals for a few periods
and then get no current. Every other error trips the master: torque goes off on every drive in the same cycle.
It stays off until the node opens the segment again. The node receives the reason as an error line.
"""

from __future__ import annotations

import math
import socket
import time
from collections import deque
from typing import Any, Protocol

from bam_core.errors import BamError, Unavailable
from bam_ros.erob.al_status import AlStatus
from bam_ros.erob.axis import ENABLE_TIME, Axis
from bam_ros.erob.cia402 import is_line_fault
from bam_ros.erob.cycle_statistics import CycleStatistics
from bam_ros.erob.errors import MasterStalled, NodeSilent, OutsideOp
from bam_ros.erob.loss import loss_error
from bam_ros.erob.mailbox_tasks import MailboxTasks
from bam_ros.erob.master_settings import MasterSettings
from bam_ros.erob.messages import (
    AxisGoal,
    Goals,
    Message,
    Note,
    Samples,
    failure_note,
    receive,
    released,
    send,
)
from bam_ros.erob.pacing import Pacer, phase
from bam_ros.erob.segment import Outcome, Segment

_LOSS_TIME = 0.03  # s without a valid answer until the segment counts as lost; at least three timeouts
_MAX_LOST_CYCLES = 4  # lost cycles in a row, after which the drives get no current
_REPORT_PERIOD = 0.5  # s between reports to the node
_AL_STATUS_PERIOD = 0.1  # s between two reads of a drive's AL status
_BACKGROUND_DEADLINE = 0.7  # share of the period after which no task begins; its frame takes about 0.1 ms
_MAX_POSTPONED = 10  # cycles without a background task; the next one has one, even if it is late
_RELEASE_TIME = 0.2  # s at most until every drive reports torque off
_RELEASE_CYCLES = 100  # cycles at most, likewise


class Clock(Protocol):
    """What a cycle reads of the time, as the module `time` has it."""

    def monotonic(self) -> float:
        """Return s on a clock that does not go back."""

    def monotonic_ns(self) -> int:
        """Return the same in ns."""

    def time_ns(self) -> int:
        """Return ns of the wall clock."""


class Cycle:
    """Exchanges process data until the node sends "stop" or exits.

    Args:
        link: to the node.
        segment: mapped, in SAFE-OP.
        axes: one per drive.
        settings: of the master.
        clock: of deadlines and stamps.
    """

    def __init__(
        self,
        link: socket.socket,
        segment: Segment,
        axes: list[Axis],
        settings: MasterSettings,
        clock: Clock = time,
    ) -> None:
        self.statistics = CycleStatistics()
        self._clock = clock
        self._link, self._segment, self._axes, self._settings = link, segment, axes, settings
        self._goals = Goals(0, tuple(AxisGoal(False, math.nan, 0.0, 0.0) for _ in axes))
        self._checked_goals = self._goals
        self._last_goals_time = self._clock.monotonic()
        self._pacer = Pacer(settings.period, self._clock.monotonic_ns())
        self._enable_cycles = round(ENABLE_TIME * 1e9 / settings.period)
        self._release_cycles = min(round(_RELEASE_TIME * 1e9 / settings.period), _RELEASE_CYCLES)
        self._loss_time = max(_LOSS_TIME, 3.0 * settings.answer_timeout)
        self._began = 0
        self._offset = 0
        self._lost_in_a_row = 0
        self._last_answer = 0.0
        self._trip_error: BamError | None = None  # never reset: the node starts a new master
        self._stopping = False
        self._postponed = 0
        self._outbox: deque[Note] = deque()
        self._mailbox_tasks = MailboxTasks(segment, axes, self._outbox.append)
        self._al_statuses: list[AlStatus | None] = [None] * len(axes)
        self._next_report = self._next_al_status = 0.0
        self._al_status_index = 0

    def warm_up(self) -> None:
        """Exchange once with torque off, outside the statistics; for the transition to OP."""
        self._pacer.wait()
        self._exchange(self._goals)

    def align(self, periods: int) -> None:
        """Synchronise the periods with the distributed clock of the drives, if they have one."""
        for _ in range(periods):
            self.warm_up()
            if abs(self._offset) > self._settings.period // 20:
                self._pacer.deadline -= self._offset
                self._offset = 0

    def reset_line_faults(self) -> None:
        """Reset drive faults that a past bus error caused; other faults stay, for a person to examine."""
        for axis in self._axes:
            if is_line_fault(axis.sample().error_code):
                axis.switch.reset_fault()
        for _ in range(self._release_cycles):
            if not any(axis.switch.resetting for axis in self._axes):
                return
            self.warm_up()
        for axis in self._axes:
            axis.switch.give_up()

    def require_answers(self) -> None:
        """Exchange until an answer is valid.

        Raises:
            Unavailable: no answer was valid within the loss time.
        """
        deadline = self._clock.monotonic() + self._loss_time
        while True:
            self._pacer.wait()
            outcome = self._exchange(self._goals)
            if outcome is Outcome.ANSWERED:
                return
            if self._clock.monotonic() > deadline:
                segment = self._segment
                raise Unavailable(
                    f"interface {segment.interface}",
                    f"{outcome.value} in OP (working counter {segment.working_counter}, expected"
                    f" {segment.expected_counter})",
                    advice="switch the drives off and on",
                )

    def run(self) -> None:
        """Exchange until the node sends "stop" or exits, or `stop` is called; then turn torque off."""
        self._last_goals_time = self._last_answer = self._clock.monotonic()
        self._began = 0
        try:
            while self._period():
                pass
        finally:
            self.release()

    def release(self) -> None:
        """Turn torque off, and wait a limited number of cycles until every drive reports it off."""
        self._goals = released(self._goals.number, self._goals.axes)
        for _ in range(self._release_cycles):
            self._pacer.wait()
            if self._exchange(self._goals) is Outcome.ANSWERED and not any(
                axis.sample().enabled for axis in self._axes
            ):
                return

    def stop(self) -> None:
        """Make `run` return after the current period; may be called from a signal handler."""
        self._stopping = True

    def _period(self) -> bool:
        """Wait for the next period and exchange once; return False if the cycle has to end."""
        statistics, period = self.statistics, self._settings.period
        began, missed = self._pacer.wait()
        if self._began:
            statistics.period(began - self._began - period)
            statistics.late += missed
            if missed * period > self._settings.watchdog * 1e9:
                self._trip(MasterStalled((began - self._began) * 1e-9, period * 1e-9))
        self._began = began
        if not self._receive_messages():  # as late as possible: these goals act in this period
            return False
        self._check_goals()
        goals = self._safe_goals()
        statistics.sent += 1
        outcome = self._exchange(goals)
        if outcome is Outcome.ANSWERED:
            self._handle_answer(goals, began)
        else:
            self._handle_loss(outcome)
        self._do_background_task(began)
        return True

    def _exchange(self, goals: Goals) -> Outcome:
        """Send outputs for these goals, and give a valid answer to the axes."""
        outputs = [axis.outputs(goal) for axis, goal in zip(self._axes, goals.axes, strict=True)]
        outcome = self._segment.exchange(outputs)
        if outcome is Outcome.ANSWERED:
            for index, axis in enumerate(self._axes):
                axis.take(self._segment.inputs(index))
            self._follow_drive_clock()
        return outcome

    def _check_goals(self) -> None:
        """Trip if the node hangs with torque on, or an axis refuses its newest goals."""
        goals = self._goals
        if self._trip_error is not None:
            return
        wanted = any(axis.enable for axis in goals.axes)
        if wanted and self._clock.monotonic() - self._last_goals_time > self._settings.silence:
            self._trip(NodeSilent(self._settings.silence))
        elif goals is not self._checked_goals:
            self._checked_goals = goals
            for axis, goal in zip(self._axes, goals.axes, strict=True):
                if refusal := axis.take_goal(goal, self._last_goals_time):
                    self._trip(BamError(str(refusal)))

    def _safe_goals(self) -> Goals:
        """Return the goals in force, with torque off after a trip and without current after lost cycles."""
        goals = self._goals
        if self._trip_error is not None:
            return released(goals.number, goals.axes)
        if self._lost_in_a_row >= _MAX_LOST_CYCLES:  # positions are unknown: no current
            return Goals(
                goals.number, tuple(axis._replace(stiffness=0.0, damping=0.0) for axis in goals.axes)
            )
        return goals

    def _handle_answer(self, goals: Goals, began: int) -> None:
        """Send samples to the node; trip if an axis reports a fault.

        Args:
            goals: of this cycle.
            began: ns of the monotonic clock, start of the period.
        """
        self.statistics.answered += 1
        self._lost_in_a_row = 0
        self._last_answer = self._clock.monotonic()
        now = self._clock.monotonic_ns()
        taken = (began + now) // 2 - self._settings.input_age  # the frame was at the drives half-way
        stamp = self._clock.time_ns() - (now - taken)
        axes = tuple(axis.sample() for axis in self._axes)
        self._send(Samples(goals.number, self.statistics.sent, stamp, taken, axes))
        for index, axis in enumerate(self._axes):
            if self._trip_error is None and (complaint := axis.complaint(self._enable_cycles)):
                self._check_al_status(index)  # a drive that is not in OP gives a clearer reason
                self._trip(BamError(str(complaint)))

    def _handle_loss(self, outcome: Outcome) -> None:
        """Count a cycle without valid answer; trip if there was none for the loss time."""
        statistics = self.statistics
        if outcome is Outcome.UNANSWERED:
            statistics.unanswered += 1
        elif outcome is Outcome.WRONG:
            statistics.wrong += 1
        else:
            statistics.stale += 1
        self._lost_in_a_row += 1
        is_lost = self._clock.monotonic() - self._last_answer > self._loss_time
        if is_lost and self._lost_in_a_row > _MAX_LOST_CYCLES and self._trip_error is None:
            self._trip_by_loss(outcome)

    def _trip_by_loss(self, outcome: Outcome) -> None:
        """Turn torque off, read the AL status of every drive, and trip."""
        for _ in range(3):  # drives that still receive frames turn torque off first
            self._exchange(released(self._goals.number, self._goals.axes))
        self._al_statuses = [self._segment.al_status(index) for index in range(len(self._axes))]
        self._trip(loss_error(self._segment, self._al_statuses, outcome, self._loss_time))

    def _trip(self, error: BamError) -> None:
        """Keep torque off from now on; send the first error to the node."""
        if self._trip_error is None:
            self._trip_error = error
            self._outbox.append(failure_note(error))

    def _follow_drive_clock(self) -> None:
        """Adjust the pacer to the distributed clock: frames arrive half a period before they act."""
        if self._segment.dc_time:
            self._offset = phase(self._segment.dc_time, self._settings.period)
            self._pacer.follow(self._offset)

    def _receive_messages(self) -> bool:
        """Take all messages of the node; return False if it has exited or the cycle has to end."""
        try:
            while (message := receive(self._link)) is not None:
                self._take(message)
        except EOFError:
            return False
        return not self._stopping

    def _take(self, message: Message) -> None:
        if isinstance(message, Goals):
            self._goals = message
            self._last_goals_time = self._clock.monotonic()
        elif isinstance(message, Note):
            if message.kind == "stop":
                self._stopping = True
            else:
                self._mailbox_tasks.take(message)

    def _send(self, message: Message) -> bool:
        """Return whether the message was sent: the node may be too slow. A broken link ends the cycle."""
        try:
            return send(self._link, message)
        except OSError:
            self._stopping = True
            return False

    def _do_background_task(self, began: int) -> None:
        """Send waiting notes; do one task if there is time before the next period.

        The tasks are, by priority: a step of a mailbox task, an AL status, a report.

        Args:
            began: ns of the monotonic clock, start of the period.
        """
        while self._outbox and self._send(self._outbox[0]):
            self._outbox.popleft()
        now = self._clock.monotonic()
        self._postponed += 1
        late = self._clock.monotonic_ns() - began > _BACKGROUND_DEADLINE * self._settings.period
        if self._lost_in_a_row or (late and self._postponed < _MAX_POSTPONED):
            return
        self._postponed = 0
        if self._mailbox_tasks.step():
            return
        if now >= self._next_al_status:
            self._next_al_status = now + _AL_STATUS_PERIOD / len(self._axes)
            self._al_status_index = (self._al_status_index + 1) % len(self._axes)
            self._check_al_status(self._al_status_index)
        elif now >= self._next_report:
            self._next_report = now + _REPORT_PERIOD
            self._report()

    def _check_al_status(self, index: int) -> None:
        """Read the AL status of one drive and trip outside OP: it answers process data there, too."""
        status = self._segment.al_status(index)
        if status is not None:
            self._al_statuses[index] = status
            if not status.operational:
                self._trip(OutsideOp(self._segment.who(index), status))

    def _report(self) -> None:
        content: dict[str, Any] = {
            **self.statistics.summary(),
            "working_counter": self._segment.working_counter,
            "expected_counter": self._segment.expected_counter,
            "clock": bool(self._segment.dc_time),
            "offset": self._offset,
            "states": [str(status) if status else "unknown" for status in self._al_statuses],
            "drives": [axis.state.value for axis in self._axes],
        }
        self._send(Note("report", content))
