# SPDX-License-Identifier: Apache-2.0
"""How far estimates scatter from one recording session to the next: a bootstrap over whole logs.

Drawing logs anew and solving the linear model again, over and over, has a covariance that can be written
down: that of the logs' scores, seen through the inverse information. Two corrections make it honest for the
few logs that there are. A log that holds a parameter nearly alone bends the fit its way, so that its own
score looks small: scores are enlarged by their leverage (CR2 of Bell and McCaffrey). And a score or two that
happen to be small must not pass for knowledge: part of the covariance is what the information matrix says,
enlarged by how much more than independent samples the logs scatter on average; the larger a part, the more
parameters there are per log.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from bam_core.arrays import Array
from bam_core.identification.search.evidence import PRIOR, Evidence

_LEAST_FREEDOM = 0.05  # of a log's score that leverage leaves; less would be enlarged without bounds


def covariance(evidence: Evidence, *, resolution: float = 0.0) -> Array:
    """Return the covariance (dimension, dimension) of the optimum, in squared shares of the search range.

    Args:
        evidence: of the logs at the optimum.
        resolution: of the encoder, rad; no estimate is better than errors of this size allow.
    """
    logs, dimension = evidence.scores.shape
    factor = np.asarray(np.linalg.cholesky(evidence.total), dtype=np.float64)
    scores = _leveraged(evidence, factor)
    scatter = scores.T @ scores
    inflation = max(float(np.trace(scatter)) / dimension, evidence.scatter)
    part = dimension / (dimension + logs)
    white = (1.0 - part) * scatter + part * inflation * np.eye(dimension)
    unwhiten = np.linalg.inv(factor)
    # What only the bounds of the search hold is as uncertain as these are wide.
    held_by_bounds = unwhiten @ (evidence.bounds @ evidence.bounds * PRIOR**2) @ unwhiten.T
    total = unwhiten.T @ (white + held_by_bounds) @ unwhiten
    return _no_better_than(
        total, unwhiten.T @ (unwhiten @ evidence.grain @ unwhiten.T) @ unwhiten, resolution
    )


def _leveraged(evidence: Evidence, factor: Array) -> Array:
    """Return the logs' scores (logs, dimension) about their mean, whitened and enlarged by leverage."""
    centred = evidence.scores - evidence.scores.mean(axis=0)
    white = solve_triangular(factor, centred.T, lower=True).T
    for i, information in enumerate(evidence.information):
        half = solve_triangular(factor, information, lower=True)
        leverage, directions = np.linalg.eigh(solve_triangular(factor, half.T, lower=True))
        freedom = np.sqrt(np.maximum(1.0 - leverage, _LEAST_FREEDOM))
        white[i] = directions @ ((directions.T @ white[i]) / freedom)
    return white


def _no_better_than(total: Array, grain: Array, resolution: float) -> Array:
    """Enlarge a covariance where errors of one encoder count, uniform and independent, would scatter more."""
    least = np.diag(grain) * resolution**2 / 12.0
    enlarge = np.sqrt(np.maximum(least / np.diag(total), 1.0))
    return np.asarray(total * np.outer(enlarge, enlarge))
