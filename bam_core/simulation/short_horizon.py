# SPDX-License-Identifier: Apache-2.0
"""Errors over short horizons: a simulation that starts anew from measured states, again and again.

Over six seconds in open loop, one early stick or slip decides the mean error; over a quarter of a second the
model itself does.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoLike
from bam_core.simulation.rollout import Rollout

SHORT = 0.25
"""s; a fraction of one swing of the arm."""

LONGER = 1.0
"""s; about one swing."""


def short_horizon_errors(
    recordings: Sequence[Recording],
    servo: ServoLike,
    parameters: ArrayLike,
    horizon: float = SHORT,
    *,
    dt: float | None = None,
) -> Array:
    """Return mean absolute position errors of candidates that start anew every `horizon` s.

    Position and velocity are those of `measured_states`; what nobody measured (warmth of the winding, the
    arm's twist) goes on from the simulation. Costs as much as simulating the recordings once.

    Args:
        recordings: one at least.
        servo: its firmware, integrator and quadratic rule count, its parameters do not; without a gear.
        parameters: (candidates, PARAMETERS) in SI units; or one candidate, see `rollout.parameter_vector`.
        horizon: from restart to restart, s.
        dt: as of `Rollout.for_servo`.

    Returns:
        (candidates, recordings) rad.

    Raises:
        BamError: no recordings, a wrong shape, or a number out of range.
    """
    return Rollout.for_servo(recordings, servo, dt=dt, restart=horizon).errors(parameters)
