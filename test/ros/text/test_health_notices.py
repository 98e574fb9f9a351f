# SPDX-License-Identifier: Apache-2.0
"""Friction beside a servo file, in words."""

from __future__ import annotations

from dataclasses import replace

from bam_core.whole_body.friction_health import FrictionHealth
from bam_ros.text.health_notices import FrictionNotice

HEALTH = FrictionHealth(
    blocks=40,
    reference="file",
    change=0.23,
    interval=(0.15, 0.31),
    probability=1e-9,
    heat=-0.1,
    temperature_coefficient=(0.005, 0.001),
    alarm="increase",
)


def words(**changes: object) -> str:
    return str(FrictionNotice(joint="elbow", health=replace(HEALTH, **changes)))


def test_a_change_is_given_with_its_interval_what_heat_explains_and_what_to_do() -> None:
    assert words() == (
        "elbow: 23 % more friction than in its servo file (95 % interval 15 to 31 %, p < 1e-06; heat explains"
        " another -10 %); check bearings, dirt and mounting; then identify the joint again, or replace the"
        " servo"
    )
    assert words(change=-0.23, alarm="decrease", heat=None, probability=2e-4) == (
        "elbow: 23 % less friction than in its servo file (95 % interval 15 to 31 %, p 0.0002; its"
        " temperature is unknown, heat may be the cause); it has run in, or a gear is loose: check the play,"
        " then identify the joint again"
    )


def test_a_change_since_the_start_is_reported_as_that() -> None:
    assert words(reference="start").startswith("elbow: 23 % more friction than when it was started (")


def test_friction_as_in_the_file_and_unknown_friction_are_reported_as_such() -> None:
    assert words(alarm="", change=0.02, interval=(-0.01, 0.05)) == (
        "elbow: friction is as in its servo file (+2 %, 95 % interval -1 to 5 %)"
    )
    assert words(blocks=0, alarm="") == (
        "elbow: friction is unknown yet; move the joint both ways for some seconds"
    )
