# SPDX-License-Identifier: Apache-2.0
"""The link between a servo's encoder and the mass on the arm: horn, screws and arm bend, and have play.

A light servo's encoder sits on the output shaft; what is screwed to it gives way. On recordings of an XL330
with 0.49 kg on its arm, the shaft springs some 2° ahead of the falling mass when the torque is released
under load, and rings with it at about 10 Hz. A spring with play: τ = (|δ| - b/2)₊·sign(δ)/c + d·δ̇
with δ the shaft's lead over the arm, c the compliance and b the backlash. The damping d is that of
DAMPING_RATIO; 6 s of recording hardly determine it.

One step is made by the implicit midpoint rule, as if the relative motion knew only the spring: stable for any
stiffness, of second order for the spring by itself, and closed-form, because within a step the spring is
linear. What else pulls within a step (gravity, motor, friction) makes the whole of first order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

DAMPING_RATIO = 0.2
"""Of the oscillation between arm and servo."""

LEAST_COMPLIANCE = 1e-6
"""rad/(N·m); a link stiffer than that, with a play of less radians, is taken as rigid."""

LEAST_INNER_SHARE = 1e-3
"""Of the arm's inertia: what counts on the servo's side at least, so that the link has a frequency."""

REST_ITERATIONS = 50
"""Of Newton's method for the arm's rest; half a dozen are enough unless the arm all but topples over."""

LEAST_SLOPE = 0.25
"""Keeps Newton's method from leaping where an arm topples over on a link that soft."""


@dataclass(frozen=True, kw_only=True)
class ArmLink:
    """The link of one servo on one bench, for steps of one length.

    Attributes:
        compliance: c, rad/(N·m).
        backlash: b, free play from end to end, rad.
        inner: inertia on the servo's side, kg·m²; at least LEAST_INNER_SHARE of `outer` counts.
        outer: inertia on the arm's side, kg·m².
        dt: length of a step, s. A spring that would swing faster than a step resolves is softened.
    """

    compliance: float
    backlash: float
    inner: float
    outer: float
    dt: float

    @property
    def is_rigid(self) -> bool:
        """True where neither spring nor play matters, or nothing is on the link."""
        return max(self.compliance, self.backlash) <= LEAST_COMPLIANCE or self.outer == 0.0

    @property
    def reduced_inertia(self) -> float:
        """Inertia of the relative motion, kg·m²."""
        inner = max(self.inner, LEAST_INNER_SHARE * self.outer)
        return inner * self.outer / (inner + self.outer)

    @property
    def stiffness(self) -> float:
        """1/c, N·m/rad."""
        return 1.0 / max(self.compliance, self.dt**2 / self.reduced_inertia)

    @property
    def damping(self) -> float:
        """Of the spring, N·m·s/rad."""
        return 2.0 * DAMPING_RATIO * math.sqrt(self.stiffness * self.reduced_inertia)

    def torque(self, lead: float, slip: float, half_step: float) -> float:
        """Return the mean torque on the arm during a step, N·m; the servo feels its opposite.

        Args:
            lead: shaft position less arm position at the start of the step, rad.
            slip: shaft velocity less arm velocity, rad/s.
            half_step: half the step for the midpoint rule, 0 where forces count at its start, s.
        """
        twist = lead + half_step * slip
        bent = math.copysign(max(abs(twist) - 0.5 * self.backlash, 0.0), twist)
        damping = self.damping if bent else 0.0
        softening = (
            1.0 + 0.5 * self.dt * (self.damping + 0.5 * self.dt * self.stiffness) / self.reduced_inertia
        )
        return (self.stiffness * bent + damping * slip) / softening

    def rest(self, shaft: float, gravity_torque: float) -> float:
        """Return the angle at which the arm hangs still from a shaft that is held, both from straight down.

        Args:
            shaft: rad.
            gravity_torque: of the arm when level, N·m.
        """
        if self.outer == 0.0:
            return shaft
        play = 0.5 * self.backlash
        taken = shaft - min(max(shaft, -play), play)  # where the play is taken up
        arm = shaft
        for _ in range(REST_ITERATIONS):
            excess = arm + gravity_torque * math.sin(arm) / self.stiffness - taken
            arm -= excess / max(1.0 + gravity_torque * math.cos(arm) / self.stiffness, LEAST_SLOPE)
        return arm
