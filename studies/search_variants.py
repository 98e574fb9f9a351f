# SPDX-License-Identifier: Apache-2.0
"""The search with one thing changed: what `search_ablation` compares."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from bam_core.identification.search.methods import CMA_ES, GAUSS_NEWTON
from bam_core.identification.search.schedule import DEFAULT_SCHEDULE, SearchSchedule


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The search with something changed.

    Attributes:
        name: of what is changed.
        usual: how `bam identify` has it.
        here: how it is here.
        method: of search.
        schedule: of search.
    """

    name: str
    usual: str = ""
    here: str = ""
    method: str = GAUSS_NEWTON
    schedule: SearchSchedule = DEFAULT_SCHEDULE

    @property
    def title(self) -> str:
        """What is changed, and to what."""
        return f"{self.name}: {self.here}" if self.here else self.name


AS_IT_IS = Variant(name="nothing")

_CHANGES: dict[str, tuple[Any, ...]] = {
    "trials_per_parameter": (200, 800),
    "cold_trials_per_parameter": (400, 1600),
    "near_terms": (99,),
    "approaches": (1, 8),
    "cold_approaches": (2, 16),
    "approach_rounds": (1,),
    "approach_share": (0.1, 0.5),
    "scatter_share": (0.02, 0.4),
    "short_share": (0.2,),
    "horizons": ((0.25,), (1.0,)),
    "clear_gain": (0.0, 0.2),
    "same_error": (1e-4, 5e-2),
    "warm_starts": (0, 4),
    "warm_copies": (0, 6),
    "warm_spread": (0.02, 0.3),
    "refining_share": (0.2, 1.0),
    "rough_steps": (1, 10),
    "deepest": (1, 8),
    "thorough_steps": (3, 16),
    "hops": ((0.15,) * 4,),
    "hop_steps": (2, 8),
    "hop_rounds_in_vain": (0, 6),
    "progress": (1e-4, 1e-2),
    "final_share": (0.05, 0.35),
    "final_share_after_hops": (0.1, 1.0),
    "final_ends": (1, 6),
    "final_steps": (4, 20),
    "final_hops_in_vain": (0, 20),
    "fine_steps": (0, 30),
    "fine_share": (0.1, 0.8),
    "step": (1e-3,),
    "draft_step": (4e-3,),
    "draft_recordings": (3,),
}
"""Field of the schedule -> other values."""


def _variants() -> list[Variant]:
    variants = [AS_IT_IS, Variant(name="method", usual=GAUSS_NEWTON, here=CMA_ES, method=CMA_ES)]
    for field in fields(SearchSchedule):
        for value in _CHANGES[field.name]:
            changed = Variant(
                name=field.name,
                usual=_words(getattr(DEFAULT_SCHEDULE, field.name)),
                here=_words(value),
                schedule=replace(DEFAULT_SCHEDULE, **{field.name: value}),
            )
            variants.append(changed)
    return variants


def _words(value: Any) -> str:
    return " ".join(f"{part:g}" for part in value) if isinstance(value, tuple) else f"{value:g}"


VARIANTS = tuple(_variants())
"""The search as it is, CMA-ES in its place, and every field of the schedule changed in turn."""
