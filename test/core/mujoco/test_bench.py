# SPDX-License-Identifier: Apache-2.0
"""The bench as MJCF and as URDF."""

from __future__ import annotations

from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from bam_core.mujoco import BENCH_JOINT, bench_spec, bench_urdf, compile_robot, load_robot
from bam_core.servo.pendulum import PendulumBench
from test.core.mujoco_cases import SERVO, on_bench


def test_urdf_and_mjcf_are_the_same_bench(tmp_path) -> None:
    bench = PendulumBench(mass=0.5, arm_mass=0.1, length=0.2)
    file = tmp_path / "bench.urdf"
    file.write_text(bench_urdf(bench))
    for spec in (load_robot(file), bench_spec(bench)):
        model = compile_robot(spec)
        data = mujoco.MjData(model)
        data.qpos[0] = 0.7
        mujoco.mj_forward(model, data)
        assert data.qfrc_bias[0] == pytest.approx(-float(bench.external_torque(0.7)), rel=1e-9)
        assert data.M[0] == pytest.approx(bench.inertia, rel=1e-6)
        assert model.joint(0).name == BENCH_JOINT


def test_positive_angles_turn_counter_clockwise_seen_from_the_front() -> None:
    actuation = on_bench(SERVO, position=0.5)
    mujoco.mj_forward(actuation.model, actuation.data)
    load = actuation.data.geom("load").xpos
    assert load[1] == pytest.approx(0.15 * np.sin(0.5))
    assert load[2] == pytest.approx(-0.15 * np.cos(0.5))


@pytest.mark.parametrize("mass", [0.5, 0.0])
def test_the_load_has_a_link_and_a_colour_of_its_own(mass: float) -> None:
    robot = ElementTree.fromstring(bench_urdf(PendulumBench(mass=mass, length=0.2)))
    joint = robot.find("joint[@type='fixed']")
    assert joint is not None
    links = (joint.find("parent").get("link"), joint.find("child").get("link"))
    assert links == ("arm", "load")
    assert joint.find("origin").get("xyz") == "0 0 -0.2"
    colours = [colour.get("rgba") for colour in robot.iterfind("link[@name='load']/visual/material/color")]
    assert len(colours) == (mass > 0.0)
    for link in robot.iterfind("link"):  # RViz gives all visuals of a link the colour of the first
        assert len({colour.get("rgba") for colour in link.iterfind("visual/material/color")}) <= 1
