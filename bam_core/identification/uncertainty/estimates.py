# SPDX-License-Identifier: Apache-2.0
"""Parameters of a fit and how well they are known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from bam_core.arrays import Array
from bam_core.identification.uncertainty.header_errors import HeaderError
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.text.uncertainty_findings import IntervalMethod, ParameterRemark

MAX_RELATIVE_HALF_WIDTH = 0.5
"""Half width of the interval over the value above which a parameter is not identifiable; see NEGLIGIBLE."""


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
        return self.identifiable and may_be_zero and is_wide(self.value, 0.5 * (self.high - self.low))


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


def is_wide(value: float, half_width: float) -> bool:
    """Whether an interval of this half width is wide beside the value."""
    return half_width > MAX_RELATIVE_HALF_WIDTH * abs(value)
