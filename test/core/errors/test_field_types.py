# SPDX-License-Identifier: Apache-2.0
"""Settings refuse values of another type by name, before anything runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bam_core import IdentifySettings
from bam_core.errors import BamError, WrongType
from bam_core.identification.uncertainty.run_plan import DesignSettings
from bam_core.robot.lerobot_writer import DatasetSettings
from bam_core.robot.load import RunSettings
from bam_core.robot.settings import RobotIdentifySettings
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings
from bam_core.validation.settings import ValidateSettings


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        (IdentifySettings, "trials", "50"),
        (IdentifySettings, "trials", 50.5),
        (IdentifySettings, "seed", None),
        (IdentifySettings, "seeds", True),
        (IdentifySettings, "effects", "none"),
        (IdentifySettings, "models", 4),
        (IdentifySettings, "tolerances", {"mass": 0.01}),
        (IdentifySettings, "strict", "no"),
        (RobotIdentifySettings, "models", 4),
        (RobotIdentifySettings, "tolerances", None),
        (ValidateSettings, "dt", "1ms"),
        (ValidateSettings, "draws", "many"),
        (RunSettings, "kp", "32"),
        (RunSettings, "unit", 1),
        (RunSettings, "map", "sage_so101"),
        (DesignSettings, "gains", 8.0),
        (RolloutSettings, "substeps", "2"),
        (SynthesisSettings, "quantised", "yes"),
        (DatasetSettings, "fps", "30"),
    ],
)
def test_a_value_of_another_type_is_refused_by_the_name_of_its_field(
    settings: Callable[..., Any], field: str, value: object
) -> None:
    with pytest.raises(WrongType) as caught:
        settings(**{field: value})
    assert caught.value.thing.endswith(field)
    assert caught.value.value is value


@pytest.mark.parametrize(
    ("settings", "field", "value"),
    [
        (ValidateSettings, "dt", 0.0),
        (ValidateSettings, "seed", -1),
        (IdentifySettings, "uncertainty", "m7"),
        (IdentifySettings, "search", "newton"),
        (SynthesisSettings, "sample_period", 0.0),
        (DesignSettings, "supply_voltage", -1.0),
    ],
)
def test_a_value_out_of_range_is_refused_before_anything_runs(
    settings: Callable[..., Any], field: str, value: object
) -> None:
    with pytest.raises(BamError):
        settings(**{field: value})


def test_numbers_of_numpy_and_words_for_all_or_none_are_right() -> None:
    assert IdentifySettings(trials=np.int64(50), uncertainty="none").with_uncertainty == ()
    assert IdentifySettings(models="m1", uncertainty="all").with_uncertainty == ("m1",)
    assert ValidateSettings(dt=np.float64(0.001)).dt == 0.001
