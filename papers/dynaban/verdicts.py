# SPDX-License-Identifier: Apache-2.0
"""When a figure of Dynaban's kick holds: limits around the paper's figure, and an interval within them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from papers.claim import UNCERTAIN, UNEXPECTED, Claim, Figure, claim
from papers.dynaban.kicks import Figures

TOLERANCE = 0.3
"""Relative, of the paper's figures. It tells no spread between robots; other servos of the same make and
another kick of the same kind are to come so close."""

Size = Callable[[Figures, Figures], float]
"""Figures with the PID only and with feed-forward -> what a claim is about."""

ROBOTS_NOTE = (
    "*Robots*: robots differ, and with them a figure of the kick. Its 95 % interval is that of the mean over"
    " robots (Student's t). A claim holds where all of the interval is within the limits, and is not decided"
    " where a part of it is. It is contradicted where the interval and each robot are beyond the limit that"
    " the threshold names. The figure beside the paper's is the mean of all kicks"
)
"""What thresholds of the kick mean; said once on the page."""


def within(ours: float, paper: float, tolerance: float = TOLERANCE) -> bool:
    """Tell whether a figure is that of the paper but for a relative tolerance."""
    return abs(ours - paper) <= tolerance * abs(paper)


def gain_limits(paper: float) -> tuple[float, float]:
    """Return between which ratios a gain is the paper's.

    None of them is nearer to 1, which is no gain, than to the paper's on a logarithmic scale.
    """
    return max((1.0 - TOLERANCE) * paper, paper**0.5), (1.0 + TOLERANCE) * paper


_SURE = 0.975  # one tail of a 95 % interval


@dataclass(frozen=True, kw_only=True)
class OfRobots:
    """A figure of the kick.

    Attributes:
        mean: of all kicks.
        robots: of each robot's kicks.
        low, high: 95 % interval of the mean over robots; of one robot, that one.
    """

    mean: float
    robots: tuple[float, ...]
    low: float
    high: float

    @classmethod
    def make(cls, size: Size, before: Figures, after: Figures) -> OfRobots:
        """Return the figure of kicks with the PID only and with feed-forward."""
        pairs = zip(before.by_robot(), after.by_robot(), strict=True)
        robots = tuple(size(*pair) for pair in pairs)
        low, high = _interval(robots)
        return cls(mean=size(before, after), robots=robots, low=low, high=high)

    def is_within(self, low: float, high: float) -> bool:
        """Tell whether all of the interval is within limits."""
        return low <= self.low and self.high <= high

    def reaches(self, low: float, high: float) -> bool:
        """Tell whether a part of the interval is within limits."""
        return self.low <= high and self.high >= low

    def all_are(self, told: Callable[[float], bool]) -> bool:
        """Tell whether both ends of the interval, and each robot, are what `told` tells."""
        return all(told(ratio) for ratio in (self.low, self.high, *self.robots))

    def words(self) -> str:
        """Say what the interval is; nothing of one robot."""
        return f"95 % interval {self.low:.3g} to {self.high:.3g}" if len(self.robots) > 1 else ""


def _interval(robots: tuple[float, ...]) -> tuple[float, float]:
    from scipy.stats import t

    middle, count = float(np.mean(robots)), len(robots)
    if count < 2:
        return middle, middle
    half = float(t.ppf(_SURE, count - 1) * np.std(robots, ddof=1) / math.sqrt(count))
    return middle - half, middle + half


def synthetic_claim(
    name: str,
    paper: Figure,
    ours: Figure,
    holds: bool,
    threshold: str,
    unit: str = "",
    *,
    contradicts: bool = False,
    undecided: bool = False,
    reason: str = UNEXPECTED,
) -> Claim:
    """Return a claim on synthetic data; see `claim`."""
    return claim(
        "synthetic",
        name,
        paper,
        ours,
        holds,
        threshold,
        unit,
        contradicts=contradicts,
        undecided=undecided,
        reason=reason,
    )


def kick_claim(
    name: str,
    paper: Figure,
    size: Size,
    both: tuple[Figures, Figures],
    limits: tuple[float, float],
    threshold: str,
    unit: str = "",
    *,
    opposite: Callable[[float], bool] | None = None,
    moves: bool = True,
    reason: str = UNEXPECTED,
) -> Claim:
    """Return a claim that the interval over robots decides; see `ROBOTS_NOTE`.

    Args:
        name: where it stands and what it is.
        paper: its figure.
        size: of kicks with the PID only and with feed-forward, in that unit.
        both: these kicks.
        limits: between which it holds.
        threshold: these in words, with their reason.
        unit: of the figure.
        opposite: tells whether a figure contradicts the paper's; none does where it is left out.
        moves: whether joints move as far as the figure needs to mean something.
        reason: why it does not hold.
    """
    of_robots = OfRobots.make(size, *both)
    partly = of_robots.reaches(*limits)
    return synthetic_claim(
        name,
        paper,
        of_robots.mean,
        of_robots.is_within(*limits) and moves,
        threshold,
        ", ".join(filter(None, (unit, of_robots.words()))),
        contradicts=opposite is not None and of_robots.all_are(opposite),
        undecided=partly and moves,
        reason=f"{UNCERTAIN}; {reason}" if partly and moves else reason,
    )


def by_factor_claim(
    name: str,
    paper: float,
    size: Size,
    both: tuple[Figures, Figures],
    unit: str,
    *,
    reason: str = UNEXPECTED,
    note: str = "",
) -> Claim:
    """Return a claim about a figure that is to be the paper's ±30 %; arguments as of `kick_claim`."""
    low, high = (1 - TOLERANCE) * paper, (1 + TOLERANCE) * paper
    threshold = "; ".join(filter(None, (f"the paper's figure ±30 %: {low:.3g} to {high:.3g}", note)))
    return kick_claim(name, paper, size, both, (low, high), threshold, unit, reason=reason)


def gain_claim(name: str, paper: float, size: Size, both: tuple[Figures, Figures], reason: str) -> Claim:
    """Return a claim about a ratio in which feed-forward gains.

    It contradicts where in every robot the ratio is nearer to 1, which is no gain, than to the paper's, on a
    logarithmic scale; where the mean is, it does not hold either.
    """
    low, high = gain_limits(paper)
    return kick_claim(
        name,
        paper,
        size,
        both,
        (low, high),
        f"the paper's factor ±30 %, and nearer to it than to no gain, which is 1: {low:.3g} to {high:.3g};"
        f" contradicted below {paper**0.5:.3g}, nearer to no gain than to the paper's",
        opposite=lambda ratio: ratio < paper**0.5,
        reason=reason,
    )
