# SPDX-License-Identifier: Apache-2.0
"""Settings of an identification of a robot's servos."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from bam_core.errors.field_types import require_field_types
from bam_core.identification.settings import resolve_models
from bam_core.robot.tolerances import DEFAULT, RobotTolerances


@dataclass(frozen=True, kw_only=True)
class RobotIdentifySettings:
    """Settings of `identify_robot`. The constructor raises BamError if a name is unknown.

    Attributes:
        models: "all", or names of friction models.
        tolerances: how far the robot may be from its description: standard deviations of the priors.
    """

    models: str | Collection[str] = "m6"
    tolerances: RobotTolerances = DEFAULT

    def __post_init__(self) -> None:
        require_field_types(self)
        resolve_models(self.models)

    @property
    def model_names(self) -> list[str]:
        """The friction models to fit, from "m1" to "m6"."""
        return [model.name for model in resolve_models(self.models)]


DEFAULT_SETTINGS = RobotIdentifySettings()
"""Of `identify_robot`."""
