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
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit

from bam_core.arrays import Array
from bam_core.identification.search.evidence import Evidence, evidence, set_right
from bam_core.identification.search.gauss_newton import follow, nearest_optimum
from bam_core.identification.search.sensitivity import (
    Sensitivity,
    normalised,
    residuals_at,
    slope_at,
    value_at,
)
from bam_core.identification.search.space import Axis, SearchSpace
from bam_core.identification.uncertainty.calibration import calibrated
from bam_core.identification.uncertainty.covariance import covariance
from bam_core.identification.uncertainty.header_errors import HeaderError, header_errors
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.uncertainty.tolerances import DEFAULT, EXACT, Tolerances
from bam_core.identification.uncertainty.valley import Valley, valley_around
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.text.uncertainty_findings import IntervalMethod, ParameterRemark, RunAdvice

LEVEL = 0.95
"""Confidence level of the intervals."""

TRADING = 0.95
"""Correlation, either sign, from which two parameters are reported to trade with each other."""

MAX_RELATIVE_HALF_WIDTH = 0.5
"""Half width of the interval over the value above which a parameter is not identifiable; see NEGLIGIBLE."""

NEGLIGIBLE = 0.01
"""A parameter that may be zero is identifiable where the half width is below this share of its range."""

PLACED = 0.05
"""The same limit for a parameter of either sign, such as an offset, whose value gives no scale."""

_REACH = float(ndtri(0.5 + LEVEL / 2.0))
_UNKNOWN = 0.5  # standard error, in shares of the search range, from which the data have no information
_RELATED = 0.5  # correlation from which two parameters are worth naming together
_CLEAR = 0.2  # of the standard error: what independent samples would leave of it where they are not
_MOSTLY = 0.5  # of the variance
_FINER = 4  # steps of the finer simulation per step of the one that was fitted


@dataclass(frozen=True, kw_only=True)
class ParameterEstimate:
    """One parameter and how well it is known.

    Attributes:
        name: as in `ModelFit.parameters`.
        value: SI.
        standard_error: SI; inf where the data do not determine it.
        low: lower end of the 95 % interval, SI; never beyond the search range. It is about where finer steps
            of the simulation and the rest of the search would lead, which may be off the value.
        high: upper end.
        identifiable: these recordings determine the parameter: the interval's half width is below
            MAX_RELATIVE_HALF_WIDTH of the value, or below NEGLIGIBLE or PLACED of the search range.
        trades_with: parameters whose estimates go up or down with this one's: |correlation| above TRADING.
        finding: why it is not identifiable, and which recording would help; that the value itself is outside
            the interval; what a delay below zero means. None where there is nothing to report.
    """

    name: str
    value: float
    standard_error: float
    low: float
    high: float
    identifiable: bool
    trades_with: tuple[str, ...] = ()
    finding: ParameterRemark | None = None

    @property
    def remark(self) -> str:
        """The finding in words; empty where there is none."""
        return "" if self.finding is None else self.finding.sentence

    @property
    def is_known_small(self) -> bool:
        """It is identifiable although its interval is wide beside its value, and may be zero."""
        may_be_zero = self.low <= 0.0 <= self.high
        return self.identifiable and may_be_zero and _is_wide(self.value, 0.5 * (self.high - self.low))


@dataclass(frozen=True, kw_only=True)
class Uncertainty:
    """How well the parameters of one fit are known.

    Attributes:
        estimates: one per free parameter.
        correlation: (n, n) of the estimates, in their order.
        method: how the intervals are computed.
        prediction: how far runs that took no part may be off; None where that was not worked out.
        headers: what errors of the bench would do to the estimates; intervals allow for them.
    """

    estimates: tuple[ParameterEstimate, ...]
    correlation: Array
    method: IntervalMethod
    prediction: Prediction | None = None
    headers: tuple[HeaderError, ...] = ()

    def standard_errors(self) -> dict[str, float]:
        """Return the finite standard errors, SI, by parameter: of servo and bench."""
        return {
            estimate.name: estimate.standard_error
            for estimate in self.estimates
            if math.isfinite(estimate.standard_error)
        }

    def summary(self) -> dict[str, Any]:
        """Return the entry of ``summary.json``: SI units, null for what is not finite."""
        return {
            "method": str(self.method),
            "estimates": {
                estimate.name: {
                    "standard_error": estimate.standard_error
                    if math.isfinite(estimate.standard_error)
                    else None,
                    "interval": [estimate.low, estimate.high],
                    "identifiable": estimate.identifiable,
                    "trades_with": list(estimate.trades_with),
                    "remark": estimate.remark,
                    "finding": None if estimate.finding is None else estimate.finding.summary(),
                }
                for estimate in self.estimates
            },
            "correlation": {
                "parameters": [estimate.name for estimate in self.estimates],
                "matrix": self.correlation.tolist(),
            },
            "bench": [
                header.summary([estimate.name for estimate in self.estimates]) for header in self.headers
            ],
        }

    @property
    def unobservable_errors(self) -> tuple[str, ...]:
        """Names of bench errors that these recordings cannot show: parameters compensate for them."""
        return tuple(header.name for header in self.headers if header.unobservable)

    @property
    def unidentifiable(self) -> tuple[ParameterEstimate, ...]:
        """The parameters that are not identifiable from these recordings."""
        return tuple(estimate for estimate in self.estimates if not estimate.identifiable)


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
        other.name
        for other, related in zip(space.axes, correlation, strict=True)
        if abs(related) > TRADING and other is not axis
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


def _is_wide(value: float, half_width: float) -> bool:
    return half_width > MAX_RELATIVE_HALF_WIDTH * abs(value)


def _is_identifiable(axis: Axis, value: float, half_width: float) -> bool:
    if not _is_wide(value, half_width):
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
