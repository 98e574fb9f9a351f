# SPDX-License-Identifier: Apache-2.0
"""The master's loop: one frame per period, the law of every drive, and torque off when anything is wrong.

It has a process to itself. As a thread of the node it waits for the node's interpreter lock after every sleep
and every answer. Measured at 1 kHz beside a node that publishes at 500 Hz, on two busy cores: the period was
off by 7 ms (p99) as a thread, by 0.4 ms (p99; 8 ms p99.9) as a thread with real-time priority and a short
switch interval, and by 0.02 ms (p99; 0.3 to 1.1 ms p99.9) as a process. Nor can a node that is killed or
hangs keep torque on: the master notices at once, or after `silence`.

What goes wrong ends in one of two ways, and the node is told in words. A cycle that was lost is counted; the
drives keep their last goal for a few periods and then get no current. Everything else trips: torque goes off
on every drive, in this very cycle, and stays off until the node has opened the segment anew.
"""

from __future__ import annotations

import math
import socket
import time
from collections import deque
from typing import Any

from bam_core.errors import BamError, Unavailable
from bam_ros.erob.al_status import AlStatus
from bam_ros.erob.axis import ENABLE_TIME, Axis
from bam_ros.erob.cia402 import is_line_fault
from bam_ros.erob.cycle_statistics import CycleStatistics
from bam_ros.erob.loss import loss_error, outside_op
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

_LOSS_TIME = 0.03  # s without a right answer after which the segment counts as lost; or three timeouts
_LIMP = 4  # lost cycles in a row after which the drives get no current
_REPORT_PERIOD = 0.5  # s
_STATE_PERIOD = 0.1  # s between looks at the AL status of a drive
_SPARE_FROM = 0.7  # of a period; a frame more takes a tenth of a millisecond
_LONGEST_POSTPONEMENT = 10  # cycles; then it is done though there is no time
_RELEASE_TIME = 0.2  # s at most, until every drive says that it let go
_RELEASE_CYCLES = 100  # at most, likewise


