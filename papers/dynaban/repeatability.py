# SPDX-License-Identifier: Apache-2.0
"""Dynaban, section 6: by how much kicks repeat better with feed-forward, leg by leg.

The paper does not tell how far its kicks differed when they began: the integral part "heavily reduces" the
error of the starting posture, and rests somewhere within stiction. So the split is looked for with all of
what stiction can leave, and with less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from papers.claim import Claim, claim
from papers.dynaban.kicks import Experiment, Figures, by_feed_forward, by_position, figures, leg_spread
from papers.dynaban.motor_model import DynabanModel
from papers.dynaban.stand import JOINTS
from papers.dynaban.verdicts import OfRobots, gain_limits
from papers.redone import Exhibit, Task

SHARES = (0.3, 0.1, 0.0)
"""Of what stiction can leave before a kick; about a factor of three apart, and none."""

_ALL = 1.0
_SUPPORTING, _KICKING = 3.0, 1.0
_COMPARABLE = 1.5  # factor between spreads over ten kicks that the paper may call comparable
_ALIKE = 1.0 / _COMPARABLE, _COMPARABLE


@dataclass(frozen=True, kw_only=True)
class Split:
    """Spread of the deformation over kicks, PID only over feed-forward.

    Attributes:
        supporting, kicking: of either leg, mean over its joints.
        spreads: of either leg, PID only and feed-forward: supporting, supporting, kicking, kicking, rad.
    """

    supporting: OfRobots
    kicking: OfRobots
    spreads: tuple[float, float, float, float]

    @classmethod
    def make(cls, before: Figures, after: Figures) -> Split:
        """Return the split of kicks with the PID only and of kicks with feed-forward."""
        spreads = [leg_spread(of_way, leg) for leg in ("supporting", "kicking") for of_way in (before, after)]
        supporting, kicking = (
            OfRobots.make(partial(_ratio, leg), before, after) for leg in ("supporting", "kicking")
        )
        return cls(
            supporting=supporting,
            kicking=kicking,
            spreads=(spreads[0], spreads[1], spreads[2], spreads[3]),
        )

    @property
    def holds(self) -> bool:
        """Whether the supporting leg gains as the paper's does, and the kicking leg does not."""
        return self.supporting.is_within(*gain_limits(_SUPPORTING)) and self.kicking.is_within(*_ALIKE)

    @property
    def may_hold(self) -> bool:
        """Whether a part of either interval is where it would have to be."""
        return self.supporting.reaches(*gain_limits(_SUPPORTING)) and self.kicking.reaches(*_ALIKE)

    @property
    def opposite(self) -> bool:
        """Whether the gain of supporting legs is nearer to none than to the paper's."""
        return self.supporting.all_are(lambda ratio: ratio < _SUPPORTING**0.5)


def find_splits(
    task: Task, experiment: Experiment, law: DynabanModel, known: tuple[Figures, Figures]
) -> dict[float, Split]:
    """Return the split by the share of what stiction leaves before kicks, all of it first.

    Args:
        task: who is told.
        experiment: the robots.
        law: (4), of all servos.
        known: figures of the experiment as it is, PID only and feed-forward.
    """
    laws = [law.law] * len(JOINTS)
    splits = {_ALL: Split.make(*known)}
    real = experiment.reality
    for share in SHARES:
        task.say(f"repeatability with {share:g} of what stiction leaves before kicks")
        less = replace(real, start=share * real.start, stiction=share * real.stiction)
        kicks = replace(experiment, reality=less).kicks()
        ways = by_position(kicks, less), by_feed_forward(kicks, less, [laws] * len(kicks))
        splits[share] = Split.make(*(figures(runs, experiment.repeats) for runs in ways))
    return splits


def split_claim(splits: Mapping[float, Split]) -> Claim:
    """Return the paper's 3 of the supporting leg beside 1 of the kicking one.

    It is contradicted where with every share each ratio of the supporting leg is nearer to 1 than to 3, and
    not decided where it comes out with another share than all.

    Args:
        splits: by the share of what stiction leaves before kicks, all of it among them.
    """
    low, high = gain_limits(_SUPPORTING)
    ours, others = splits[_ALL], [split for share, split in splits.items() if share != _ALL]
    contradicts = all(split.opposite for split in splits.values())
    undecided = ours.may_hold or any(split.holds for split in others)
    shares = "; ".join(
        f"{share:g} of it {_words(split.supporting)} and {_words(split.kicking)}"
        for share, split in splits.items()
    )
    return claim(
        "synthetic",
        "6, spread of the deformation over kicks, PID only / feed-forward: supporting leg, kicking leg",
        f"{_SUPPORTING:g}, comparable ({_KICKING:g})",
        f"{ours.supporting.mean:.3g}, {ours.kicking.mean:.3g}",
        ours.holds,
        f"supporting leg: {low:.3g} to {high:.3g}, the paper's factor ±30 %, and nearer to it than to 1."
        f" Kicking leg: within a factor of {_COMPARABLE:g} of 1, by which standard deviations of"
        " ten kicks differ by chance. Both are one claim: a program that feeds nothing forward would leave"
        " the kicking leg as it is. The paper does not tell what stiction left before its kicks, so that less"
        " of it is tried as well. Not decided where the claim holds with less. Contradicted where, with all"
        f" and with less, the supporting leg is below {_SUPPORTING**0.5:.3g}, nearer to 1 than to"
        f" {_SUPPORTING:g}",
        contradicts=contradicts,
        undecided=undecided,
        reason="kicks differ here mostly by where stiction leaves the integral part before them, with"
        f" feed-forward as without. Supporting and kicking leg, with {shares}",
    )


def splits_exhibit(splits: Mapping[float, Split]) -> Exhibit:
    """Return spreads by the share of what stiction leaves before kicks."""
    header = ("share", *(f"{leg} leg, {way} [°]" for leg in ("supporting", "kicking") for way in _WAYS))
    return Exhibit(
        name="section 6, repeatability",
        subject="standard deviation of the deformation over kicks by leg, with less left by stiction",
        remark="robots and kicks as fig. 2; share: of what stiction can leave of a joint's error and of its"
        " integral part before a kick; ratios with their 95 % interval over robots",
        table=(
            (*header, "supporting leg, ratio", "kicking leg, ratio"),
            *(
                (
                    f"{share:g}",
                    *(f"{np.degrees(spread):.3f}" for spread in split.spreads),
                    _words(split.supporting),
                    _words(split.kicking),
                )
                for share, split in splits.items()
            ),
        ),
    )


_WAYS = ("PID only", "feed-forward")


def _ratio(leg: str, before: Figures, after: Figures) -> float:
    """Return by what the spread of a leg falls with feed-forward."""
    return leg_spread(before, leg) / leg_spread(after, leg)


def _words(ratio: OfRobots) -> str:
    interval = f" ({ratio.low:.2f} to {ratio.high:.2f})" if len(ratio.robots) > 1 else ""
    return f"{ratio.mean:.2f}{interval}"
