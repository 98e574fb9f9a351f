# SPDX-License-Identifier: Apache-2.0
"""What a robot's runs do not determine, in words."""

from __future__ import annotations

from bam_core.text.robot_evidence_findings import IdleMotors, JointsFinding, NoLoad, SlowRate, SteadySpeed


def test_joints_are_named_with_what_follows() -> None:
    assert JointsFinding(kind="undriven", joints=("hip", "knee")).sentence == (
        "hip, knee: no servo is named (--servos). Nothing drives them in simulations."
    )
    assert (
        "at rest in all runs, within 0.02 rad"
        in JointsFinding(kind="resting", joints=("hip",), limit=0.02).sentence
    )
    assert JointsFinding(kind="held", joints=("hip",)).sentences[1] == (
        "Servos of these joints hold still in simulations."
    )


def test_motions_that_determine_too_little_have_their_numbers_and_a_cure() -> None:
    steady = SteadySpeed(servo="sts3215", speed=0.764)
    assert "near 0.76 rad/s in all runs" in steady.sentence
    assert steady.sentences[-1] == "Let it stop, or turn round slowly."
    idle = NoLoad(servo="sts3215", load=0.012, friction=0.12)
    assert len(idle.sentences) == 2
    assert idle.sentences[0] == (
        "Servo sts3215: the load changes by ±0.012 N·m, friction alone holds ±0.12 N·m."
    )
    slow = SlowRate(models=("m4", "m6"), rate=29.97, runs=2, limit=45.0)
    assert slow.sentences[0] == "2 runs recorded at 30.0 Hz (45 or more expected)."
    assert "(m4, m6)" in slow.sentences[1]
    motors = IdleMotors(joints=("wrist",), servo="sts3215", friction=0.12)
    assert motors.sentences[0] == "wrist: no load beyond friction (±0.12 N·m)."
