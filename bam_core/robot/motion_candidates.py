# SPDX-License-Identifier: Apache-2.0
"""Random pieces of motion, some of them informative: all joints at once.

Each begins and ends at rest in the start posture, so that pieces may follow each other in any order.

- Sweeps: sums of two sines, slow and fast, around a posture that gravity loads: viscous friction, armature
  and back-EMF, at many loads.
- Steps: quick moves between postures, with a rest at each: strength, delay, armature, and what friction
  holds.
- Ramps: slow moves at constant speed that stop and turn back: friction at rest, its fading with speed, and
  how it grows with the load, which is carried once upwards and once downwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.robot.motion_limits import JointSpace

RATE = 100.0
"""Goals per second, 1/s; the driver's bus decides how many of them a servo gets."""

SHRINKING = (1.0, 0.6, 0.35, 0.2)
"""Sizes that are tried, the largest first, where a piece breaks a limit."""

_SWEEP = 6.0  # s
_EASE = 1.0  # s from rest into a sweep and out of it
_SLOW, _FAST = (0.15, 0.4), (0.5, 1.5)  # Hz, of a sweep's two sines
_FAST_SHARE = 0.35  # of the slow sine's size, at most
_STEPS, _REST = 3, 0.4  # postures of a piece; s at each
_RAMP_SPEED = (0.05, 0.3)  # rad/s
_RAMPS, _RAMP_TIME = 4, 1.2  # of a piece; s each
_HELD = 0.2  # probability that a joint holds its posture while the others move
_SHARE = 0.85  # of the speed limit that goals may have: joints overshoot them
_LEAST_MOVE = 0.5  # s
_TRIES = 40  # draws of a piece until its goals touch nothing


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """A piece of motion.

    Attributes:
        kind: "sweep", "steps" or "ramps".
        goal_position: (n, joints) rad, `RATE` per second; the first and the last are the start posture.
    """

    kind: str
    goal_position: Array

    @property
    def duration(self) -> float:
        """Seconds from its first goal to the first of what follows."""
        return len(self.goal_position) / RATE

    def smaller(self, share: float) -> Piece:
        """Return the same piece nearer to the start posture."""
        start = self.goal_position[0]
        return Piece(kind=self.kind, goal_position=start + share * (self.goal_position - start))


def draw_pieces(
    space: JointSpace,
    speed: float,
    count: int,
    seed: int,
    is_clear: Callable[[Array], bool] = lambda goals: True,
) -> list[Piece]:
    """Return pieces of all kinds in turn, the same for a seed.

    Args:
        space: where goals may lie.
        speed: limit of the joints, rad/s.
        count: how many.
        seed: of places, phases and speeds.
        is_clear: whether goals (n, joints) touch nothing; a piece is drawn anew until they do, some times.
    """
    random = np.random.default_rng(seed)
    kinds: Sequence[tuple[str, Callable[[JointSpace, float, np.random.Generator], Array]]] = (
        ("sweep", _sweep),
        ("steps", _steps),
        ("ramps", _ramps),
    )
    pieces = []
    for number in range(count):
        kind, draw = kinds[number % len(kinds)]
        for _ in range(_TRIES):
            goals = draw(space, _SHARE * speed, random)
            if is_clear(goals):
                break
        pieces.append(Piece(kind=kind, goal_position=goals))
    return pieces


def _posture(space: JointSpace, random: np.random.Generator) -> Array:
    return np.asarray(random.uniform(space.low, space.high))


def _sweep(space: JointSpace, speed: float, random: np.random.Generator) -> Array:
    time = np.arange(0.0, _SWEEP, 1.0 / RATE)[:, None]
    count = len(space.joints)
    centre = _posture(space, random)
    room = np.minimum(centre - space.low, space.high - centre) * random.uniform(0.3, 1.0, count)
    room[random.random(count) < _HELD] = 0.0
    fast = random.uniform(0.0, _FAST_SHARE, count)
    rates = [2.0 * np.pi * _spread(band, count, random) for band in (_SLOW, _FAST)]
    phases = random.uniform(0.0, 2.0 * np.pi, (2, count))
    waves = [np.sin(rate * time + phase) for rate, phase in zip(rates, phases, strict=True)]
    ease = _smooth(np.minimum(time, time[-1] - time) / _EASE)
    # The way to the posture is long: it takes as many seconds as the speed allows, the sines come on top.
    offset = ease * (room * ((1.0 - fast) * waves[0] + fast * waves[1]))
    offset *= np.minimum(1.0, 0.6 * speed / np.maximum(_fastest(offset), 1e-9))
    there = _move(space.start, centre, 0.9 * speed)
    back = there[::-1]
    return np.vstack([there, centre + offset, back])


def _steps(space: JointSpace, speed: float, random: np.random.Generator) -> Array:
    rest = round(_REST * RATE)
    here, parts = space.start, []
    for _ in range(_STEPS):
        there = _posture(space, random)
        kept = random.random(len(space.joints)) < _HELD
        there[kept] = here[kept]
        parts += [_move(here, there, speed * random.uniform(0.5, 1.0)), np.repeat(there[None], rest, axis=0)]
        here = there
    parts.append(_move(here, space.start, speed))
    return np.vstack(parts)


def _ramps(space: JointSpace, speed: float, random: np.random.Generator) -> Array:
    count = len(space.joints)
    centre = _posture(space, random)
    rest = round(0.5 * _REST * RATE)
    time = np.arange(0.0, _RAMP_TIME, 1.0 / RATE)[:, None]
    here = centre
    parts = [_move(space.start, centre, speed), np.repeat(centre[None], rest, axis=0)]
    sign = random.choice([-1.0, 1.0], count)
    for number in range(_RAMPS):
        pace = _spread(_RAMP_SPEED, count, random)
        pace[random.random(count) < _HELD] = 0.0
        ramp = np.clip(here + sign * (-1.0) ** (number // 2) * pace * time, space.low, space.high)
        here = ramp[-1]
        parts += [ramp, np.repeat(here[None], rest, axis=0)]
    parts.append(_move(here, space.start, speed))
    return np.vstack(parts)


def _move(begin: Array, end: Array, speed: float) -> Array:
    """Return (n, joints) from rest to rest; a cubic peaks at 1.5 times its mean speed."""
    duration = max(1.5 * float(np.abs(end - begin).max()) / speed, _LEAST_MOVE)
    share = _smooth(np.linspace(0.0, 1.0, round(duration * RATE) + 1))[:, None]
    return np.asarray(begin + share * (end - begin))


def _spread(band: tuple[float, float], count: int, random: np.random.Generator) -> Array:
    """Return numbers of a band of which every octave is as likely."""
    low, high = (float(np.log(end)) for end in band)
    return np.asarray(np.exp(random.uniform(low, high, count)))


def _smooth(share: Array) -> Array:
    share = np.clip(share, 0.0, 1.0)
    return np.asarray(share * share * (3.0 - 2.0 * share))


def _fastest(goals: Array) -> Array:
    return np.asarray(np.abs(np.diff(goals, axis=0)).max(axis=0) * RATE)
