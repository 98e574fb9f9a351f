# SPDX-License-Identifier: Apache-2.0
"""Friction beside a servo's file: wear is noticed, heat and loads are not taken for it, alarms are rare."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import OutOfRange, WrongShape
from bam_core.servo.model import ServoModel, load_servo
from bam_core.whole_body.friction_blocks import (
    FrictionBlock,
    FrictionSamples,
    friction_block,
    predicted_friction,
)
from bam_core.whole_body.friction_health import BLOCK, HealthMonitor, HealthSettings
from studies.friction_health import VirtualJoint, watch

SERVO = load_servo("mx106")


def samples(factor: float = 1.0, offset: float = 0.0, *, both_ways: bool = True) -> FrictionSamples:
    velocity = np.sin(np.linspace(0.0, 4.0 * math.pi, 400)) * 2.0
    velocity = velocity if both_ways else np.abs(velocity) + 0.5
    external = np.linspace(-1.0, 1.0, 400)
    no_load, load = predicted_friction(SERVO, -external, external, velocity)
    noise = 1e-3 * np.random.default_rng(0).standard_normal(400)
    unknown = offset * (1.0 + external)
    torque = factor * (no_load + load) * np.sign(velocity) + unknown + noise
    return FrictionSamples(
        torque=torque,
        no_load=no_load,
        load=load,
        external=external,
        velocity=velocity,
        temperature=np.full(400, 30.0),
    )


def block(log_factor: float, temperature: float = 25.0, share: float = 0.8) -> FrictionBlock:
    return FrictionBlock(log_factor=log_factor, error=0.01, no_load_share=share, temperature=temperature)


def with_heat(gamma: float) -> ServoModel:
    return replace(
        SERVO,
        servo_effects=replace(SERVO.servo_effects, friction_temperature=gamma),
        uncertainty={**SERVO.uncertainty, "friction_temperature": 5e-4},
    )


@pytest.mark.parametrize("factor", [0.7, 1.0, 1.5])
@pytest.mark.parametrize("offset", [0.0, 0.2])
def test_a_block_gives_the_factor_of_friction_whatever_load_is_unknown(factor: float, offset: float) -> None:
    found = friction_block(samples(factor, offset))
    assert found is not None
    assert math.exp(found.log_factor) == pytest.approx(factor, rel=0.01)
    assert found.error < 0.01
    assert 0.0 < found.no_load_share < 1.0


def test_friction_at_the_temperature_of_the_block_is_what_it_is_compared_with() -> None:
    """γ of the file scales friction without load alone: at 30 °C, by exp(-5·γ)."""
    given = samples()
    cold = friction_block(replace(given, load=0.0 * given.load))
    warm = friction_block(replace(given, load=0.0 * given.load), 0.02)
    assert cold is not None
    assert warm is not None
    assert warm.log_factor - cold.log_factor == pytest.approx(0.1)


def test_motion_one_way_and_a_joint_at_rest_say_nothing() -> None:
    at_rest = samples()
    assert friction_block(replace(at_rest, velocity=0.0 * at_rest.velocity)) is None
    assert friction_block(samples(both_ways=False)) is None  # a load and friction are alike then
    with pytest.raises(WrongShape):
        replace(at_rest, load=at_rest.load[:-1])


def test_wear_of_a_fifth_is_noticed_in_a_minute_of_motion() -> None:
    for seed in range(3):
        joint = VirtualJoint(servo=SERVO)
        alarms, end, _ = watch(joint, HealthMonitor(SERVO), 0.1, seed, wear=0.2, since=0.05)
        assert alarms
        assert alarms[0][1] == "increase"
        assert 0.0 < 3600.0 * (alarms[0][0] - 0.05) < 60.0
        assert end.interval[0] < 0.2 < end.interval[1] + 0.05


@pytest.mark.parametrize("gamma", [0.0, 0.01])
def test_an_hour_of_warming_and_load_changes_raises_no_alarm(gamma: float) -> None:
    joint = VirtualJoint(servo=SERVO, gamma=gamma)
    alarms, end, _ = watch(joint, HealthMonitor(SERVO), 1.0, 3)
    assert alarms == []
    assert end.heat is not None


def test_heat_that_the_file_knows_is_no_change_and_one_that_it_does_not_is_learnt() -> None:
    for servo, known in ((SERVO, False), (with_heat(0.01), True)):
        monitor = HealthMonitor(servo)
        for warming in np.linspace(0.0, 30.0, 400):
            # The file's coefficient is in the factor of a block already.
            log_factor = 0.0 if known else -0.01 * float(warming) * 0.8
            health = monitor.take(block(log_factor, 25.0 + float(warming)))
        assert health.alarm == ""
        coefficient, deviation = health.temperature_coefficient
        assert coefficient == pytest.approx(0.01, abs=3.0 * deviation)
        assert health.heat == pytest.approx(math.expm1(-0.24), abs=0.1)


def test_wear_while_it_warms_up_is_still_wear() -> None:
    monitor = HealthMonitor(with_heat(0.01))
    for _ in range(60):
        health = monitor.take(block(math.log(1.3), 45.0))
    assert health.alarm == "increase"
    assert health.change == pytest.approx(0.3, abs=0.03)
    assert health.probability < 1e-6
    assert health.heat == pytest.approx(math.expm1(-0.01 * 20.0 * 0.8), rel=0.05)


def test_a_joint_that_runs_in_is_reported_as_a_decrease_and_an_alarm_ends_where_friction_is_back() -> None:
    monitor = HealthMonitor(SERVO)
    kinds = [monitor.take(block(-0.25)).alarm for _ in range(60)]
    assert kinds[-1] == "decrease"
    assert [monitor.take(block(0.0)).alarm for _ in range(60)][-1] == ""


def test_without_temperature_heat_is_unknown() -> None:
    health = HealthMonitor(SERVO).take(block(0.0, math.nan))
    assert health.heat is None
    assert health.blocks == 1


def test_false_alarms_are_no_more_than_wanted() -> None:
    """White noise at the edge of what is allowed; so many alarms are wanted that they can be counted."""
    wanted = 30.0  # per hour
    settings = HealthSettings(false_alarms=wanted)
    blocks = 10 * round(3600.0 / BLOCK)
    random = np.random.default_rng(0)
    monitor = HealthMonitor(SERVO, settings)
    edge = math.log1p(settings.allowed)
    raised, before = 0, ""
    for noise in 0.05 * random.standard_normal(blocks):
        alarm = monitor.take(block(edge + float(noise))).alarm
        raised += bool(alarm) and not before
        before = alarm
    assert raised <= wanted * 10
    assert HealthSettings(false_alarms=1e-3).threshold > settings.threshold > 2.0


def test_settings_out_of_range_are_refused() -> None:
    with pytest.raises(OutOfRange):
        HealthSettings(allowed=0.0)
    with pytest.raises(OutOfRange):
        HealthSettings(false_alarms=-1.0)


@pytest.mark.long
def test_a_day_of_warming_and_load_changes_raises_less_than_one_alarm() -> None:
    for gamma in (0.0, 0.005, 0.01):
        joint = VirtualJoint(servo=SERVO, gamma=gamma)
        assert watch(joint, HealthMonitor(SERVO), 24.0, 0)[0] == []
