# SPDX-License-Identifier: Apache-2.0
"""What an uncertainty is computed from: covariance of the logs, bias, errors of bench and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.evidence import Evidence, evidence, set_right
from bam_core.identification.search.gauss_newton import follow
from bam_core.identification.search.sensitivity import (
    Sensitivity,
    normalised,
    residuals_at,
)
from bam_core.identification.uncertainty.covariance import covariance
from bam_core.identification.uncertainty.header_errors import HeaderError, header_errors
from bam_core.identification.uncertainty.tolerances import EXACT, Tolerances
from bam_core.identification.uncertainty.valley import Valley, valley_around
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout
from bam_core.simulation.rollout_settings import RolloutSettings

_FINER = 4  # steps of the finer simulation per step of the one that was fitted


@dataclass(frozen=True, kw_only=True)
class UncertaintyTerms:
    """What an uncertainty is computed from; the ranking of further recordings starts from it.

    Attributes:
        optimum: sensitivity at the optimum nearest to the fit.
        evidence: of the logs at the optimum of simulations with finer steps.
        scatter: (n, n) covariance of that from session to session, and of what a descent could not resolve,
            in squared shares of the search range.
        discretisation_bias: (n,) offset of the fit from `optimum`, in shares of the search range: from the
            steps of the simulation, and from a search that ended early.
        headers: what errors of the bench would do.
        misfit: (any, n) moves of the fit, in shares of the search range, by which what it lacks may have
            biased it; none of a model that lacks nothing.
        valley: for intervals that follow its bends; None: they are straight.
    """

    optimum: Sensitivity
    evidence: Evidence
    scatter: Array
    discretisation_bias: Array
    headers: tuple[HeaderError, ...] = ()
    misfit: Array | None = None
    valley: Valley | None = None

    @property
    def bench(self) -> Array:
        """(n, n) covariance from errors of the bench."""
        return sum((np.outer(header.shift, header.shift) for header in self.headers), 0.0 * self.scatter)

    @property
    def lacking(self) -> Array:
        """(n, n) mean square of the moves by what the model lacks."""
        if self.misfit is None or not len(self.misfit):
            return 0.0 * self.scatter
        return np.asarray(self.misfit.T @ self.misfit / len(self.misfit))

    @property
    def covariance(self) -> Array:
        """(n, n) scatter plus squared discretisation bias, in squared shares of the search range."""
        return np.asarray(self.scatter + np.outer(self.discretisation_bias, self.discretisation_bias))

    @property
    def total(self) -> Array:
        """(n, n) mean square error: covariance, errors of the bench and of what the model lacks."""
        return np.asarray(self.covariance + self.bench + self.lacking)


def uncertainty_terms(
    servo: ServoModel,
    vector: Array,
    recordings: Sequence[Recording],
    optimum: Sensitivity,
    tolerances: Tolerances = EXACT,
    *,
    bent: bool = True,
) -> UncertaintyTerms:
    """Return the covariance of fitted parameters and what it follows from.

    Args:
        servo: its firmware, integrator and quadratic rule count.
        vector: (PARAMETERS,) the fit.
        recordings: that it was fitted to.
        optimum: what `nearest_optimum` finds from there.
        tolerances: of the bench; by default it is exact.
        bent: intervals will be asked for, and shall follow the bends of the valley.
    """
    space = optimum.space
    coarse = Rollout.for_servo(recordings, servo)
    finer = Rollout(
        recordings,
        servo.firmware,
        RolloutSettings(
            dt=coarse.dt,
            substeps=_FINER * coarse.substeps,
            integrator=servo.integrator,
            quadratic_rule=servo.friction.quadratic_rule,
        ),
    )
    fine = follow(finer, optimum)
    # Of second order in the step: what is left beyond the finer one is a share of the difference.
    coarseness = (residuals_at(finer, optimum.vector) - optimum.residuals) / (_FINER**2 - 1)
    right = set_right(fine, coarseness)
    log_evidence = evidence(right)
    # A way that the linear model sees and no step could go: the error is rough there, or bent.
    unreachable = set_right(fine, np.zeros_like(coarseness)).normalised - fine.normalised
    return UncertaintyTerms(
        optimum=optimum,
        evidence=log_evidence,
        scatter=covariance(log_evidence, resolution=servo.firmware.resolution)
        + np.outer(unreachable, unreachable),
        discretisation_bias=normalised(space, vector) - (right.normalised - unreachable),
        headers=tuple(header_errors(servo, recordings, optimum, right, tolerances)),
        valley=valley_around(servo, recordings, right, log_evidence)
        if bent and space.prior is None
        else None,
    )
