# SPDX-License-Identifier: Apache-2.0
"""Servos in PWM mode that follow trajectories: from what is sent now and then to a duty in every cycle."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import BamError, OutOfRange, Unavailable, WrongShape
from bam_core.feedforward.buffer import HandOver, Limits, PieceBuffer
from bam_core.feedforward.controller import FeedForwardController, Opposition
from bam_core.feedforward.delay_meter import DelayMeter
from bam_core.feedforward.guard import Guard
from bam_core.feedforward.law import FeedForwardLaw
from bam_core.feedforward.pid import PidGains
from bam_core.feedforward.piece import DEFAULT_DURATION
from bam_core.feedforward.points import Dynamics, Points
from bam_core.servo.firmware_laws import VoltageFirmware

Plan = Callable[[PieceBuffer, float, float], float]
"""Changes a buffer, now, with a notice, s -> from when on it differs, s."""

_LEAST_NOTICE, _NOTICE_PER_PIECE = 0.01, 1e-3  # s; more than it takes to plan them
_ATTEMPTS = 3  # at planning in time
_LEAD_TIME_GROWTH = 4.0  # lead time for planning: its growth after each miss
_MANY = 10_000  # pieces of one trajectory
_LEAST_STEP, _LONGEST_STEP = 1e-4, 0.02  # s of a cycle; after a stall the PID goes on where it was
_SUPPLY_MEMORY = 0.2  # s over which the measured supply is averaged
_LEAST_SUPPLY = 0.5  # of the nominal one; with less no command is raised further


@dataclass(frozen=True, kw_only=True, eq=False)
class FollowerSettings:
    """How servos follow; sequences have one entry per joint.

    Attributes:
        laws: of the joints.
        supply: nominal, V.
        limits: that trajectories keep.
        firmware: in whose units the PID's gains are, and with what limit of duty.
        gains: of the PID at first.
        opposition: when the model is dropped.
        hand_over: how pieces follow each other; any number of them may wait.
        error: distance from the trajectory at which torque shall go off, rad.
        dynamics: of the robot, for trajectories without torques and for holding; None: PID alone holds.
    """

    laws: Sequence[FeedForwardLaw]
    supply: Sequence[float]
    limits: Limits
    firmware: VoltageFirmware
    gains: Sequence[PidGains]
    opposition: Opposition = field(default_factory=Opposition)
    hand_over: HandOver = field(default_factory=HandOver)
    error: float = 0.5
    dynamics: Dynamics | None = None


@dataclass(frozen=True, kw_only=True)
class OffTrajectory:
    """A joint that is too far from its trajectory.

    Attributes:
        error: reference less position, rad; NaN where the position is unknown.
        limit: largest error, rad.
    """

    error: float
    limit: float

    def __str__(self) -> str:
        """Return the error in one line, with what to do."""
        return (
            f"is {self.error:.3g} rad away from its trajectory (expected at most {self.limit:g}); free it,"
            " slow down, or correct its servo file"
        )


class Follower:
    """Holds where it is switched on, follows trajectories from there, and brakes and holds where they end.

    `hold`, `release`, `goal` and `duty` are called by the thread that owns the servos, `follow` and `stop` by
    another one. A plan is made on a copy, and takes the place of the old one as a whole, unless the owner has
    asked meanwhile for moments from which on they differ: then it is made anew. So goals never jump, however
    long either thread has to wait for the other or for a processor.

    Attributes:
        fault: why torque shall go off: joint, and reason; None: all is well.
        delay: by which they follow.
        accepted: trajectories that were taken over.
        refused: trajectories that were not.
        refusal: why not, the last time; empty once another one was taken over.
        drops: how often the model's contribution was dropped.

    Args:
        settings: see there.

    Raises:
        BamError: entries are not one per joint, or a value is out of range.
    """

    def __init__(self, settings: FollowerSettings) -> None:
        joints = len(settings.limits.low)
        for name in ("laws", "supply", "gains"):
            count = len(getattr(settings, name))
            if count != joints:
                raise WrongShape(f"follower {name}", count, f"one for each of {joints} joints")
        self._settings = settings
        self._rules = replace(settings.hand_over, waiting=_MANY)
        self._guard = Guard(limits=settings.limits, error=settings.error)
        self._nominal = np.array(settings.supply, dtype=np.float64)
        self._supply = self._nominal.copy()
        self._controller: FeedForwardController | None = None
        self._before: float | None = None
        self._on = np.ones(joints, dtype=bool)
        self._reached = -math.inf  # the latest moment for which a goal was told, s
        self._lock = threading.Lock()  # guards this, and which controller and plan there are
        self._gains = list(settings.gains)
        self.fault: tuple[int, OffTrajectory] | None = None
        self.delay = DelayMeter()
        self.accepted = self.refused = self.drops = 0
        self.refusal = ""

    @property
    def limits(self) -> Limits:
        """That trajectories keep."""
        return self._settings.limits

    @property
    def following(self) -> bool:
        """Whether it is switched on."""
        return self._controller is not None

    @property
    def model_on(self) -> Array:
        """Whether the model contributes, (joints,); true while servos are released."""
        return self._on

    def goal(self, time: float) -> Array:
        """Return where servos shall be at a time in s, (joints,) rad; NaN while they are released."""
        controller = self._controller_at(time)
        return (
            np.full_like(self._nominal, np.nan) if controller is None else controller.buffer.at(time).position
        )

    def prepare(self) -> None:
        """Do once all that a trajectory takes, on a follower without a servo.

        What it compiles and loads takes a third of a second or more, in which a thread that owns servos would
        have to wait: that has to happen with torque off.
        """
        trial = Follower(self._settings)
        limits, rest = trial.limits, np.zeros_like(self._nominal)
        place = np.clip(rest, limits.low, limits.high)
        trial.hold(place)
        trial.follow(Points(time=np.array([0.1]), position=place[None]), 0.0, 0.0)
        trial.duty(place, rest, self._nominal, measured=0.0, now=0.0)
        trial.stop(0.0)

    def hold(self, position: ArrayLike) -> None:
        """Switch on: torque has gone on, with the servos at (joints,) rad."""
        place = np.array(position, dtype=np.float64)
        settings = self._settings
        holding = None if settings.dynamics is None else self._holding
        controller = FeedForwardController(
            PieceBuffer(place, settings.limits, self._rules, holding=holding),
            settings.laws,
            settings.firmware,
            self._gains,
            settings.opposition,
        )
        self.fault, self._before = None, None
        with self._lock:
            self._controller, self._reached = controller, -math.inf

    def release(self) -> None:
        """Switch off: torque is off, and what was planned is forgotten."""
        if self._controller is not None or self.fault is not None:
            with self._lock:
                self._controller = None
            self.fault = None
            self._on = np.ones_like(self._on)

    def follow(self, points: Points, start: float, now: float) -> None:
        """Take over a trajectory, or refuse it as a whole.

        Where its first point is later than its start, it leads there from where the servos shall be at its
        start, or by now where that has passed.

        Args:
            points: in the order of the joints.
            start: s; where that has passed, the trajectory is joined where it would be by now.
            now: s, of the same clock as those of `duty`.

        Raises:
            BamError: why not; what was planned goes on.
        """
        try:
            self._take(points, start, now)
        except BamError as error:
            self.refuse(str(error))
            raise
        self.accepted += 1
        self.refusal = ""

    def refuse(self, reason: str) -> None:
        """Count a trajectory that could not even be read."""
        self.refused += 1
        self.refusal = reason

    def stop(self, now: float) -> None:
        """Drop all trajectories, brake along the way, and hold."""
        with self._lock:  # planning this takes less than a cycle
            if self._controller is not None:
                buffer = self._controller.buffer.copy()
                buffer.stop(max(now, self._reached))
                self._controller.buffer = buffer

    def duty(self, position: Array, velocity: Array, supply: Array, *, measured: float, now: float) -> Array:
        """Return the duty to command, (joints,), -1..1; none once there is a fault.

        Args:
            position: (joints,) rad.
            velocity: (joints,) rad/s.
            supply: (joints,) V; NaN where it is not known.
            measured: when they were measured, s.
            now: s, of the same clock.
        """
        controller = self._controller_at(measured)
        if controller is None or self.fault is not None:
            return np.zeros_like(position)
        dt = min(max(now - (self._before or now), _LEAST_STEP), _LONGEST_STEP)
        self._before = now
        self._average(supply, dt)
        reference = controller.buffer.at(measured)
        error = reference.position - position
        self.delay.note(error, reference.velocity, dt)
        duty = controller.duty(measured, position, self._supply, dt, now - measured + 0.5 * dt)
        self.drops += int(np.count_nonzero(self._on & ~controller.model_on))
        self._on = controller.model_on
        lost = self._guard.lost(np.where(np.isfinite(duty), error, np.nan))
        if lost is not None:
            self.fault = lost, OffTrajectory(error=float(error[lost]), limit=self._settings.error)
            return np.zeros_like(position)
        return self._guard.allowed(duty, position, velocity)

    def tune(self, joint: int, gains: PidGains) -> None:
        """Give the PID of one joint other gains; called by the thread that owns the servos."""
        self._gains[joint] = gains
        if self._controller is not None:
            self._controller.pid.tune(joint, gains)

    def _take(self, points: Points, start: float, now: float) -> None:
        joints = len(self._settings.limits.low)
        if points.position.shape[1] != joints:
            raise WrongShape("trajectory positions, shape", points.position.shape, f"(points, {joints})")
        first, last = float(points.time[0]), float(points.time[-1])
        if not math.isfinite(start):
            raise OutOfRange("trajectory start", start, "a finite time", printed=f"{start:g} s")
        if last <= 0.0:
            raise OutOfRange(
                "trajectory end",
                last,
                "> 0",
                printed=f"{last:.3g} s after its start",
                advice="let it last longer",
            )
        # Before it is cut into pieces: with a wrong time they could be billions.
        reach = max(start + last - now, last - first)
        if reach > self._rules.horizon:
            raise OutOfRange(
                "trajectory reach",
                reach,
                f"at most {self._rules.horizon:g} s",
                printed=f"{reach:.3g} s ahead",
                advice="send it later, or in parts",
            )

        def plan(buffer: PieceBuffer, now: float, notice: float) -> float:
            late = max(now + notice - start, 0.0)
            if last <= late:
                raise OutOfRange(
                    "trajectory end",
                    last,
                    f"more than {late:.3g} s",
                    printed=f"{last:.3g} s after its start, {late - last:.3g} s too early to be planned",
                    advice="send it earlier, or let it last longer",
                )
            led = points.led_from(buffer.at(start + late), late) if first > late else points
            pieces = led.pieces(start, self._settings.dynamics)
            coming = [piece for piece in pieces if piece.end > now + notice]
            for piece in coming:
                where = f"trajectory, {max(piece.start - start, 0.0):.3g} s after its start"
                buffer.offer(piece, now, notice=notice, name=where)
            return max(coming[0].start, now + notice)

        self._replan(plan, now, _LEAST_NOTICE + _NOTICE_PER_PIECE * last / DEFAULT_DURATION)

    def _controller_at(self, time: float) -> FeedForwardController | None:
        """Return the controller; what is planned up to this time, s, may not change any more."""
        with self._lock:
            self._reached = max(self._reached, time)
            return self._controller

    def _replan(self, plan: Plan, now: float, notice: float) -> None:
        """Change a copy of what is planned, and put it in place before the moment from which on it differs.

        Args:
            plan: changes it.
            now: s.
            notice: of the first attempt, s.

        Raises:
            BamError: what the plan raises, torque is off, or the machine is too busy.
        """
        controller = self._controller
        if controller is None:
            raise Unavailable("trajectory", "torque is off", expected="on", advice="switch it on first")
        for attempt in range(_ATTEMPTS):
            buffer = controller.buffer.copy()
            notice *= _LEAD_TIME_GROWTH if attempt else 1.0
            try:
                begins = plan(buffer, now, notice)
            except BamError as error:
                if not attempt:
                    raise
                # It could be followed from the moment for which it was planned first.
                raise _not_in_time(notice) from error
            with self._lock:
                if self._controller is not controller:
                    raise Unavailable(
                        "trajectory",
                        "torque went off meanwhile",
                        expected="on",
                        advice="switch it on, and send it again",
                    )
                if self._reached <= begins:
                    controller.buffer = buffer
                    return
                now = max(now, self._reached)
        raise _not_in_time(notice)

    def _holding(self, place: Array) -> Array:
        """Return the torques that holding takes, (joints,) N·m at (joints,) rad."""
        assert self._settings.dynamics is not None
        rest = np.zeros((1, len(place)))
        return self._settings.dynamics(place[None], rest, rest)[0]

    def _average(self, supply: Array, dt: float) -> None:
        known = np.where(np.isfinite(supply), supply, self._nominal)
        share = min(dt / _SUPPLY_MEMORY, 1.0)
        self._supply += share * (np.maximum(known, _LEAST_SUPPLY * self._nominal) - self._supply)


def _not_in_time(notice: float) -> Unavailable:
    """Return the error for a trajectory that is planned too late, however much notice, s, it gets."""
    return Unavailable(
        "trajectory",
        f"is not planned within {notice:.2g} s",
        advice="send a shorter one, or free the machine",
    )
