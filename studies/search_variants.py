# SPDX-License-Identifier: Apache-2.0
"""The search with one thing changed: what `search_ablation` compares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from bam_core.identification import fitting
from bam_core.identification.search import problem, search
from bam_core.identification.search.problem import Problem, TrainingData
from bam_core.identification.search.space import SearchSpace

_problem_as_it_is = TrainingData.problem


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The search with something changed.

    Attributes:
        name: of what is changed.
        usual: how `bam identify` has it.
        here: how it is here.
        values: (module or class, name of its constant) and the value in force here.
    """

    name: str
    usual: str
    here: str
    values: Mapping[tuple[Any, str], Any]

    @property
    def title(self) -> str:
        """What is changed, and to what."""
        return f"{self.name}: {self.here}" if self.here else self.name

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """Search in this way, in this process alone."""
        usual = {key: getattr(*key) for key in self.values}
        try:
            for (owner, name), value in self.values.items():
                setattr(owner, name, value)
            yield
        finally:
            for (owner, name), value in usual.items():
                setattr(owner, name, value)


def _constant(name: str, owner: Any, constant: str, here: float) -> Variant:
    usual = getattr(owner, constant)
    return Variant(name=name, usual=f"{usual:g}", here=f"{here:g}", values={(owner, constant): here})


def _trials(times: float) -> Variant:
    values = {name: getattr(fitting, name) for name in ("TRIALS_PER_PARAMETER", "COLD_TRIALS_PER_PARAMETER")}
    return Variant(
        name="trials per parameter, with / without a start",
        usual=" / ".join(f"{value}" for value in values.values()),
        here=" / ".join(f"{value * times:.0f}" for value in values.values()),
        values={(fitting, name): round(value * times) for name, value in values.items()},
    )


def _without_refinement(data: TrainingData, space: SearchSpace) -> Problem:
    return replace(_problem_as_it_is(data, space), refine=None, refine_draft=None)


def _without_approaches(data: TrainingData, space: SearchSpace) -> Problem:
    return replace(_problem_as_it_is(data, space), approach=())


def _coarseness(name: str, constant: str, here: float) -> Variant:
    usual = 1e3 * getattr(problem, constant)
    return Variant(
        name=name, usual=f"{usual:g} ms", here=f"{1e3 * here:g} ms", values={(problem, constant): here}
    )


AS_IT_IS = Variant(name="nothing", usual="", here="", values={})

VARIANTS = (
    AS_IT_IS,
    _trials(0.25),
    _trials(0.5),
    _trials(2.0),
    _constant("terms up to which a simpler model's optimum is near", fitting, "_NEAR", 99),
    _constant("what a search without a start must be better by", search, "_CLEARLY", 0.0),
    _constant("what a search without a start must be better by", search, "_CLEARLY", 0.2),
    _constant("approaches of a round, without a start", search, "_APPROACHES_WITHOUT_STARTS", 2),
    _constant("approaches of a round, without a start", search, "_APPROACHES_WITHOUT_STARTS", 16),
    _constant("share of trials for a round of approaches", search, "_APPROACHING", 0.1),
    _constant("share of trials for a round of approaches", search, "_APPROACHING", 0.5),
    _constant("rounds of approaches at most", search, "_ROUNDS", 1),
    Variant(
        name="approaches over short horizons",
        usual="yes",
        here="none: races of CMA-ES",
        values={(TrainingData, "problem"): _without_approaches},
    ),
    _constant("points about a start that are refined as well", search, "_WARM_COPIES", 0),
    _constant("points that are refined further", search, "_DEEPEST", 1),
    _constant("rounds of hops in vain before the end", search, "_ROUNDS_IN_VAIN", 0),
    _coarseness("step of the draft", "_LONGEST_DRAFT_STEP", 4e-3),
    _coarseness("step of the search", "_LONGEST_STEP", 1e-3),
    Variant(
        name="refinement by Gauss-Newton steps",
        usual="yes",
        here="none: CMA-ES alone",
        values={(TrainingData, "problem"): _without_refinement},
    ),
)
"""The search as it is, and with one thing changed at a time."""
