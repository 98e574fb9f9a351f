# SPDX-License-Identifier: Apache-2.0
"""Which cause explains most of the residuals of a model, in data left out of its fit.

Regression of residual accelerations on the responses to the free parameters and to a cause. Parameters take
part in every regression: what moving them explains is no misfit. A cause with many forms and coefficients
always explains much of the data that it is fitted to; so forms and coefficients are found without one group
of data, and scored on that group (cross-validation).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array

PRIOR = 0.3
"""Standard deviation of a parameter's move, in shares of its search range: a fit that far off is none."""

LEAST_EXCESS = 0.2
"""Share of the residual that is not counted as measurement noise, whatever is estimated."""

_CHANCE = 2.0  # times what a form takes by chance of windows that, unlike those of a run, are independent
_IDLE = 1e-6  # of the residuals' squares: a form that shows as less of itself does not act in these runs
_SOLVABLE = 1e-9  # relative ridge that keeps matrices invertible


@dataclass(frozen=True, kw_only=True)
class Forms:
    """The columns of one cause.

    Attributes:
        columns: (forms,) of the regressors of causes.
        together: how many forms may act together.
        range: low and high end of coefficients that make sense.
        least: size of a coefficient from which it counts.
    """

    columns: tuple[Sequence[int], ...]
    together: int
    range: tuple[float, float]
    least: float


@dataclass(frozen=True, kw_only=True)
class Score:
    """What one cause takes.

    Attributes:
        share: of the misfit, in groups left out of its fit; below zero where it makes them worse.
        error: standard error of it, from group to group.
        forms: chosen from all groups, in the order of what they take; empty where none takes anything.
        columns: of these forms.
        coefficients: of these columns.
        shift: (dimension,) by which parameters move where the cause is added, in shares of the search range.
    """

    share: float
    error: float
    forms: tuple[int, ...]
    columns: tuple[int, ...]
    coefficients: Array
    shift: Array


