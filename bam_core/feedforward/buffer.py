# SPDX-License-Identifier: Apache-2.0
"""The piece that plays and the one that waits: continuous hand-over, refusals, and rest when pieces stop."""

from __future__ import annotations

import copy
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import Conflict, OutOfRange, WrongShape
from bam_core.errors.checks import require_positive
from bam_core.feedforward.piece import COEFFICIENTS, Piece, Reference

_SAME_POSITION, _SAME_VELOCITY, _SAME_TORQUE = 1e-6, 1e-4, 1e-3  # rad, rad/s, N·m: no jump at all
_AT_REST_SPEED, _AT_REST_ACCELERATION = 0.05, 2.0  # rad/s, rad/s²: torque then is what holding takes
_STILL = 1e-9  # rad/s
_SLACK = 1e-9  # relative; limits are met in spite of rounding
_TICK = 1e-6  # s; times closer than this are one
_LEAST_BRAKE = 1e-5  # s; in which a joint stops that is already at its limit


@dataclass(frozen=True, kw_only=True, eq=False)
class Limits:
    """What no reference leaves; every array is (joints,).

    Attributes:
        low: least position, rad.
        high: largest position, rad.
        speed: rad/s, above zero.
        torque: of τ_o, N·m, above zero.
        names: of the joints, for messages; may be left out.

    Raises:
        BamError: shapes differ, a limit is not a number, or low is not below high.
    """

    low: Array
    high: Array
    speed: Array
    torque: Array
    names: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shape = np.shape(self.low)
        for name in ("low", "high", "speed", "torque"):
            values = np.array(getattr(self, name), dtype=np.float64)
            object.__setattr__(self, name, values)
            if values.shape != shape or values.ndim != 1 or np.any(np.isnan(values)):
                kind = WrongShape if values.shape != shape or values.ndim != 1 else OutOfRange
                raise kind(f"limits {name}", values, "a number per joint", printed=str(values.tolist()))
        if np.any(self.low >= self.high) or np.any(self.speed <= 0.0) or np.any(self.torque <= 0.0):
            raise Conflict("limits", "low >= high, or speed or torque not above 0", advice="correct them")

    def including(self, position: Array) -> Limits:
        """Return them, wide enough for where joints stand already, (joints,) rad."""
        if np.all((position >= self.low) & (position <= self.high)):
            return self
        return replace(self, low=np.minimum(self.low, position), high=np.maximum(self.high, position))

    def joint(self, index: int) -> str:
        """Return what a joint is called in messages."""
        return f"joint {self.names[index]!r}" if self.names else f"joint {index}"


@dataclass(frozen=True, kw_only=True)
class HandOver:
    """How pieces follow each other.

    Attributes:
        blend: in which a piece takes over from one that it does not quite continue, s.
        jump: largest gap that is blended, rad; larger ones are refused.
        speed_jump: the same of velocities, rad/s.
        torque_jump: the same of torques, N·m.
        braking: deceleration where the stream ends in motion, rad/s².
        torque_decay: time in which torque then goes to zero, s.
        horizon: how far ahead a piece may begin, s.
        waiting: how many pieces may wait behind the one that plays.

    Raises:
        BamError: a value is not above zero.
    """

    blend: float = 0.04
    jump: float = 0.05
    speed_jump: float = 2.0
    torque_jump: float = 3.0
    braking: float = 60.0
    torque_decay: float = 0.15
    horizon: float = 5.0
    waiting: int = 1

    def __post_init__(self) -> None:
        require_positive("hand-over", **self.__dict__)


