# SPDX-License-Identifier: Apache-2.0
"""Effects by name, and what belongs to the bench."""

import math

import pytest

from bam_core.errors import BamError
from bam_core.servo.effects import EFFECTS, BenchEffects, ServoEffects, resolve_effects
from bam_core.servo.model import BENCH_EFFECTS, MOTOR_EFFECTS, PARAMETER_UNITS, SERVO_EFFECTS
from bam_core.servo.pendulum import PendulumBench


def test_every_effect_belongs_to_motor_servo_or_rig_and_has_a_unit():
    assert (*MOTOR_EFFECTS, *SERVO_EFFECTS, *BENCH_EFFECTS) == tuple(EFFECTS)
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


@pytest.mark.parametrize("name", BENCH_EFFECTS)
def test_a_rig_has_finite_values(name):
    with pytest.raises(BamError, match=name):
        BenchEffects(**{name: float("nan")})


@pytest.mark.parametrize("name", SERVO_EFFECTS)
def test_servo_effects_have_finite_values(name):
    with pytest.raises(BamError, match=name):
        ServoEffects(**{name: float("nan")})


@pytest.mark.parametrize(
    ("owner", "values", "expected"),
    [
        (
            ServoEffects,
            {"friction_temperature": -0.01},
            "friction_temperature: is -0.01 .expected a finite number >=",
        ),
        (ServoEffects, {"sensor_delay": -1e-3}, "sensor_delay: is -0.001"),
        (ServoEffects, {"firmware_gain": -1.0}, "firmware_gain: is -1 .expected above -1"),
        (ServoEffects, {"limit_shortfall": 1.0}, "limit_shortfall: is 1 .expected below"),
        (ServoEffects, {"bridge_coasting": 1.1}, "bridge_coasting: is 1.1 .expected 0 to 1"),
        (ServoEffects, {"encoder_quantisation": 0.5}, "encoder_quantisation: is 0.5 .expected 0 or 1"),
        (BenchEffects, {"arm_mass": -0.1}, "arm_mass: is -0.1"),
        (BenchEffects, {"command_delay": -0.01}, "command_delay: is -0.01 s .expected -0.002 to 1"),
        (BenchEffects, {"command_delay": 1.5}, "command_delay: is 1.5 s .expected -0.002 to 1"),
        (BenchEffects, {"command_delay": -1e300}, "command_delay: is -1e.300 s"),
        (BenchEffects, {"supply_ripple": 2.0}, "supply_ripple: is 2.0 .expected 0 to 1"),
    ],
)
def test_effects_are_refused_beyond_what_is_physical(owner, values, expected):
    with pytest.raises(BamError, match=expected):
        owner(**values)


def test_the_firmware_sees_the_position_late_and_in_counts():
    assert ServoEffects().seen_position(0.123, 5.0, 0.01) == 0.123
    assert ServoEffects(sensor_delay=2e-3).seen_position(0.123, 5.0, 0.01) == pytest.approx(0.113)
    assert ServoEffects(encoder_quantisation=1.0).seen_position(0.123, 5.0, 0.01) == pytest.approx(0.12)
    both = ServoEffects(encoder_quantisation=1.0, sensor_delay=2e-3)
    assert both.seen_position(0.123, 5.0, 0.01) == pytest.approx(0.11)


def test_grease_loses_half_its_drag_where_its_constant_says_so():
    servo_effects = ServoEffects(friction_temperature=math.log(2.0) / 20.0)
    assert servo_effects.temperature_scale(0.0) == 1.0
    assert servo_effects.temperature_scale(20.0) == pytest.approx(0.5)
    assert servo_effects.temperature_scale(-20.0) == pytest.approx(2.0)


def test_a_rig_says_what_the_arm_really_weighs():
    bench = PendulumBench(mass=0.5, arm_mass=0.1, length=0.2)
    assert BenchEffects().corrected(bench) is bench
    assert BenchEffects(arm_mass=0.05).corrected(bench) == PendulumBench(
        mass=0.5, arm_mass=0.1 + 0.05, length=0.2
    )