class Regression:
    """Residuals and regressors of windows, as sums of products per group.

    Args:
        residual: (rows,) rad/s²; rows are as of `windows.WindowData`.
        parameters: (rows, dimension) responses, rad/s² per search range.
        causes: (rows, columns) responses, rad/s² per coefficient.
        weights: (rows,) s²/rad.
        group: (rows,) 0, 1, ...: what is left out together.
        noise: (rows,) variance of the residual from measurement alone, (rad/s²)².
    """

    def __init__(
        self,
        residual: Array,
        parameters: Array,
        causes: Array,
        weights: Array,
        group: NDArray[np.intp],
        noise: Array,
    ) -> None:
        self._dimension = parameters.shape[1]
        everything = np.concatenate([parameters, causes, residual[:, None]], axis=1) * weights[:, None]
        self._groups = int(group.max()) + 1
        self._products = np.array(
            [everything[group == g].T @ everything[group == g] for g in range(self._groups)]
        )
        self._total = self._products.sum(axis=0)
        self._noise = float(np.sum(weights**2 * noise))
        own = np.diag(self._total)
        typical = own[-1] / len(residual)
        self._ridge = _SOLVABLE * np.maximum(own, _SOLVABLE * np.max(own))
        self._ridge[: self._dimension] = typical / PRIOR**2
        self._idle = _IDLE * float(own[-1])
        self._base = list(range(self._dimension))
        self._rows = len(residual)

    def beside(self, score: Score) -> Regression:
        """Return the regression in which a cause takes part like a parameter."""
        extended = object.__new__(Regression)
        extended.__dict__.update(self.__dict__)
        extended._base = [*self._base, *(self._dimension + column for column in score.columns)]
        return extended

    @property
    def excess(self) -> float:
        """Weighted sum of squares beyond the measurement's, once parameters have moved to their best.

        At least LEAST_EXCESS of the remaining sum, because the measurement's part is itself an estimate.
        """
        left = float(self._left_by_groups([]).sum())
        return max(left - self._noise, LEAST_EXCESS * left)

    @property
    def excess_share(self) -> float:
        """Share of the residual that measurement noise does not explain, 0..1."""
        left = float(self._left_by_groups([]).sum())
        return self.excess / left if left > 0.0 else 0.0

    def shift(self, prior: float = PRIOR) -> Array:
        """Return by how much (dimension,) parameters move to their best for the windows.

        Args:
            prior: standard deviation of their moves, in shares of their search range.
        """
        damped = self._total[np.ix_(self._base, self._base)] + np.diag(
            self._ridge[self._base] * (PRIOR / prior) ** 2
        )
        return np.asarray(np.linalg.solve(damped, self._total[self._base, -1]))[: self._dimension]

    def score(self, forms: Forms, excess: float) -> Score:
        """Return what a cause takes of groups that it was not fitted to.

        Args:
            forms: of the cause.
            excess: that shares are of.
        """
        gains, before = np.zeros(self._groups), self._left_by_groups([])
        for g in range(self._groups):
            train = self._total - self._products[g]
            columns = self._columns(forms, self._choose(train, forms))
            if columns:
                gains[g] = before[g] - self._left(g, train, columns)
        chosen = self._choose(self._total, forms)
        columns = self._columns(forms, chosen)
        coefficients = self._solve(self._total, columns)
        # As of a ratio: groups differ in how much there is to be taken, which says nothing against a share.
        deviations = gains - before * (float(gains.sum()) / float(before.sum()))
        spread = math.sqrt(float(deviations @ deviations) * self._groups / max(self._groups - 1, 1))
        excess = max(excess, _SOLVABLE * float(self._total[-1, -1]), np.finfo(float).tiny)
        return Score(
            share=float(gains.sum()) / excess,
            error=spread / excess,
            forms=tuple(chosen),
            columns=tuple(column - self._dimension for column in columns),
            coefficients=coefficients[len(self._base) :],
            shift=coefficients[: self._dimension],
        )

    def _left_by_groups(self, columns: list[int]) -> Array:
        """Return what is left (groups,), of each group by a fit without it."""
        return np.array(
            [self._left(g, self._total - self._products[g], columns) for g in range(self._groups)]
        )

    def _left(self, group: int, train: Array, columns: list[int]) -> float:
        at = [*self._base, *columns, len(train) - 1]
        way = np.append(-self._solve(train, columns), 1.0)
        return float(way @ self._products[group][np.ix_(at, at)] @ way)

    def _solve(self, products: Array, columns: list[int]) -> Array:
        at = [*self._base, *columns]
        matrix = products[np.ix_(at, at)] + np.diag(self._ridge[at])
        return np.asarray(np.linalg.solve(matrix, products[at, -1]))

    def _columns(self, forms: Forms, chosen: Sequence[int]) -> list[int]:
        return [self._dimension + column for form in chosen for column in forms.columns[form]]

    def _choose(self, products: Array, forms: Forms) -> list[int]:
        """Return the forms that take most, one after the other, as long as they take more than by chance."""
        everything = self._columns(forms, range(len(forms.columns)))
        rest = [*everything, len(products) - 1]
        base = self._base
        matrix = products[np.ix_(base, base)] + np.diag(self._ridge[base])
        across = products[np.ix_(base, rest)]
        # What parameters do not explain: the same products with these taken out.
        left = products[np.ix_(rest, rest)] - across.T @ np.linalg.solve(matrix, across)
        place = {column: index for index, column in enumerate(everything)}
        places = [[place[self._dimension + column] for column in columns] for columns in forms.columns]
        acts = np.diag(products)[everything] > self._idle
        open_forms = [form for form, columns in enumerate(places) if acts[columns].any()]
        by_chance = 2.0 * math.log(max(len(open_forms), 1))  # the largest of so many, twice its mean
        chosen: list[int] = []
        while open_forms and len(chosen) < forms.together:
            gains = self._gains(left, [places[form] for form in open_forms], forms)
            best = int(np.argmax(gains))
            columns = places[open_forms[best]]
            if gains[best] <= _CHANCE * (len(columns) + by_chance) * left[-1, -1] / self._rows:
                break
            chosen.append(open_forms.pop(best))
            taken = left[np.ix_(columns, columns)]
            taken = taken + np.diag(_SOLVABLE * np.maximum(np.diag(taken), self._idle))
            left = left - left[:, columns] @ np.linalg.solve(taken, left[columns])
        return chosen

    def _gains(self, left: Array, places: Sequence[Sequence[int]], forms: Forms) -> Array:
        """Return the gain (forms,) of each form; forms may have different numbers of columns."""
        gains = np.zeros(len(places))
        for size in {len(columns) for columns in places}:
            some = [index for index, columns in enumerate(places) if len(columns) == size]
            at = np.array([places[index] for index in some])
            own = left[at[:, :, None], at[:, None, :]]
            own = own + np.eye(size) * _SOLVABLE * self._idle
            own = own + np.eye(size) * _SOLVABLE * own
            pull = left[at, -1]
            solution = np.linalg.solve(own, pull[:, :, None])[:, :, 0]
            gains[some] = np.sum(solution * pull, axis=1)
            low, high = forms.range
            sensible = (low < solution) & (solution < high) & (np.abs(solution) >= forms.least)
            gains[some] *= np.all(sensible, axis=1)
        return gains
