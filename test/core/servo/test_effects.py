# SPDX-License-Identifier: Apache-2.0
"""Effects by name, and what belongs to the bench."""

import math

import pytest

from bam_core.errors import OutOfRange, UnknownName
from bam_core.servo.effects import EFFECTS, BenchEffects, ServoEffects, resolve_effects
from bam_core.servo.parameters import BENCH_EFFECTS, MOTOR_EFFECTS, PARAMETER_UNITS, SERVO_EFFECTS
from bam_core.servo.pendulum import PendulumBench


def test_every_effect_belongs_to_motor_servo_or_bench_and_has_a_unit():
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
    with pytest.raises(UnknownName) as caught:
        resolve_effects(["backlsh"])
    assert (caught.value.name, caught.value.valid) == ("backlsh", tuple(sorted(EFFECTS)))


@pytest.mark.parametrize("name", BENCH_EFFECTS)
def test_bench_effects_have_finite_values(name):
    with pytest.raises(OutOfRange) as caught:
        BenchEffects(**{name: float("nan")})
    assert caught.value.thing == f"bench_effects {name}"


@pytest.mark.parametrize("name", SERVO_EFFECTS)
def test_servo_effects_have_finite_values(name):
    with pytest.raises(OutOfRange) as caught:
        ServoEffects(**{name: float("nan")})
    assert caught.value.thing == f"servo_effects {name}"


@pytest.mark.parametrize(
    ("owner", "name", "value"),
    [
        (ServoEffects, "friction_temperature", -0.01),
        (ServoEffects, "sensor_delay", -1e-3),
        (ServoEffects, "goal_slew_time", -0.1),
        (ServoEffects, "firmware_gain", -1.0),
        (ServoEffects, "limit_shortfall", 1.0),
        (ServoEffects, "bridge_coasting", 1.1),
        (ServoEffects, "encoder_quantisation", 0.5),
        (ServoEffects, "load_inertia", 1.1),
        (ServoEffects, "friction_direction", 1.0),
        (BenchEffects, "arm_mass", -0.1),
        (BenchEffects, "command_delay", -0.01),
        (BenchEffects, "command_delay", 1.5),
        (BenchEffects, "command_delay", -1e300),
        (BenchEffects, "supply_ripple", 2.0),
        (BenchEffects, "load_gyration", -0.1),
    ],
)
def test_effects_are_refused_beyond_what_is_physical(owner, name, value):
    with pytest.raises(OutOfRange) as caught:
        owner(**{name: value})
    assert (caught.value.thing.split()[-1], caught.value.value) == (name, value)


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


def test_bench_effects_say_what_the_arm_really_weighs():
    bench = PendulumBench(mass=0.5, arm_mass=0.1, length=0.2)
    assert BenchEffects().corrected(bench) is bench
    assert BenchEffects(load_gyration=0.03).corrected(bench).inertia == pytest.approx(
        bench.inertia + 0.5 * 0.03**2
    )
    assert BenchEffects(arm_mass=0.05).corrected(bench) == PendulumBench(
        mass=0.5, arm_mass=0.1 + 0.05, length=0.2
    )


def test_radii_of_gyration_of_the_load_add_as_squares():
    bench = PendulumBench(mass=0.5, length=0.2, gyration=0.04)
    found = BenchEffects(load_gyration=0.03).corrected(bench)
    assert found.gyration == pytest.approx(0.05)
    assert found.inertia == pytest.approx(0.5 * (0.2**2 + 0.05**2))
