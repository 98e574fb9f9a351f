# SPDX-License-Identifier: Apache-2.0
"""How far the log factors of runs scatter at each level: run, session, unit.

The model: log factors of a run = mean + unit + session + run, each level normal around zero with a standard
deviation per factor. The likelihood of the log factors of one run is normal, too (`run_factors`). So that of
all standard deviations has a closed form, with the mean integrated out: restricted maximum likelihood, the
global two-stage method for repeated measurements (Davidian and Giltinan 1995, section 5.3).

Few runs do not determine a spread. So every standard deviation has a log-normal prior (`PRIOR_MEDIAN`).
Reported are median and 95 % interval of the posterior. An ensemble of walkers draws from it (Goodman and
Weare 2010), which needs no tuning. A level that the data do not have is left out.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.identification.variation.factors import GROUPS

LEVELS = ("run", "session", "unit")
"""From the innermost: runs of one session differ least."""

PRIOR_MEDIAN: Mapping[str, float] = {"no_load": 0.1, "load": 0.1, "strength": 0.03}
PRIOR_SCALE = 0.7
"""Log-normal prior of each relative standard deviation: median, standard deviation of the logarithm.

The median is half of what Coulomb friction of one STS3215 differs by from session to session, a fifth
(kscalelabs/sysid, recordings of 2025-03-17). Supply and magnets leave strength within a few percent."""

LEARNT = 0.6
"""A spread counts as identified if its logarithm scatters by less than this share of the prior."""

_WALKERS = 32
_STEPS, _WARM_UP = 150, 50
_STRETCH = 2.0  # Goodman and Weare's a
_LEVEL = 0.95
_SEED = 0


@dataclass(frozen=True, kw_only=True)
class LevelSpread:
    """Relative standard deviation of one factor at one level.

    Attributes:
        value: median of the posterior.
        interval: 95 %.
        source: "data", or "prior" where the runs determine little.
    """

    value: float
    interval: tuple[float, float]
    source: str

    def summary(self) -> dict[str, Any]:
        """Return plain values."""
        return {"value": self.value, "interval": list(self.interval), "source": self.source}


@dataclass(frozen=True, kw_only=True)
class Spread:
    """Spread of the three factors at every level that the recordings have.

    Attributes:
        draws: level -> (draws, GROUPS) standard deviations of the log factors, from the posterior; drawn
            together, so that row i of every level belongs together.
    """

    draws: Mapping[str, Array]

    def level(self, group: str, level: str) -> LevelSpread | None:
        """Return the spread of one factor; None at a level that the recordings do not have."""
        if level not in self.draws:
            return None
        column = self.draws[level][:, list(GROUPS).index(group)]
        low, middle, high = np.quantile(column, (0.5 - _LEVEL / 2.0, 0.5, 0.5 + _LEVEL / 2.0))
        learnt = float(np.std(np.log(column))) < LEARNT * PRIOR_SCALE
        return LevelSpread(
            value=float(middle),
            interval=(float(low), float(high)),
            source="data" if learnt else "prior",
        )

    def summary(self) -> dict[str, Any]:
        """Return the entry of ``summary.json``: factor -> level -> spread, null where there is no level."""
        summary: dict[str, Any] = {}
        for group in GROUPS:
            levels = {level: self.level(group, level) for level in LEVELS}
            summary[group] = {
                name: None if level is None else level.summary() for name, level in levels.items()
            }
        return summary


def estimate_spread(
    pull: Array, information: Array, labels: Mapping[str, Sequence[Hashable]] | None = None
) -> Spread:
    """Return the spread of log factors.

    Args:
        pull: (runs, GROUPS) information of each run times its optimum, see `run_factors`.
        information: (runs, GROUPS, GROUPS) likewise.
        labels: "session" and "unit" -> which one each run belongs to. A level with one label is left out.
    """
    levels, parents = _tree(len(pull), labels or {})
    medians = np.log(np.tile([PRIOR_MEDIAN[group] for group in GROUPS], len(levels)))

    def log_posterior(points: Array) -> Array:
        deviations = np.exp(points).reshape(len(points), len(levels), len(GROUPS))
        prior = -0.5 * np.sum(((points - medians) / PRIOR_SCALE) ** 2, axis=1)
        return prior + log_likelihood(deviations, information, pull, parents)

    points = _ensemble(log_posterior, medians)
    deviations = np.exp(points).reshape(len(points), len(levels), len(GROUPS))
    return Spread(draws={level: deviations[:, i] for i, level in enumerate(levels)})


def log_likelihood(
    deviations: Array, information: Array, pulls: Array, parents: Sequence[NDArray[np.intp]]
) -> Array:
    """Return the restricted log-likelihood (points,) of standard deviations, up to a constant.

    The log-likelihood of a node, given its parent's mean m, is ``constant - m'Pm/2 + h'm``. A level with
    covariance S turns P and h into ``P(I + SP)^-1`` and ``(I + PS)^-1 h``. Those of children add up.

    Args:
        deviations: (points, levels, GROUPS) of the log factors, from the innermost level.
        information: (runs, GROUPS, GROUPS).
        pulls: (runs, GROUPS) information times optimum.
        parents: for each level, (nodes,) index of each node's parent at the next level.
    """
    points, size = len(deviations), deviations.shape[2]
    precision = np.broadcast_to(information, (points, *information.shape))
    pull = np.broadcast_to(pulls, (points, *pulls.shape))
    total = np.zeros(points)
    for level, parent in enumerate(parents):
        variance = deviations[:, level, None, :] ** 2  # (points, 1, GROUPS)
        # I + PS: S is diagonal, and scales columns.
        mixed = np.eye(size) + precision * variance[:, :, None, :]
        both = np.linalg.solve(mixed, np.concatenate([precision, pull[..., None]], axis=-1))
        total -= 0.5 * np.log(np.linalg.det(mixed)).sum(axis=1)
        total += 0.5 * np.einsum("pni,pni->p", pull * variance, both[..., -1])
        precision, pull = (
            _summed(both[..., :-1], parent),
            _summed(both[..., -1], parent),
        )
    top, pull = precision[:, 0], pull[:, 0]
    top = top + 1e-9 * np.eye(size)  # nothing may be known of a factor at all
    total += 0.5 * np.einsum("pi,pi->p", pull, np.linalg.solve(top, pull[..., None])[..., 0])
    return np.asarray(total - 0.5 * np.log(np.linalg.det(top)))


def _summed(values: Array, parent: NDArray[np.intp]) -> Array:
    """Add the values (points, nodes, ...) of nodes with the same parent."""
    members = np.arange(int(parent.max()) + 1)[:, None] == parent
    return np.einsum("gn,pn...->pg...", members.astype(np.float64), values)


def _tree(runs: int, labels: Mapping[str, Sequence[Hashable]]) -> tuple[list[str], list[NDArray[np.intp]]]:
    """Return the levels that there are, and for each the parent of every node."""
    units = list(labels.get("unit", [0] * runs))
    sessions = list(zip(units, labels.get("session", [0] * runs), strict=True))
    levels, nodes = ["run"], list(range(runs))
    parents: list[NDArray[np.intp]] = []
    paths: list[Hashable] = list(zip(sessions, nodes, strict=True))
    for level, above in (("session", sessions), ("unit", units)):
        distinct = list(dict.fromkeys(above))
        # A session per unit, or a single one, says nothing of its own.
        if len(distinct) < 2 or (level == "session" and len(distinct) == len(set(units))):
            continue
        of_path = dict(zip(paths, above, strict=True))
        own = list(dict.fromkeys(paths))
        parents.append(np.array([distinct.index(of_path[path]) for path in own]))
        levels.append(level)
        paths = list(above)
    parents.append(np.zeros(len(set(paths)), dtype=np.intp))
    return levels, parents


def _ensemble(log_density: Any, start: Array) -> Array:
    """Return draws (draws, dimension) from a density, by stretch moves of an ensemble."""
    random = np.random.default_rng(_SEED)
    dimension = len(start)
    walkers = start + 0.3 * PRIOR_SCALE * random.standard_normal((_WALKERS, dimension))
    density = log_density(walkers)
    halves = (np.arange(_WALKERS // 2), np.arange(_WALKERS // 2, _WALKERS))
    kept = []
    for step in range(_WARM_UP + _STEPS):
        for mine, others in (halves, halves[::-1]):
            stretch = ((_STRETCH - 1.0) * random.random(len(mine)) + 1.0) ** 2 / _STRETCH
            partners = walkers[random.choice(others, len(mine))]
            tried = partners + stretch[:, None] * (walkers[mine] - partners)
            there = log_density(tried)
            gain = (dimension - 1) * np.log(stretch) + there - density[mine]
            taken = np.log(random.random(len(mine))) < gain
            walkers[mine[taken]], density[mine[taken]] = tried[taken], there[taken]
        if step >= _WARM_UP:
            kept.append(walkers.copy())
    return np.concatenate(kept)
