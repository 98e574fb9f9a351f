# SPDX-License-Identifier: Apache-2.0
"""Effects by name, and what belongs to the rig."""

import pytest

from bam_core.effects import EFFECTS, Rig, resolve_effects
from bam_core.errors import BamError
from bam_core.servo_model import MOTOR_EFFECTS, PARAMETER_UNITS, RIG_EFFECTS


def test_every_effect_belongs_to_the_motor_or_to_the_rig_and_has_a_unit():
    assert (*MOTOR_EFFECTS, *RIG_EFFECTS) == tuple(EFFECTS)
    for name, effect in EFFECTS.items():
        assert effect.name == name
        assert effect.low <= 0.0 < effect.high
        assert PARAMETER_UNITS[name] == effect.unit


def test_effects_are_named_once_and_in_order():
    assert resolve_effects(["zero_offset", "torque_saturation", "zero_offset"]) == (
        "torque_saturation",
        "zero_offset",
    )
    assert resolve_effects([]) == ()


def test_an_unknown_effect_is_answered_with_those_there_are():
    with pytest.raises(BamError, match=r"'backlsh'.*torque_saturation"):
        resolve_effects(["backlsh"])


@pytest.mark.parametrize("name", RIG_EFFECTS)
def test_a_rig_has_finite_values(name):
    with pytest.raises(BamError, match=name):
        Rig(**{name: float("nan")})
