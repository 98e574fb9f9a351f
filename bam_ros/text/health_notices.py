# SPDX-License-Identifier: Apache-2.0
"""Notices of the node `friction_observer`: friction of a joint beside its servo file."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.whole_body.friction_health import FrictionHealth
from bam_ros.text.notice import Notice

_SMALLEST = 1e-6  # of a probability that is printed


@dataclass(frozen=True, kw_only=True)
class FrictionNotice(Notice):
    """Friction of a joint by that of its servo file.

    Attributes:
        joint: name.
        health: what is known.
    """

    joint: str
    health: FrictionHealth

    def __str__(self) -> str:
        health = self.health
        if not health.blocks:
            return f"{self.joint}: friction is unknown yet; move the joint both ways for some seconds"
        low, high = health.interval
        interval = f"95 % interval {100.0 * low:.0f} to {100.0 * high:.0f} %"
        if not health.alarm:
            return (
                f"{self.joint}: friction is as in its servo file ({100.0 * health.change:+.0f} %, {interval})"
            )
        beside = "in its servo file" if health.reference == "file" else "when it was started"
        word = "more" if health.alarm == "increase" else "less"
        chance = f"p < {_SMALLEST:g}" if health.probability < _SMALLEST else f"p {health.probability:.1g}"
        return (
            f"{self.joint}: {100.0 * abs(health.change):.0f} % {word} friction than {beside} "
            f"({interval}, {chance}{self._heat_words}); {self._advice}"
        )

    @property
    def _heat_words(self) -> str:
        if self.health.heat is None:
            return "; its temperature is unknown, heat may be the cause"
        return f"; heat explains another {100.0 * self.health.heat:+.0f} %"

    @property
    def _advice(self) -> str:
        if self.health.alarm == "increase":
            return "check bearings, dirt and mounting; then identify the joint again, or replace the servo"
        return "it has run in, or a gear is loose: check the play, then identify the joint again"
