# SPDX-License-Identifier: Apache-2.0
"""Settings of a validation: simulation step, and draws for bands."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.errors.checks import require_not_negative, require_positive
from bam_core.errors.field_types import require_field_types
from bam_core.identification.uncertainty.prediction import Prediction


@dataclass(frozen=True, kw_only=True)
class ValidateSettings:
    """Settings of `validate`. The constructor raises BamError if a value is of another type or out of range.

    Attributes:
        dt: step of controller and simulation, s; None: the firmware's period.
        prediction: the servo's predictive distribution, see `load_prediction`; needed for draws.
        draws: of its parameters, for 90 % bands: LEAST_DRAWS or more, or 0 for none.
        seed: of the draws.
        fixed_friction: draws have the same friction and strength in every run: no variation.
    """

    dt: float | None = None
    prediction: Prediction | None = None
    draws: int = 0
    seed: int = 0
    fixed_friction: bool = False

    def __post_init__(self) -> None:
        require_field_types(self)
        if self.dt is not None:
            require_positive("validation", dt=self.dt)
        require_not_negative("validation", draws=self.draws, seed=self.seed)


DEFAULT_SETTINGS = ValidateSettings()
"""Of `validate`."""
