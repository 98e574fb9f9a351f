# SPDX-License-Identifier: Apache-2.0
"""What the simulator reports, in words."""

from __future__ import annotations

from bam_ros.text.simulator_notices import LastMoments, SimulationOpened, SimulationSlow


def test_what_is_simulated_is_named_with_joints_that_have_no_servo() -> None:
    opened = SimulationOpened(
        model="arm.xml", servos=(("elbow", "MX-64"),), free_joints=("shoulder", "wrist")
    )
    assert str(opened) == "simulation of arm.xml with elbow: MX-64; joints without servo: shoulder, wrist"
    assert str(SimulationOpened(model="arm.xml", servos=(("a", "MX-64"), ("b", "MX-106")))) == (
        "simulation of arm.xml with a: MX-64, b: MX-106"
    )


def test_a_slow_simulation_says_what_makes_it_faster() -> None:
    assert str(SimulationSlow(speed=0.5)) == (
        "simulation: runs at 50% of the speed asked for (expected 100%); lower real_time_factor or raise"
        " timestep"
    )


def test_the_last_moments_are_in_a_file_or_it_is_told_why_not() -> None:
    assert str(LastMoments(file="d.npz")) == (
        "its last moments are in d.npz, for bam_core.mujoco.load_diverged_run"
    )
    assert str(LastMoments(most=10)) == "its last moments are not kept, after 10 files"
    assert str(LastMoments(error="disk full")) == "its last moments are lost: disk full"