class PieceBuffer:
    """What a servo follows: pieces while they come, rest when they end.

    A piece takes over at its start, or at once where that has passed; what was planned from then on is
    dropped. Where it does not quite continue what it follows, the gap goes to zero over `HandOver.blend`,
    smoothly, and the result keeps the limits too. A piece is refused, and nothing changes, where it has
    ended, begins beyond the horizon, jumps further than can be blended, exceeds a limit, is not of these
    joints, or finds no place behind those that wait.

    Joints that stand outside their limits at first may be led back inside, and not further out.

    Where no piece follows, all joints brake to rest together and hold. Torque fades to what holding takes.
    Where that is not known, it stays if the piece ended at rest, and fades to zero if it did not.
    """

    def __init__(
        self,
        position: ArrayLike,
        limits: Limits,
        hand_over: HandOver | None = None,
        torque: ArrayLike = 0.0,
        holding: Callable[[Array], Array] | None = None,
    ) -> None:
        """Hold a position.

        Args:
            position: (joints,) rad.
            limits: that pieces keep.
            hand_over: how they follow each other.
            torque: (joints,) τ_o that holding takes, N·m; not needed with `holding`.
            holding: what it takes at any position, (joints,) rad -> (joints,) N·m.

        Raises:
            BamError: the position is not finite or not that of as many joints.
        """
        place = np.array(position, dtype=np.float64)
        if place.shape != limits.low.shape or not np.all(np.isfinite(place)):
            kind = WrongShape if place.shape != limits.low.shape else OutOfRange
            raise kind(
                "buffer position", place, f"{len(limits.low)} finite angles", printed=str(place.tolist())
            )
        self._limits = limits
        self._rules = HandOver() if hand_over is None else hand_over
        held = np.zeros((len(place), COEFFICIENTS))
        load = held.copy()
        held[:, 0], load[:, 0] = place, torque if holding is None else holding(place)
        self._plan = [Piece(start=-1e9, duration=1.0, position=held, torque=load)]
        self._waiting: tuple[float, ...] = ()
        self._holding = holding

    @property
    def limits(self) -> Limits:
        """What every reference keeps."""
        return self._limits

    def copy(self) -> PieceBuffer:
        """Return one that has planned the same; what is offered to either does not change the other."""
        return copy.copy(self)

    def at(self, time: float) -> Reference:
        """Return what to follow at a time in s, whatever has come by then."""
        playing = self._plan[max(bisect_right(self._plan, time, key=lambda piece: piece.start) - 1, 0)]
        reference = playing.at(time)
        if time > playing.end + _TICK:
            rest = np.zeros_like(reference.position)
            return replace(reference, velocity=rest, acceleration=rest)
        return reference

    def offer(self, piece: Piece, now: float, *, notice: float = 0.0, name: str = "") -> None:
        """Take a piece over.

        Args:
            piece: to be played from its start, or from now on where that has passed.
            now: s, of the same clock.
            notice: how long what was planned goes on at least, s.
            name: what it is called where it is refused; empty: by its start.

        Raises:
            BamError: the reason; what was planned goes on.
        """
        self._forget(now)
        waiting = self._place(piece, now)
        parts = self._joined(piece, now + notice, name or f"piece {piece.start - now:+.3g} s from now")
        self._waiting = waiting
        plan = [planned for planned in self._plan if planned.start < parts[0].start - _TICK]
        self._plan = [*plan, *parts, *self._brakes(parts[-1].at(parts[-1].end), parts[-1].end)]

    def stop(self, now: float) -> None:
        """Drop all pieces and brake to rest from where the trajectory is now."""
        self._forget(now)
        plan = [piece for piece in self._plan if piece.start < now - _TICK]
        self._plan = [*plan, *self._brakes(self.at(now), now)]
        self._waiting = ()

    def _forget(self, now: float) -> None:
        past = bisect_right(self._plan, now, key=lambda piece: piece.start) - 1
        self._plan = self._plan[max(past, 0) :]

    def _joined(self, piece: Piece, now: float, name: str) -> list[Piece]:
        rules = self._rules
        if piece.position.shape[0] != len(self._limits.low):
            raise WrongShape(f"{name}, joints", len(piece.position), str(len(self._limits.low)))
        start = max(piece.start, now)
        left = piece.end - start
        if left <= _TICK:
            raise OutOfRange(
                f"{name}, end", left, "a time to come", printed=f"{-left:.3g} s ago", advice="send it earlier"
            )
        if start > now + rules.horizon:
            raise OutOfRange(
                f"{name}, start",
                start - now,
                f"at most {rules.horizon:g} s ahead",
                printed=f"{start - now:.3g} s ahead",
                advice="send it later",
            )
        before, fresh = self.at(start), piece.at(start)
        limits = self._limits.including(before.position)
        _require_limits(piece.part(start, left), limits, name)
        gaps = (
            before.position - fresh.position,
            before.velocity - fresh.velocity,
            before.torque - fresh.torque,
        )
        _require_no_jump(gaps, rules, limits, name)
        same = (_SAME_POSITION, _SAME_VELOCITY, _SAME_TORQUE)
        if all(np.max(np.abs(gap)) <= least for gap, least in zip(gaps, same, strict=True)):
            return [piece.part(start, left)]
        span = min(rules.blend, left)
        blended = piece.part(
            start, span, _fading(gaps[0], gaps[1], span), _fading(gaps[2], np.zeros_like(gaps[2]), span)
        )
        _require_limits(blended, limits, f"{name}, blended with what it follows")
        if left - span <= _TICK:
            return [blended]
        return [blended, piece.part(start + span, left - span)]

    def _place(self, piece: Piece, now: float) -> tuple[float, ...]:
        """Return when those start that wait, with this one."""
        waiting = tuple(start for start in self._waiting if now < start < piece.start - _TICK)
        if len(waiting) >= self._rules.waiting:
            raise Conflict(
                f"piece {piece.start - now:+.3g} s from now",
                f"{len(waiting)} wait already",
                expected=f"at most {self._rules.waiting}",
                advice=f"send it after {waiting[0]:g} s",
            )
        return (*waiting, piece.start)

    def _brakes(self, last: Reference, time: float) -> list[Piece]:
        """Return pieces that end in rest, from a state at a time in s."""
        rules, rest = self._rules, np.zeros_like(last.velocity)
        limits = self._limits.including(last.position)
        fastest = float(np.max(np.abs(last.velocity)))
        room = np.where(last.velocity > 0.0, limits.high, limits.low) - last.position
        moving = np.abs(last.velocity) > _STILL
        soonest = float(np.min(2.0 * room[moving] / last.velocity[moving], initial=np.inf))
        span = max(min(fastest / rules.braking, soonest), _LEAST_BRAKE)
        torque_decay = max(rules.torque_decay, 2.0 * span)
        position, held, torque = np.zeros((3, len(rest), COEFFICIENTS))
        position[:, :3] = np.stack((last.position, last.velocity, -last.velocity / (2.0 * span)), axis=1)
        held[:, 0] = np.clip(last.position + 0.5 * span * last.velocity, limits.low, limits.high)
        hardest = float(np.max(np.abs(last.acceleration)))
        if self._holding is not None:
            torque[:, 0] = self._holding(held[:, 0])
        elif fastest <= _AT_REST_SPEED and hardest <= _AT_REST_ACCELERATION:
            torque[:, 0] = last.torque
        torque += _fading(last.torque - torque[:, 0], rest, torque_decay)
        whole = Piece(start=time, duration=torque_decay, position=position, torque=torque)
        return [
            Piece(start=time, duration=span, position=position, torque=torque),
            replace(whole.part(time + span, torque_decay - span), position=held),
        ]


