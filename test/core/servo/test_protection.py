# SPDX-License-Identifier: Apache-2.0
"""Overload protection by itself: when it sets in, what ends it, and how servo files tell of it."""

import dataclasses

import numpy as np
import pytest
import yaml

from bam_core.errors import Missing, OutOfRange, UnknownName, WrongType
from bam_core.servo.firmware_library import FIRMWARES, firmware_fields, firmware_from_fields
from bam_core.servo.model import load_servo
from bam_core.servo.protection import Overload, OverloadProtection
from bam_core.simulation import law
from test.core.refusals import refused

PERIOD = 1e-3
COUNT = 1.5e-3
PROTECTION = OverloadProtection(threshold=0.8, time=0.05, limit=0.2)
STEPS = 50  # of PERIOD in its time


def shares(demands, goals=0.0, enabled=True, protection=PROTECTION):
    """Return what share of the largest demand, 2, a firmware may ask for, period by period."""
    overload, found = Overload(), []
    steps = range(len(demands))
    goals = goals if isinstance(goals, list) else [goals for _ in steps]
    enabled = enabled if isinstance(enabled, list) else [enabled for _ in steps]
    for k in steps:
        overload = protection.after_goal(overload, goals[k], COUNT, enabled[k])
        found.append(protection.share(overload))
        if enabled[k]:
            overload = protection.after_demand(overload, demands[k], 2.0, PERIOD)
    return found


def test_the_limit_comes_after_the_time_and_not_before():
    assert shares([-1.6] * 80) == [1.0] * STEPS + [0.2] * 30


def test_demands_below_the_threshold_are_no_overload_and_a_break_starts_the_time_anew():
    assert set(shares([1.59] * 200)) == {1.0}
    interrupted = [2.0] * 49 + [1.5] + [2.0] * 49 + [1.5]
    assert set(shares(interrupted * 3)) == {1.0}


def test_protection_stays_though_little_is_asked_for():
    assert shares([2.0] * 60 + [0.0] * 100)[-1] == 0.2


def test_another_goal_ends_it_and_the_time_starts_anew():
    goals = [0.3] * 70 + [0.3 + 0.6 * COUNT] * 70
    found = shares([2.0] * 140, goals)
    assert found == [1.0] * 50 + [0.2] * 20 + [1.0] * 50 + [0.2] * 20


def test_a_goal_of_the_same_count_is_no_other():
    goals = [0.3] * 70 + [0.3 + 0.4 * COUNT] * 70
    assert shares([2.0] * 140, goals)[50:] == [0.2] * 90


def test_another_goal_before_the_time_is_over_changes_nothing():
    goals = [0.0] * 20 + [1.0] * 60
    assert shares([2.0] * 80, goals) == [1.0] * 50 + [0.2] * 30


def test_while_the_goal_moves_nothing_is_limited():
    goals = [0.01 * min(k, 55) for k in range(130)]
    assert shares([2.0] * 130, goals) == [1.0] * 100 + [0.2] * 30


def test_torque_off_ends_it_and_the_time_starts_anew():
    enabled = [True] * 60 + [False] + [True] * 60
    assert shares([2.0] * 121, 0.0, enabled) == [1.0] * 50 + [0.2] * 10 + [1.0] * 51 + [0.2] * 10


def test_the_compiled_law_is_the_same():
    p, random = PROTECTION, np.random.default_rng(0)
    for _ in range(500):
        overload = Overload(
            time=random.choice([0.0, 0.02, 0.049999, 0.05, 0.06]), goal=random.normal() * COUNT
        )
        goal, demand = random.normal() * COUNT, random.uniform(-2.0, 2.0)
        told = law.overload_after_goal(overload.time, overload.goal, goal, p.trip_time, COUNT)
        assert told == p.after_goal(overload, goal, COUNT, is_enabled=True).time
        asked = law.overload_after_demand(told, demand, p.threshold * 2.0, p.trip_time, PERIOD)
        assert asked == p.after_demand(Overload(time=told), demand, 2.0, PERIOD).time


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("threshold", 0.0),
        ("threshold", 1.1),
        ("threshold", float("nan")),
        ("time", 0.0),
        ("time", float("inf")),
        ("limit", -0.1),
        ("limit", 1.01),
    ],
)
def test_a_value_out_of_range_is_refused(field, value):
    with refused(OutOfRange, thing=f"protection {field}"):
        dataclasses.replace(PROTECTION, **{field: value})


@pytest.mark.parametrize("name", ["mx-protocol1", "erob80"])
def test_a_firmware_with_protection_is_told_by_its_fields(name):
    firmware = dataclasses.replace(FIRMWARES[name], name="own", protection=PROTECTION)
    told = firmware_fields(firmware)
    assert told["protection"] == {"threshold": 0.8, "time": 0.05, "limit": 0.2}
    assert firmware_from_fields("own", yaml.safe_load(yaml.safe_dump(told))) == firmware
    assert "protection" not in firmware_fields(FIRMWARES[name])


def with_section(tmp_path, section):
    """Return a servo file whose firmware has this section `protection`."""
    servo = load_servo("sts3215")
    firmware = dataclasses.replace(servo.firmware, name="sts3215", protection=PROTECTION)
    path = tmp_path / "servo.yaml"
    text = dataclasses.replace(servo, firmware=firmware).to_yaml()
    document = yaml.safe_load(text)
    document["firmware"]["protection"] = section
    path.write_text(yaml.safe_dump(document))
    return text, path


def test_a_servo_file_keeps_protection(tmp_path):
    text, path = with_section(tmp_path, {"threshold": 1, "time": 3, "limit": 0})
    assert "    threshold: 0.8  # " in text
    path.write_text(text)
    assert load_servo(path).firmware.protection == PROTECTION
    _, path = with_section(tmp_path, {"threshold": 1, "time": 3, "limit": 0})
    assert load_servo(path).firmware.protection == OverloadProtection(threshold=1.0, time=3.0, limit=0.0)


@pytest.mark.parametrize(
    ("section", "error"),
    [
        ({"threshold": 0.8, "time": 2.0}, Missing),
        ({"threshold": 0.8, "time": 2.0, "limit": 0.2, "current": 2.0}, UnknownName),
        ({"threshold": "80 %", "time": 2.0, "limit": 0.2}, WrongType),
        (True, WrongType),
        ({"threshold": 80.0, "time": 2.0, "limit": 0.2}, OutOfRange),
    ],
)
def test_a_section_that_is_wrong_is_refused(tmp_path, section, error):
    _, path = with_section(tmp_path, section)
    with refused(error):
        load_servo(path)
