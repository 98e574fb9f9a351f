# SPDX-License-Identifier: Apache-2.0
"""Errors over short horizons: a simulation that starts anew from measured states, again and again.

Over six seconds without a restart, one wrong stick or slip at the beginning decides the mean error. Over a
quarter of a second the error shows how good the model is.
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

HORIZONS = (SHORT, LONGER)
"""s; over which errors are reported beside those of whole runs."""


def short_horizon_errors(
    recordings: Sequence[Recording],
    servo: ServoLike,
    parameters: ArrayLike,
    horizon: float = SHORT,
    *,
    dt: float | None = None,
) -> Array:
    """Return the mean absolute position error of each candidate, restarted every `horizon` s.

    Restarts are from `measured_states`; what is not measured (temperature of the winding, twist of the arm)
    continues from the simulation. Costs as much as simulating the recordings once.

    Args:
        recordings: one at least.
        servo: only its firmware, integrator and quadratic rule are used; it must have no gear.
        parameters: (candidates, PARAMETERS) in SI units; or one candidate, see `rollout.parameter_vector`.
        horizon: from restart to restart, s.
        dt: as of `Rollout.for_servo`.

    Returns:
        (candidates, recordings) rad.

    Raises:
        BamError: no recordings, a wrong shape, or a number out of range.
    """
    return Rollout.for_servo(recordings, servo, dt=dt, restart=horizon).errors(parameters)
