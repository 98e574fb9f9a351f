# SPDX-License-Identifier: Apache-2.0
"""What every cause would show in the windows of recorded runs, and what the fit left there."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.identification.misfit.cause import Cause
from bam_core.identification.misfit.motion import Motion
from bam_core.identification.misfit.ranking import Forms, Regression, Score
from bam_core.identification.misfit.windows import WindowData, Windows, noise_gain
from bam_core.servo.friction import friction_model
from bam_core.text.misfit_findings import (
    MissingPhysics,
)

# Limits at which window residuals are clipped, in standard deviations (estimated from the median):
_CLIP_DISAGREEING = 3.0  # one of measured and simulated arm sticks for longer
_CLIP_AGREEING = 20.0  # both move for about as long
_MAD = 0.6745  # median absolute value of a normal error, in standard deviations


class CauseResponses:
    """Windows, weighted, and what every cause would show in them."""

    def __init__(
        self,
        windows: Windows,
        moved: Sequence[Motion],
        seen: WindowData,
        causes: Sequence[Cause],
        deviations: Sequence[float],
    ) -> None:
        self._seen = seen
        self._bends = windows.bends
        self._inertia = np.array([motion.inertia for motion in moved])[seen.log]
        self._answers = np.concatenate(
            [
                windows.responses(
                    np.concatenate(
                        [np.empty((len(motion.time), 0)), *(cause.torques(motion) for cause in causes)],
                        axis=1,
                    ),
                    index,
                    motion,
                    seen.free[index],
                )
                for index, motion in enumerate(moved)
            ]
        )
        self.forms: dict[str, Forms] = {}
        start = 0
        for cause in causes:
            edges = start + np.concatenate([[0], np.cumsum(cause.sizes)])
            self.forms[cause.kind] = Forms(
                columns=tuple(range(low, high) for low, high in itertools.pairwise(edges.tolist())),
                together=cause.together,
                range=cause.range,
                least=cause.least,
            )
            start = int(edges[-1])
        recordings, dt = windows.rollout.recordings, windows.rollout.dt
        variance = np.array(
            [
                deviation**2 * noise_gain(windows.steps, dt, recording.dt)
                for deviation, recording in zip(deviations, recordings, strict=True)
            ]
        )
        orders = variance.shape[1]
        self._noise = variance[seen.log[::orders]].ravel()
        self._residual = _clipped(seen)
        level = [
            max(float(np.mean(self._residual[seen.log == i] ** 2)), float(variance[i].mean()))
            for i in range(len(recordings))
        ]
        self._weights = 1.0 / np.sqrt(np.array(level))[seen.log]

    def regression(self, group: NDArray[np.intp]) -> Regression:
        """Return the regression in which these groups are left out in turn."""
        return Regression(
            self._residual, self._seen.sensitivity, self._answers, self._weights, group, self._noise
        )

    def shift(self, prior: float) -> Array:
        """Return where parameters want to go, see `ranking.Regression.shift`."""
        return self.regression(np.zeros(len(self._residual), dtype=np.intp)).shift(prior)

    def cost(self, seen: WindowData) -> float:
        """Return the residual cost at another point, weighted as at this one; large errors count less."""
        return float(np.mean(np.sqrt(1.0 + (self._weights * seen.residual) ** 2)))

    def finding(self, cause: Cause, score: Score, model: str) -> MissingPhysics:
        """Return the numbers of a cause that a friction model lacks."""
        taken = self._answers[:, list(score.columns)] @ score.coefficients
        torque, residual = (
            float(np.sqrt(np.mean((self._inertia * acceleration)[self._bends] ** 2)))
            for acceleration in (taken, self._residual)
        )
        return MissingPhysics(
            kind=cause.kind,
            share=score.share,
            effects=cause.effects,
            forms=tuple(cause.forms[form] for form in score.forms),
            changes=tuple(map(float, score.coefficients)) if cause.least else (),
            share_error=score.error,
            torque=torque,
            residual_torque=residual,
            is_modelled=_is_modelled(cause.kind, model),
        )


def _is_modelled(kind: str, model: str) -> bool:
    """Return whether a friction model has a term for this cause."""
    terms = friction_model(model).parameters
    if kind == "friction_over_velocity":
        return "stribeck_velocity" in terms
    return kind == "friction_over_load" and len(terms) > 5


def _clipped(seen: WindowData) -> Array:
    """Return residuals, clipped log by log; closer where only one of measured and simulated arm sticks."""
    residual = seen.residual.copy()
    for log in range(int(seen.log.max()) + 1):
        own = seen.log == log
        deviation = float(np.median(np.abs(residual[own]))) / _MAD
        limit = deviation * np.where(seen.agrees[own], _CLIP_AGREEING, _CLIP_DISAGREEING)
        residual[own] = np.clip(residual[own], -limit, limit)
    return residual
