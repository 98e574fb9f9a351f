# SPDX-License-Identifier: Apache-2.0
"""Standard errors, intervals and correlations of identified parameters, and which are identifiable.

Sources, as numbered in docs/uncertainty.md: variation between recordings (1, `covariance`), a search that
stopped early (2, `nearest_optimum`), discretisation bias (3), unreachable steps (4), errors of headers (5,
`header_errors`), missing physics (6, `misfit.diagnosis`). Sources 2 and 3 are known shifts: intervals are
centred on the optimum without them. The effect of finer steps is also removed from the residuals before the
variance between logs is computed; otherwise it would count twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from scipy.special import ndtri, stdtrit

from bam_core.arrays import Array
from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.search.sensitivity import (
    normalised,
    slope_at,
    value_at,
)
from bam_core.identification.search.space import Axis, SearchSpace
from bam_core.identification.uncertainty.calibration import calibrated
from bam_core.identification.uncertainty.estimates import ParameterEstimate, Uncertainty, is_wide
from bam_core.identification.uncertainty.terms import UncertaintyTerms, uncertainty_terms
from bam_core.identification.uncertainty.tolerances import DEFAULT, Tolerances
from bam_core.identification.uncertainty.valley import Valley
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.text.uncertainty_findings import IntervalMethod, ParameterRemark, RunAdvice

LEVEL = 0.95
"""Confidence level of the intervals."""

TRADING = 0.95
"""Correlation, either sign, from which two parameters are reported to trade with each other."""

NEGLIGIBLE = 0.01
"""A parameter that may be zero is identifiable where the half width is below this share of its range."""

PLACED = 0.05
"""The same limit for a parameter of either sign, such as an offset, whose value gives no scale."""

_REACH = float(ndtri(0.5 + LEVEL / 2.0))
_UNKNOWN = 0.5  # standard error, in shares of the search range, from which the data have no information
_RELATED = 0.5  # correlation from which two parameters are worth naming together
_CLEAR = 0.2  # of the standard error: what independent samples would leave of it where they are not
_MOSTLY = 0.5  # of the variance


Advise = Callable[[UncertaintyTerms, Sequence[int]], Sequence[RunAdvice | None]]
"""From uncertainty terms and indices of unidentifiable parameters to a clause each: which recording helps."""


def estimate_uncertainty(
    servo: ServoModel,
    recordings: Sequence[Recording],
    space: SearchSpace,
    bench_effects: BenchEffects = IDEAL_BENCH,
    *,
    advise: Advise | None = None,
    tolerances: Tolerances = DEFAULT,
    misfit: Array | None = None,
) -> Uncertainty:
    """Return how well the parameters of a fitted servo are known.

    Costs about as many simulations of all logs as three to ten times the free parameters, and up to a hundred
    with finer steps.

    Args:
        servo: with the parameters found.
        recordings: that they were fitted to, two at least.
        space: that was searched.
        bench_effects: that were found with it.
        advise: names the recording that would help, see `advice.advisor`.
        tolerances: of the bench.
        misfit: (any, dimension) moves of the parameters by what the model lacks, see `misfit.diagnosis`.
    """
    vector = parameter_vector(servo, bench_effects)
    optimum = nearest_optimum(Rollout.for_servo(recordings, servo), space, vector)
    terms = uncertainty_terms(servo, vector, recordings, optimum, tolerances)
    terms = replace(terms, misfit=misfit)
    return replace(
        describe(terms, normalised(space, vector), advise),
        prediction=calibrated(servo, recordings, optimum, terms.covariance),
    )


def describe(terms: UncertaintyTerms, where: Array, advise: Advise | None = None) -> Uncertainty:
    """Give uncertainties in the parameters' units and in words.

    Args:
        terms: of the fit.
        where: (dimension,) the fit, in shares of the search range.
        advise: see `estimate_uncertainty`.
    """
    space = terms.optimum.space
    total = terms.total
    errors = np.sqrt(np.diag(total))
    correlation = total / np.outer(errors, errors)
    logs = len(terms.evidence.scores)
    has_prior = space.prior is not None  # and with it a scatter that does not come of these logs alone
    reach = _REACH if has_prior else float(stdtrit(max(logs - 1, 1), 0.5 + LEVEL / 2.0))
    # How well the bench is known, and what the model lacks, is no matter of how many logs there are.
    by_bench, by_model = np.diag(terms.bench), np.diag(terms.lacking)
    besides = _REACH**2 * (by_bench + by_model)
    centre = where - terms.discretisation_bias
    ways = reach * np.sqrt(np.diag(terms.scatter))
    back, forth = (ways, ways) if terms.valley is None else _bent(terms.valley, centre, ways)
    low = np.clip(centre - np.sqrt(back**2 + besides), 0.0, 1.0)
    high = np.clip(centre + np.sqrt(forth**2 + besides), 0.0, 1.0)
    ends = [(float(from_), float(to)) for from_, to in zip(low, high, strict=True)]
    estimates = [
        _estimate(space, i, float(where[i]), float(errors[i]), ends[i], correlation[i])
        for i in range(space.dimension)
    ]
    estimates = [
        estimate
        if estimate.low <= estimate.value <= estimate.high
        else replace(estimate, finding=ParameterRemark(kind="outside_interval"))
        for estimate in estimates
    ]
    for i, estimate in enumerate(estimates):
        if by_model[i] > _MOSTLY * total[i, i]:
            estimates[i] = replace(estimate, finding=ParameterRemark(kind="missing_physics"))
    unidentifiable = [i for i, estimate in enumerate(estimates) if not estimate.identifiable]
    cures: Sequence[RunAdvice | None] = (
        advise(terms, unidentifiable)
        if advise is not None and unidentifiable
        else [None] * len(unidentifiable)
    )
    for i, cure in zip(unidentifiable, cures, strict=True):
        finding = estimates[i].finding
        if finding is None or finding.kind != "missing_physics":  # a further recording does not help then
            remark = _remark(i, estimates[i], terms, correlation[i], cure)
            estimates[i] = replace(estimates[i], finding=remark)
    for i, estimate in enumerate(estimates):
        if estimate.name == "command_delay" and estimate.low < 0.0:
            remark = estimate.finding or ParameterRemark(kind="late_stamps")
            estimates[i] = replace(estimate, finding=replace(remark, is_late_stamped=True))
    return Uncertainty(
        estimates=tuple(estimates),
        correlation=np.clip(correlation, -1.0, 1.0),
        method=IntervalMethod(
            logs=logs,
            level=LEVEL,
            follows_valley=terms.valley is not None,
            allows_for_bench=bool(terms.headers),
            allows_for_model=terms.misfit is not None and len(terms.misfit) > 0,
            has_prior=has_prior,
        ),
        headers=terms.headers,
    )


def _bent(valley: Valley, centre: Array, ways: Array) -> tuple[Array, Array]:
    """Return how far (dimension,) intervals go to either side: straight, or along the valley if farther."""
    low, high = valley.ends(ways)
    return np.maximum(ways, centre - low), np.maximum(ways, high - centre)


def _estimate(
    space: SearchSpace, i: int, share: float, error: float, ends: tuple[float, float], correlation: Array
) -> ParameterEstimate:
    axis = space.axes[i]
    value = value_at(axis, share)
    low, high = (value_at(axis, end) for end in ends)
    trades = [
        neighbour.name
        for neighbour, related in zip(space.axes, correlation, strict=True)
        if abs(related) > TRADING and neighbour is not axis
    ]
    return ParameterEstimate(
        name=axis.name,
        value=value,
        standard_error=slope_at(axis, share) * error if error < _UNKNOWN else math.inf,
        low=low,
        high=high,
        identifiable=_is_identifiable(axis, value, 0.5 * (high - low)) and error < _UNKNOWN,
        trades_with=tuple(trades),
    )


def _is_identifiable(axis: Axis, value: float, half_width: float) -> bool:
    if not is_wide(value, half_width):
        return True
    small = 0.0 if axis.low > 0.0 else NEGLIGIBLE if axis.low == 0.0 else PLACED
    return half_width <= small * (axis.high - axis.low)


def _remark(
    i: int,
    estimate: ParameterEstimate,
    terms: UncertaintyTerms,
    correlation: Array,
    advice: RunAdvice | None,
) -> ParameterRemark:
    """Return why a parameter is unidentifiable and what would help."""
    names = [axis.name for axis in terms.optimum.space.axes]
    related = [j for j in np.argsort(-np.abs(correlation)) if j != i and abs(correlation[j]) > _RELATED][:2]
    alone = math.sqrt(terms.evidence.scatter / terms.evidence.total[i, i])
    if estimate.trades_with:
        return ParameterRemark(kind="trades", parameters=estimate.trades_with, advice=advice)
    if related:
        parameters = tuple(names[j] for j in related)
        return ParameterRemark(kind="related", parameters=parameters, advice=advice)
    disagree = alone < _CLEAR * math.sqrt(terms.covariance[i, i])
    return ParameterRemark(kind="disagreement" if disagree else "insensitive", advice=advice)
