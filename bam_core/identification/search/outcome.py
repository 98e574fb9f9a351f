# SPDX-License-Identifier: Apache-2.0
"""What a job of a search found."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bam_core.arrays import Array


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a job found.

    Attributes:
        vector: (PARAMETERS,) SI.
        error: of the objective that the job looked at, rad.
        evaluations: simulations of all training logs that it took.
        valley: (dimension, dimension) as in `refine.Refined`, where the job knows it.
        converged: it ended because nothing led further down, not because its evaluations were spent.
        spread: how far, relatively, the second lowest end of its descents is above the lowest error that it
            found; infinite of fewer than two ends, and of a job that is no whole search.
    """

    vector: Array
    error: float
    evaluations: int
    valley: Array | None = None
    converged: bool = False
    spread: float = math.inf

    def to_record(self) -> dict[str, Any]:
        """Return values that JSON holds to the last bit."""
        return {
            "vector": self.vector.tolist(),
            "error": self.error,
            "evaluations": self.evaluations,
            "valley": None if self.valley is None else self.valley.tolist(),
            "converged": self.converged,
            "spread": self.spread if math.isfinite(self.spread) else None,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Outcome:
        """Read what `to_record` returned."""
        return cls(
            vector=np.array(record["vector"]),
            error=float(record["error"]),
            evaluations=int(record["evaluations"]),
            valley=None if record["valley"] is None else np.array(record["valley"]),
            converged=bool(record["converged"]),
            spread=math.inf if record["spread"] is None else float(record["spread"]),
        )
