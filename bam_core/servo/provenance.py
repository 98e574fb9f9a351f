# SPDX-License-Identifier: Apache-2.0
"""Where the parameters of a servo come from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a servo's parameters come from. Every field may be empty.

    Attributes:
        source: who found them and how, in words.
        derived_from: servo from whose parameters these were computed (see `derived`); empty: they were found.
        method: the search that found them: "gauss-newton", "cma-es", or words where it was none of these.
        seed: of its random numbers; None: unknown, or it had none.
        trials: how many simulations of all training recordings it was allowed.
        trials_used: how many it made.
        software: name, version and, where it is known, commit of the program that found them.
        packages: name -> version of what computed for it.
        date: ISO 8601.
        tolerances: assumed errors of the bench, one standard deviation, by name (`Tolerances`).
        corrections: recording -> header fields that were set from outside, in words.
        train_mae: mean absolute position error on the training recordings, rad.
        selection_mae: the same on training recordings that fits did without, in turn, rad.
        test_mae: the same on recordings that no fit and no choice saw, rad.
        train_data: name of each training recording -> SHA-256 of its file; of its samples where it is a run
            of a robot.
        test_data: the same of the test recordings.
    """

    source: str = ""
    derived_from: str = ""
    method: str = ""
    seed: int | None = None
    trials: int | None = None
    trials_used: int | None = None
    software: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    date: str = ""
    tolerances: Mapping[str, float] = field(default_factory=dict)
    corrections: Mapping[str, str] = field(default_factory=dict)
    train_mae: float | None = None
    selection_mae: float | None = None
    test_mae: float | None = None
    train_data: Mapping[str, str] = field(default_factory=dict)
    test_data: Mapping[str, str] = field(default_factory=dict)
