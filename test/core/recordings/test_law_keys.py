# SPDX-License-Identifier: Apache-2.0
"""Settings that change the control law: read where they have no effect, refused elsewhere."""

from __future__ import annotations

import math

import pytest

from bam_core.errors import Conflict, Unsupported
from bam_core.recordings.law_keys import WITHOUT_EFFECT, require_no_other_law, with_usual_names
from test.core.refusals import refused


@pytest.mark.parametrize("name", list(WITHOUT_EFFECT))
def test_a_setting_that_changes_the_law_is_refused_and_one_without_effect_is_read(name: str) -> None:
    for value in WITHOUT_EFFECT[name]:
        require_no_other_law({name: value})
    with refused(Unsupported, thing=name):
        require_no_other_law({"kp": 8.0, name: 17.0})


def test_what_is_no_number_and_other_keys_are_passed_over() -> None:
    require_no_other_law(
        {
            "kp": 8.0,
            "ki": 3.0,
            "torque_limit": math.nan,
            "max_torque": None,
            "operating_mode": "position",
            "mass": 3.0,
        }
    )


@pytest.mark.parametrize("key", ["Profile_Velocity", "Max-Torque", "homing_offset"])
def test_a_setting_is_known_in_other_spellings(key: str) -> None:
    with refused(Unsupported, thing=key):
        require_no_other_law({key: 17.0})


def test_gains_are_known_in_other_spellings() -> None:
    header = {"kp": 8.0, "position_i_gain": 3.0, "D gain": 2.0}
    assert with_usual_names(header) == {"kp": 8.0, "ki": 3.0, "kd": 2.0}
    assert with_usual_names({"ki": 3.0, "i_coefficient": 3.0}) == {"ki": 3.0}
    with refused(Conflict, thing="i_coefficient"):
        with_usual_names({"ki": 3.0, "i_coefficient": 4.0})
