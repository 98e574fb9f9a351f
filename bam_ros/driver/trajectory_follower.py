# SPDX-License-Identifier: Apache-2.0
"""Joints follow trajectories within tolerances, one goal at a time each; afterwards they are held."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Collection, Iterable, Sequence

from bam_core.errors import BamError, Conflict, Unavailable
from bam_core.recordings.joint_path import JointPath
from bam_ros.driver.active_trajectory import ActiveTrajectory, Progress, goal_in_force
from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_limits import Range
from bam_ros.driver.servo_bus import ServoBus, ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.trajectory_goal import (
    Ending,
    ErrorCode,
    FollowerSettings,
    Outcome,
    Tolerance,
    Tolerances,
    TrajectoryGoal,
)
from bam_ros.driver.trajectory_points import check_end, check_points
from bam_ros.text.driver_notices import TakenBySource

FEEDBACK_PERIOD = 0.05
"""Least time between two reports of progress, s on the clock of the bus."""

_HOLD_SHARE = 0.25  # of the timeout of commands, after which a held joint is commanded anew


class TrajectoryFollower:
    """Commands each joint along the trajectory of the newest goal that has it.

    Goals without a common joint are followed side by side. A goal switches torque on. It ends where it is
    reached within its tolerances, is cancelled, violates a tolerance, is replaced by a newer goal of one of
    its joints, loses a joint to an input of higher priority, or where torque goes off. Joints that have
    torque afterwards are held at the goal in force (at their measured position where they left the path)
    until somebody else commands them, or torque goes off.

    Args:
        bus: of the loop.
        loop: whose samples `step` gets.
        inputs: of the driver.
        limits: returns lowest and highest goal of each joint on the bus, rad.
        settings: see there.

    Attributes:
        settings: see above; they may change between goals, or during one.
    """

    def __init__(
        self,
        bus: ServoBus,
        loop: ServoLoop,
        inputs: CommandInputs,
        limits: Callable[[], Sequence[Range]],
        settings: FollowerSettings,
    ) -> None:
        self._bus, self._loop, self._inputs = bus, loop, inputs
        self._limits = limits
        self.settings = settings
        self._lock = threading.RLock()  # goals come from another thread than samples
        self._active: list[ActiveTrajectory] = []  # without common joints
        self._sample: ServoSample | None = None
        self._held: dict[int, float] = {}  # joint -> rad
        self._held_since: dict[int, float] = {}  # joint -> s; since its client has gone silent
        self._held_at = -math.inf  # s; when held joints were commanded last

    @property
    def held(self) -> frozenset[int]:
        """Joints that are held where a trajectory left them."""
        with self._lock:
            return frozenset(self._held)

    def start(
        self,
        goal: TrajectoryGoal,
        on_done: Callable[[Outcome], None],
        *,
        cancelled: Callable[[], bool] = lambda: False,
        on_progress: Callable[[Progress], None] = lambda _: None,
    ) -> None:
        """Follow a goal instead of those with one of its joints, or report why not; from any thread.

        Args:
            goal: of a client.
            on_done: called once, in this thread or in that of the loop.
            cancelled: asked with each sample.
            on_progress: called in the loop's thread.
        """
        if self.settings.acknowledges_faults and not self._end_fault(goal, on_done):
            return
        with self._lock:
            try:
                active = self._accepted(goal)
            except _RefusedError as refusal:
                on_done(_aborted(str(refusal), refusal.code))
                return
            active.cancelled, active.on_progress, active.on_done = cancelled, on_progress, on_done
            for replaced in self._with_any(active.places):
                self._end(replaced, _REPLACED)
            for place in active.places:
                self._held.pop(place, None)
            self._active.append(active)

    def step(self, sample: ServoSample) -> None:
        """Command what is due; called in the loop's thread with each sample."""
        with self._lock:
            self._sample = sample
            self.check()
            for active in tuple(self._active):
                if active in self._active:  # the end of another may have ended it
                    self._follow(active, sample)
            self._hold()

    def check(self) -> None:
        """End the goals of joints that a fault keeps off; called where something happened in the loop."""
        with self._lock:
            if self._loop.latched:
                self.stop(self._loop.fault or "torque is off")
            elif stopped := self._loop.stopped:
                self.release(stopped, "torque is off: " + self._loop.latched_fault(stopped))

    def stop(self, reason: str) -> None:
        """End all goals and hold nothing any more: torque is off, or goes off; from any thread.

        Args:
            reason: in words.
        """
        with self._lock:
            for active in tuple(self._active):
                self._end(active, _aborted(reason), hold=False)
            self._held.clear()

    def hold(self, places: Collection[int]) -> None:
        """Hold joints where they are, with torque on, until somebody else commands them; from any thread.

        Joints that are held or follow a trajectory go on.

        Args:
            places: of the joints on the bus.

        Raises:
            Unavailable: a fault keeps torque off, or no position was read yet.
            Conflict: another input commands a joint.
        """
        with self._lock:
            sample = self._sample
            if fault := self._loop.latched_fault(places):
                raise Unavailable("torque", f"is off, {fault}", advice="call ~/reset_fault, then again")
            if sample is None or any(not math.isfinite(sample.position[place]) for place in places):
                raise Unavailable("joints", "no position was read yet", advice="wait for joint_states")
            followed = {place for active in self._active for place in active.places}
            new = [place for place in places if place not in self._held and place not in followed]
            if closed := self._inputs.closed(CommandInput.HOLD, new):
                names = ", ".join(self._bus.names[place] for place in sorted(closed))
                raise Conflict(
                    "joints",
                    f"{names}: another input commands them",
                    expected="no such command for command_timeout",
                    advice="stop it",
                )
            for place in new:
                low, high = self._limits()[place]
                self._held[place] = min(max(goal_in_force(sample, place), low), high)
            self._held_at = -math.inf

    def release(self, places: Collection[int], reason: str) -> None:
        """Hold joints no longer, and end the goal that moves one of them; from any thread.

        Args:
            places: of the joints on the bus.
            reason: in words.
        """
        with self._lock:
            for active in self._with_any(places):
                self._end(active, _aborted(reason))
            for place in places:
                self._held.pop(place, None)

    def _end_fault(self, goal: TrajectoryGoal, on_done: Callable[[Outcome], None]) -> bool:
        """End a fault for a goal that can be followed; return whether there is none now, or report why not.

        It waits for the loop, whose thread takes the lock: this thread must not have it.
        """
        try:
            places, _, _ = self._checked(goal)
            if self._loop.latched_fault(places):
                self._loop.acknowledge(places)
        except _RefusedError as refusal:
            on_done(_aborted(str(refusal), refusal.code))
        except BamError as error:
            on_done(_aborted(f"torque is off: {error}"))
        else:
            return True
        return False

    def _checked(self, goal: TrajectoryGoal) -> tuple[tuple[int, ...], tuple[Range, ...], Tolerances]:
        """Return places, limits and tolerances of the joints of a goal; raises _RefusedError."""
        try:
            places = goal.places(self._bus.names)
        except BamError as error:
            raise _RefusedError(str(error), ErrorCode.INVALID_JOINTS) from None
        try:
            limits = tuple(self._limits()[place] for place in places)
            check_points(goal.points, goal.joints, limits)
            if goal.ends_at_rest:
                check_end(goal.points[-1], goal.joints)
            return places, limits, goal.tolerances(self.settings.default)
        except BamError as error:
            raise _RefusedError(str(error)) from None

    def _accepted(self, goal: TrajectoryGoal) -> ActiveTrajectory:
        """Return what will be followed; raises _RefusedError."""
        sample, now = self._sample, self._bus.now()
        places, limits, tolerances = self._checked(goal)
        kinds = self._bus.command_kinds
        for place in places:
            if kinds[place] is not CommandKind.POSITION:
                raise _RefusedError(
                    f"joint {self._bus.names[place]!r}: is commanded by {kinds[place].value} (expected"
                    " position); leave it out, or set the parameter command_interfaces",
                    ErrorCode.INVALID_JOINTS,
                )
        if fault := self._loop.latched_fault(places):
            raise _RefusedError(f"torque is off: {fault}")
        if sample is None or any(not math.isfinite(sample.position[place]) for place in places):
            raise _RefusedError("joints: no position was read yet (expected one); wait for joint_states")
        if closed := self._inputs.closed(CommandInput.TRAJECTORY, places):
            raise _RefusedError(str(self._taken(closed)))
        path = JointPath(goal.points)
        start = self._start(goal, path, sample, now)
        states = [self._state(place, sample, now) for place in places]
        positions, velocities = zip(*states, strict=True)
        return ActiveTrajectory(
            places=places,
            path=path.starting_from(now - start, positions, velocities),
            start=start,
            began=now,
            limits=limits,
            tolerances=tolerances,
        )

    def _start(self, goal: TrajectoryGoal, path: JointPath, sample: ServoSample, now: float) -> float:
        """Return when a goal starts, s on the clock of the bus; raises _RefusedError where it is over."""
        if not goal.stamp:
            return now
        start = self._bus.acquired(sample) + 1e-9 * (goal.stamp - sample.stamp)
        late = now - start - path.end
        if late > 0.0:
            raise _RefusedError(
                f"header.stamp: the trajectory ended {late:.3g} s ago (expected an end ahead, on the clock of"
                f" joint_states); send it earlier, or with the stamp 0",
                ErrorCode.OLD_HEADER_TIMESTAMP,
            )
        return start

    def _state(self, place: int, sample: ServoSample, now: float) -> tuple[float, float]:
        """Return where a joint is, as far as goals are concerned: position in rad and velocity in rad/s."""
        for active in self._with_any((place,)):
            index = active.places.index(place)
            position, velocity = active.path.at(now - active.start)
            return position[index], velocity[index]
        if place in self._held:
            return self._held[place], 0.0
        return goal_in_force(sample, place), 0.0

    def _with_any(self, places: Collection[int]) -> list[ActiveTrajectory]:
        """Return the goals that have one of these joints."""
        return [active for active in self._active if not set(active.places).isdisjoint(places)]

    def _follow(self, active: ActiveTrajectory, sample: ServoSample) -> None:
        if active.cancelled():
            self._end(active, Outcome(ending=Ending.CANCELLED, text="cancelled"))
            return
        now = self._bus.now()
        active.note(sample)
        if (place := active.without_torque(sample, now)) is not None:
            self._end(active, _aborted(self._why_without_torque(place)))
            return
        progress = active.progress(sample, self._bus.acquired(sample))
        if now - active.reported >= FEEDBACK_PERIOD:
            active.reported = now
            active.on_progress(progress)
        if progress.time < active.path.end:
            if wrong := self._errors(active, active.tolerances.path, progress):
                self._end(
                    active,
                    _aborted(f"on its path, {wrong}", ErrorCode.PATH_TOLERANCE_VIOLATED),
                    measured=True,
                )
                return
        elif wrong := self._errors(active, active.tolerances.goal, progress):
            if progress.time > active.path.end + active.tolerances.goal_time:
                self._end(active, _aborted(f"at its end, {wrong}", ErrorCode.GOAL_TOLERANCE_VIOLATED))
                return
        elif active.is_there(sample):
            if self._command(active, active.path.last):
                self._end(active, Outcome(ending=Ending.SUCCEEDED), active.path.last)
            return
        self._command(active, active.path.at(now - active.start)[0])

    def _command(self, active: ActiveTrajectory, positions: Sequence[float]) -> bool:
        """Send goals; end the goal, and return false, where an input of higher priority commands a joint."""
        refused = self._inputs.take(CommandInput.TRAJECTORY, active.commands(positions))
        if refused:
            self._end(active, _aborted(str(self._taken(refused))))
        return not refused

    def _why_without_torque(self, place: int) -> str:
        if self._inputs.closed(CommandInput.TRAJECTORY, (place,)):
            return str(self._taken((place,)))
        name = self._bus.names[place]
        return f"{name}: its torque is off ({self._loop.withheld.get(name, 'expected on')})"

    def _taken(self, places: Iterable[int]) -> TakenBySource:
        return TakenBySource(joints=tuple(self._bus.names[place] for place in sorted(places)))

    def _errors(self, active: ActiveTrajectory, tolerances: Sequence[Tolerance], progress: Progress) -> str:
        """Return which joint is not where it should be, in words; empty: all are."""
        exceeded = progress.exceeded(tolerances)
        if exceeded is None:
            return ""
        index, wrong = exceeded
        return f"{self._bus.names[active.places[index]]}: {wrong}; free the joint, or raise the tolerance"

    def _end(
        self,
        active: ActiveTrajectory,
        outcome: Outcome,
        at: Sequence[float] | None = None,
        *,
        measured: bool = False,
        hold: bool = True,
    ) -> None:
        """Report what became of a goal, and hold its joints.

        Args:
            active: the goal.
            outcome: of it.
            at: positions at which they are held, rad; None: the goals in force.
            measured: hold them where they are instead, so that one that is blocked is not pressed on.
            hold: whether they are held at all.
        """
        self._active.remove(active)
        self._held_at = -math.inf
        sample = self._sample
        for index, place in enumerate(active.places):
            if not hold or sample is None or not sample.torque_enabled[place]:
                continue
            position = sample.position[place] if measured else goal_in_force(sample, place)
            low, high = active.limits[index]
            self._held[place] = min(max(at[index] if at is not None else position, low), high)
        self._inputs.let_go(CommandInput.TRAJECTORY, active.places)  # before clients hear of the end
        active.on_done(outcome)

    def release_forgotten(self, hold_time: float) -> tuple[str, ...]:
        """Switch off joints that have been held for longer than `hold_time` s; return their names.

        Nobody commands a held joint. From any thread.
        """
        with self._lock:
            now = self._bus.now()
            forgotten = [place for place in self._held if now - self._held_since.get(place, now) > hold_time]
            for place in forgotten:
                del self._held[place]
            if forgotten:
                self._inputs.take(CommandInput.HOLD, dict.fromkeys(forgotten, JointCommand()))
            return tuple(self._bus.names[place] for place in sorted(forgotten))

    def _hold(self) -> None:
        now = self._bus.now()
        if self._held.keys() != self._held_since.keys():
            self._held_since = {place: self._held_since.get(place, now) for place in self._held}
        if not self._held or now - self._held_at < _HOLD_SHARE * self.settings.timeout:
            return
        self._held_at = now
        commands = {
            place: JointCommand(torque_enable=True, position=position)
            for place, position in self._held.items()
        }
        for place in self._inputs.take(CommandInput.HOLD, commands):
            del self._held[place]


_REPLACED = Outcome(ending=Ending.REPLACED, code=ErrorCode.INVALID_GOAL, text="replaced by a newer goal")


class _RefusedError(Exception):
    """A goal that is not followed.

    Args:
        text: why, one line.
        code: of the result.
    """

    def __init__(self, text: str, code: ErrorCode = ErrorCode.INVALID_GOAL) -> None:
        super().__init__(text)
        self.code = code


def _aborted(text: str, code: ErrorCode = ErrorCode.INVALID_GOAL) -> Outcome:
    return Outcome(ending=Ending.ABORTED, code=code, text=text)
