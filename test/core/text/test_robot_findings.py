# SPDX-License-Identifier: Apache-2.0
"""What a robot's runs do not determine, in words."""

from __future__ import annotations

from bam_core.text.robot_findings import (
    IdleMotors,
    JointsFinding,
    NarrowBands,
    NoLoad,
    RobotErrors,
    SlowRate,
    SteadySpeed,
)


def test_joints_are_named_with_what_follows() -> None:
    assert JointsFinding(kind="undriven", joints=("hip", "knee")).sentence == (
        "hip, knee: no servo is named (--servos). Nothing drives them in simulations."
    )
    assert "rest within 0.02 rad" in JointsFinding(kind="resting", joints=("hip",), limit=0.02).sentence
    assert JointsFinding(kind="held", joints=("hip",)).sentences[1] == "Their servos hold still."


def test_motions_that_determine_too_little_have_their_numbers_and_a_cure() -> None:
    steady = SteadySpeed(servo="sts3215", speed=0.764)
    assert "near 0.76 rad/s in all runs" in steady.sentence
    assert steady.sentences[-1] == "Let it stop, or turn round slowly."
    idle = NoLoad(servo="sts3215", load=0.012, friction=0.12)
    assert idle.sentences[1:3] == (
        "The load changes by ±0.012 N·m at most.",
        "Friction alone holds ±0.12 N·m.",
    )
    slow = SlowRate(models=("m4", "m6"), rate=29.97, runs=2, limit=45.0)
    assert slow.sentences[0] == "2 runs recorded at 30.0 Hz (45 or more expected)."
    assert "(m4, m6)" in slow.sentences[1]
    motors = IdleMotors(joints=("wrist",), servo="sts3215", friction=0.12)
    assert motors.sentences[0] == "wrist: no load beyond friction (±0.12 N·m)."


def test_errors_have_their_factor() -> None:
    worse = RobotErrors(kind="worse_than_fitted", factor=4.04)
    assert worse.sentences[0] == "Test runs are followed 4.0 times worse than fitted ones."
    passed_on = RobotErrors(kind="errors_passed_on", factor=2.5)
    assert passed_on.sentences[0] == "The whole robot's error is 2.5 times that of one joint at a time."


def test_narrow_bands_have_their_share_and_up_to_three_runs() -> None:
    few = NarrowBands(runs=("soft", "softer"), shares=(0.73, 0.675), total=3)
    assert few.sentences[0] == "90 % bands hold only 68 % to 73 % of the samples of soft, softer."
    many = NarrowBands(runs=tuple("abcd"), shares=(0.7,) * 4, total=8)
    assert many.sentences[0] == "90 % bands hold only 70 % of the samples of 4 of 8 test runs."
