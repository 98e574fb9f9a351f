# SPDX-License-Identifier: Apache-2.0
"""Settings that change the control law: read where they have no effect, refused elsewhere."""

from __future__ import annotations

import math

import pytest

from bam_core.errors import Conflict, OutOfRange, Unsupported
from bam_core.recordings.law_keys import (
    WITHOUT_EFFECT,
    largest_current,
    passed_over,
    require_no_other_law,
    with_usual_names,
)
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
    assert with_usual_names({"kp": 8.0, "P_Coefficient": None}) == {"kp": 8.0}


@pytest.mark.parametrize(
    "header",
    [
        {"P": 16, "I": 0, "D": 32},
        {"gains": {"p": 16, "i": 0, "d": 32}},
        {"pid": [16, 0, 32]},
        {"servo": {"registers": {"P_Coefficient": 16, "I_Coefficient": 0, "D_Coefficient": 32}}},
        {"pGain": 16, "iGain": 0, "positionDGain": 32},
    ],
)
def test_gains_are_known_in_sections_and_lists(header: dict[str, object]) -> None:
    gains = with_usual_names(header)
    assert {name: gains[name] for name in ("kp", "ki", "kd")} == {"kp": 16, "ki": 0, "kd": 32}
    assert passed_over(header) == []


def test_one_letter_alone_is_no_gain() -> None:
    assert with_usual_names({"kp": 8.0, "d": 0.1}) == {"kp": 8.0, "d": 0.1}
    assert passed_over({"kp": 8.0, "d": 0.1, "motor_params": {"name": "x"}}) == ["d", "motor_params"]


@pytest.mark.parametrize(
    ("header", "thing"),
    [
        ({"maxTorque": 600}, "maxTorque"),
        ({"registers": {"Torque_Limit": 500}}, "registers.Torque_Limit"),
        ({"profile": {"velocity": 50}}, "profile.velocity"),
        ({"feedforward": {"1st": 100}}, "feedforward.1st"),
        ({"torque_limit": "60 %"}, "torque_limit"),
        ({"operating_mode": "velocity"}, "operating_mode"),
        ({"control_mode": "current-based position control"}, "control_mode"),
        ({"max_torque": [1000, 600]}, "max_torque"),
        ({"profile_velocity": True}, "profile_velocity"),
        ({"cw_compliance_slope": 32}, "cw_compliance_slope"),
    ],
)
def test_a_setting_that_changes_the_law_is_found_in_sections_lists_and_words(
    header: dict[str, object], thing: str
) -> None:
    with refused(Unsupported, thing=thing):
        require_no_other_law(header)


def test_settings_without_effect_are_read_in_words_and_sections() -> None:
    require_no_other_law(
        {
            "operating_mode": "Extended Position Control Mode",
            "current_limit": "none",
            "torque_limit": "100 %",
            "profile_velocity": False,
            "registers": {"Max_Torque_Limit": 1000, "Acceleration": 0, "CW_Dead_Zone": 1},
        }
    )


def test_a_law_that_asks_for_a_current_has_its_mode_and_its_limit() -> None:
    header = {"operating_mode": 5, "goal_current": 1.5, "current_limit": 3.0}
    require_no_other_law(header, of_current=True)
    assert largest_current(header, 6.9) == 1.5
    assert largest_current({"operating_mode": 5}, 6.9) == math.inf
    with refused(OutOfRange, thing="goal_current"):  # a register's count
        largest_current({"goal_current": 900}, 6.9)
    with refused(Unsupported, thing="operating_mode"):  # its law is that of a voltage
        require_no_other_law({"operating_mode": 3}, of_current=True)