def _fading(gap: Array, rate: Array, span: float) -> Array:
    """Return (joints, 5) of e(t) with e(0) = gap, ė(0) = rate, and e = ė = ë = 0 at the end of the span."""
    second = 3.0 * gap + span * rate
    # (1 - s)³·(gap + second·s)
    unit = np.stack((gap, second - 3.0 * gap, 3.0 * (gap - second), 3.0 * second - gap, -second), axis=1)
    return np.asarray(unit / span ** np.arange(COEFFICIENTS))


def _require_no_jump(gaps: tuple[Array, Array, Array], rules: HandOver, limits: Limits, name: str) -> None:
    kinds = (
        ("position", "rad", rules.jump),
        ("velocity", "rad/s", rules.speed_jump),
        ("torque", "N·m", rules.torque_jump),
    )
    for gap, (kind, unit, most) in zip(gaps, kinds, strict=True):
        joint = int(np.argmax(np.abs(gap)))
        if abs(gap[joint]) > most:
            raise OutOfRange(
                f"{name}, jump of {kind} of {limits.joint(joint)}",
                -gap[joint],
                f"at most {most:g}",
                printed=f"{-gap[joint]:.3g} {unit}",
                advice="begin where what was planned leads",
            )


def _require_limits(piece: Piece, limits: Limits, name: str) -> None:
    ranges = (
        ("position", "rad", limits.low, limits.high),
        ("velocity", "rad/s", -limits.speed, limits.speed),
        ("torque", "N·m", -limits.torque, limits.torque),
    )
    for quantity, unit, low, high in ranges:
        slack = _SLACK * np.maximum(np.abs(low), np.abs(high)) if np.all(np.isfinite(high)) else _SLACK
        least, most = piece.bounds(quantity)
        if np.all(least >= low - slack) and np.all(most <= high + slack):
            continue
        least, most = piece.extremes(quantity)
        over = (least < low - slack) | (most > high + slack)
        if np.any(over):
            joint = int(np.argmax(over))
            raise OutOfRange(
                f"{name}, {quantity} of {limits.joint(joint)}",
                (least[joint], most[joint]),
                f"within {low[joint]:.4g} to {high[joint]:.4g}",
                printed=f"{least[joint]:.4g} to {most[joint]:.4g} {unit}",
                advice="slow it down or keep away",
            )