class Cycle:
    """Exchanges process data until the node says so or is gone.

    Args:
        link: to the node.
        segment: mapped, in SAFE-OP.
        axes: one per drive.
        settings: see there.
    """

    def __init__(
        self, link: socket.socket, segment: Segment, axes: list[Axis], settings: MasterSettings
    ) -> None:
        self.statistics = CycleStatistics()
        self._link, self._segment, self._axes, self._settings = link, segment, axes, settings
        self._goals = Goals(0, tuple(AxisGoal(False, math.nan, 0.0, 0.0) for _ in axes))
        self._checked = self._goals
        self._heard = time.monotonic()
        self._pacer = Pacer(settings.period, time.monotonic_ns())
        self._enable_cycles = round(ENABLE_TIME * 1e9 / settings.period)
        self._release_cycles = min(round(_RELEASE_TIME * 1e9 / settings.period), _RELEASE_CYCLES)
        self._loss_time = max(_LOSS_TIME, 3.0 * settings.answer_timeout)
        self._began = 0
        self._offset = 0
        self._lost_in_a_row = 0
        self._last_answer = 0.0
        self._trip_error: BamError | None = None  # for good: a new master opens the segment anew
        self._stopping = False
        self._postponed = 0
        self._outbox: deque[Note] = deque()
        self._mailbox_tasks = MailboxTasks(segment, axes, self._outbox.append)
        self._states: list[AlStatus | None] = [None] * len(axes)
        self._next_report = self._next_state = 0.0
        self._state_index = 0

    def warm_up(self) -> None:
        """Exchange once, torque off, without counting; for the way to OP."""
        self._pacer.wait()
        self._exchange(self._goals)

    def align(self, periods: int) -> None:
        """Bring the periods in step with the drives' clock, if they have one."""
        for _ in range(periods):
            self.warm_up()
            if abs(self._offset) > self._settings.period // 20:
                self._pacer.deadline -= self._offset
                self._offset = 0

    def reset_line_faults(self) -> None:
        """Reset the faults that blame the bus, which works again; all others stay for people to look at."""
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
        """Exchange until an answer is right; raises Unavailable where none is within the time of a loss."""
        deadline = time.monotonic() + self._loss_time
        while True:
            self._pacer.wait()
            outcome = self._exchange(self._goals)
            if outcome is Outcome.ANSWERED:
                return
            if time.monotonic() > deadline:
                segment = self._segment
                raise Unavailable(
                    f"interface {segment.interface}",
                    f"{outcome.value} in OP (working counter {segment.working_counter}, expected"
                    f" {segment.expected_counter})",
                    advice="switch the drives off and on",
                )

    def run(self) -> None:
        """Exchange until told to stop, or the node is gone; torque is off afterwards."""
        self._heard = self._last_answer = time.monotonic()
        self._began = 0
        try:
            while self._period():
                pass
        finally:
            self.release()

    def release(self) -> None:
        """Turn torque off and wait until every drive has done so, for some cycles at most."""
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
        """Exchange once, in time; false where it is time to end."""
        statistics, period = self.statistics, self._settings.period
        began, missed = self._pacer.wait()
        if self._began:
            statistics.period(began - self._began - period)
            statistics.late += missed
            if missed * period > self._settings.watchdog * 1e9:
                self._trip(
                    Unavailable(
                        "master process",
                        f"stood still for {(began - self._began) * 1e-9:.2f} s",
                        expected=f"{period * 1e-9:g} s",
                        advice="give it a processor, and real-time priority",
                    )
                )
        self._began = began
        if not self._listen():  # as late as can be: what is told now acts in this period
            return False
        self._check_goals()
        goals = self._safe_goals()
        statistics.sent += 1
        outcome = self._exchange(goals)
        if outcome is Outcome.ANSWERED:
            self._answered(goals, began)
        else:
            self._lost(outcome)
        self._spare_time(began)
        return True

    def _exchange(self, goals: Goals) -> Outcome:
        outputs = [axis.outputs(goal) for axis, goal in zip(self._axes, goals.axes, strict=True)]
        outcome = self._segment.exchange(outputs)
        if outcome is Outcome.ANSWERED:
            for index, axis in enumerate(self._axes):
                axis.take(self._segment.inputs(index))
            self._keep_step()
        return outcome

    def _check_goals(self) -> None:
        """Trip where the node hangs, or its newest goals must not be followed."""
        goals = self._goals
        if self._trip_error is not None:
            return
        wanted = any(axis.enable for axis in goals.axes)
        if wanted and time.monotonic() - self._heard > self._settings.silence:
            self._trip(
                Unavailable(
                    "driver",
                    f"no goals for {self._settings.silence:g} s while torque was on, the node hangs",
                    advice="give it a processor",
                )
            )
        elif goals is not self._checked:
            self._checked = goals
            for axis, goal in zip(self._axes, goals.axes, strict=True):
                if refusal := axis.take_goal(goal, self._heard):
                    self._trip(BamError(refusal))

    def _safe_goals(self) -> Goals:
        """Return the goals in force, or what is safe instead."""
        goals = self._goals
        if self._trip_error is not None:
            return released(goals.number, goals.axes)
        if self._lost_in_a_row >= _LIMP:  # nobody knows where the drives are: no current
            return Goals(
                goals.number, tuple(axis._replace(stiffness=0.0, damping=0.0) for axis in goals.axes)
            )
        return goals

    def _answered(self, goals: Goals, began: int) -> None:
        self.statistics.answered += 1
        self._lost_in_a_row = 0
        self._last_answer = time.monotonic()
        now = time.monotonic_ns()
        taken = (began + now) // 2 - self._settings.input_age  # the frame is on its way through the drives
        stamp = time.time_ns() - (now - taken)
        axes = tuple(axis.sample() for axis in self._axes)
        self._tell(Samples(goals.number, self.statistics.sent, stamp, taken, axes))
        for index, axis in enumerate(self._axes):
            if self._trip_error is None and (complaint := axis.complaint(self._enable_cycles)):
                self._look_at(index)  # where it is not in OP that is why
                self._trip(BamError(complaint))

    def _lost(self, outcome: Outcome) -> None:
        statistics = self.statistics
        if outcome is Outcome.UNANSWERED:
            statistics.unanswered += 1
        elif outcome is Outcome.WRONG:
            statistics.wrong += 1
        else:
            statistics.stale += 1
        self._lost_in_a_row += 1
        long = time.monotonic() - self._last_answer > self._loss_time
        if long and self._lost_in_a_row > _LIMP and self._trip_error is None:
            self._trip_by_loss(outcome)

    def _trip_by_loss(self, outcome: Outcome) -> None:
        """Turn torque off, find out who is missing, and report it."""
        for _ in range(3):  # so that those who still listen let go first
            self._exchange(released(self._goals.number, self._goals.axes))
        self._states = [self._segment.al_status(index) for index in range(len(self._axes))]
        self._trip(loss_error(self._segment, self._states, outcome, self._loss_time))

    def _trip(self, error: BamError) -> None:
        """Keep torque off from now on, and tell the node why, once."""
        if self._trip_error is None:
            self._trip_error = error
            self._outbox.append(failure_note(error))

    def _keep_step(self) -> None:
        """Follow the drives' clock, so that frames arrive half a period before they act."""
        if self._segment.dc_time:
            self._offset = phase(self._segment.dc_time, self._settings.period)
            self._pacer.follow(self._offset)

    def _listen(self) -> bool:
        """Take what the node has sent; false where it is time to end."""
        try:
            while (message := receive(self._link)) is not None:
                self._take(message)
        except EOFError:
            return False
        return not self._stopping

    def _take(self, message: Message) -> None:
        if isinstance(message, Goals):
            self._goals = message
            self._heard = time.monotonic()
        elif isinstance(message, Note):
            if message.kind == "stop":
                self._stopping = True
            else:
                self._mailbox_tasks.take(message)

    def _tell(self, message: Message) -> bool:
        try:
            return send(self._link, message)
        except OSError:
            self._stopping = True
            return False

    def _spare_time(self, began: int) -> None:
        """Do one thing that can wait, where there is time before the next period."""
        while self._outbox and self._tell(self._outbox[0]):
            self._outbox.popleft()
        now = time.monotonic()
        self._postponed += 1
        late = time.monotonic_ns() - began > _SPARE_FROM * self._settings.period
        if self._lost_in_a_row or (late and self._postponed < _LONGEST_POSTPONEMENT):
            return
        self._postponed = 0
        if self._mailbox_tasks.step():
            return
        if now >= self._next_state:
            self._next_state = now + _STATE_PERIOD / len(self._axes)
            self._state_index = (self._state_index + 1) % len(self._axes)
            self._look_at(self._state_index)
        elif now >= self._next_report:
            self._next_report = now + _REPORT_PERIOD
            self._report()

    def _look_at(self, index: int) -> None:
        """Ask one drive for its EtherCAT state: process data is answered outside OP, too."""
        status = self._segment.al_status(index)
        if status is not None:
            self._states[index] = status
            if not status.operational:
                self._trip(outside_op(self._segment, index, status))

    def _report(self) -> None:
        content: dict[str, Any] = {
            **self.statistics.summary(),
            "working_counter": self._segment.working_counter,
            "expected_counter": self._segment.expected_counter,
            "clock": bool(self._segment.dc_time),
            "offset": self._offset,
            "states": [str(status) if status else "unknown" for status in self._states],
            "drives": [axis.state.value for axis in self._axes],
        }
        self._tell(Note("report", content))
