# SPDX-License-Identifier: Apache-2.0
"""Where and why a port of the servo law differs from it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from bam_core.text.finding import Finding, percent

DEVIATION_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "quadratic_rule": "quadratic friction acts only where motor and load torque oppose each other",
        "no_rest": "friction at rest is zero or has the sign of the velocity: a held joint creeps",
        "no_stop_limit": "friction is not limited to what stops the motion in one step: it may add energy",
        "load_sum": "friction under load takes the sum of motor and load torque, not their difference",
        "no_load": "friction does not depend on the load",
        "no_stribeck": "friction has no Stribeck factor",
        "stale_motor_torque": "friction takes the motor torque of the step before: order of update",
        "limited_after_back_emf": "the demand is limited after the back-EMF, not before it",
        "no_limit": "the demand is not limited",
        "no_back_emf": "the motor has no back-EMF",
        "braked_when_off": "back-EMF brakes while torque is off",
        "set_point_survives": "the set-point of the firmware survives a reset",
        "set_point_never_restarts": "the set-point of the firmware survives resets and torque off",
        "rate_survives": "the last error of the derivative term survives a reset",
        "integral_survives": "the integral survives a reset",
        "no_goal_speed_limit": "the set-point jumps to the goal",
        "no_goal_acceleration_limit": "the speed of the set-point jumps",
        "late_goal": "a goal acts one step late",
        "no_rate": "the derivative gain does nothing",
        "no_integral": "the integral gain does nothing",
        "no_integral_limit": "the integral is not limited to the largest demand: it winds up",
        "no_dead_band": "the dead band is left out",
        "no_error_offset": "the offset of the error is left out",
        "no_supply_limit": "the supply does not limit the current",
        "other_sign": "friction has the sign of the motion",
    }
)
"""Common mistakes by name, in words."""


@dataclass(frozen=True, kw_only=True)
class Difference(Finding):
    """Where a port differs from the law in one golden case.

    Attributes:
        case: its name.
        step: index of the step with the largest difference.
        quantity: "motor torque" or "friction torque".
        expected: N·m.
        got: N·m.
        share: of the steps that differ.
        deviations: names in `DEVIATION_WORDS` that explain it; empty: nothing known does.
        adds_energy: friction drives the motion in some step.
    """

    kind: str = field(default="difference", init=False)
    case: str
    step: int
    quantity: str
    expected: float
    got: float
    share: float
    deviations: tuple[str, ...]
    adds_energy: bool

    @property
    def sentences(self) -> tuple[str, ...]:
        """Where, by how much, and why."""
        why = tuple(f"Cause: {DEVIATION_WORDS[name]}." for name in self.deviations) or (
            "No known mistake explains it.",
        )
        energy = ("Friction adds energy.",) if self.adds_energy else ()
        return (
            f"{self.case}: {percent(self.share)} of the steps differ.",
            f"Step {self.step}: {self.quantity} is {self.got:.6g} N·m instead of {self.expected:.6g} N·m.",
            *why,
            *energy,
        )
