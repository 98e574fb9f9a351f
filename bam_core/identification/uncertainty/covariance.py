# SPDX-License-Identifier: Apache-2.0
"""How far estimates scatter from one recording session to the next: a bootstrap over whole logs.

Drawing logs anew and solving the linear model again, over and over, has a covariance that can be written
down: that of the logs' scores, seen through the inverse information. Two corrections make it honest for the
few logs that there are. A log that holds a parameter nearly alone bends the fit its way, so that its own
score looks small: scores are enlarged by their leverage (CR2 of Bell and McCaffrey). And a score or two that
happen to be small must not pass for knowledge: part of the covariance is from the information matrix,
enlarged by how much more than independent samples the logs scatter on average; the larger a part, the more
parameters there are per log.

With a prior of units, that part is what the likelihood expects, in which errors are correlated within a log
and runs vary as those of other units do. The prior itself is as uncertain as its covariance.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import solve_triangular

from bam_core.arrays import Array
from bam_core.identification.search.evidence import PRIOR, Evidence
from bam_core.identification.search.space_prior import SpacePrior

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
    part = dimension / (dimension + logs)
    unwhiten = np.linalg.inv(factor)
    if evidence.prior is None:
        inflation = max(float(np.trace(scatter)) / dimension, evidence.scatter)
        expected = inflation * np.eye(dimension)
    else:
        expected = unwhiten @ _expected(evidence, evidence.prior) @ unwhiten.T
    white = (1.0 - part) * scatter + part * expected
    # What only the bounds of the search hold is as uncertain as these are wide.
    held = evidence.bounds @ evidence.bounds * PRIOR**2 + evidence.per_nat * evidence.prior_information
    total = unwhiten.T @ (white + unwhiten @ held @ unwhiten.T) @ unwhiten
    return _no_better_than(
        total, unwhiten.T @ (unwhiten @ evidence.grain @ unwhiten.T) @ unwhiten, resolution
    )


def _expected(evidence: Evidence, prior: SpacePrior) -> Array:
    """Return the covariance (dimension, dimension) of the summed scores, by what a prior knows of runs."""
    seen = evidence.information @ prior.run_factor
    by_runs = np.sum(seen @ seen.transpose(0, 2, 1), axis=0)
    return np.asarray(evidence.per_nat * evidence.information.sum(axis=0) + by_runs)


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
