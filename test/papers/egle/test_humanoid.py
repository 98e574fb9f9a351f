# SPDX-License-Identifier: Apache-2.0
"""The humanoid has what table 4.1 says, and its walk keeps to it."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.errors import Missing, UnknownName, Unsupported
from bam_core.whole_body import JointFriction
from papers.egle.gait import plan_gait, sideways, straight
from papers.egle.humanoid import (
    HEIGHT,
    LEGS,
    MASS,
    NECK,
    RIGHT_LEG,
    SOLES,
    SPECIFICATIONS,
    humanoid_mjcf,
    specification,
)
from papers.egle.walking import simulate_walk
from test.core.refusals import refused
from test.core.whole_body_cases import robot, walk

FILE = Path(__file__).parents[3] / "config" / "robots" / "humanoid.xml"


def test_the_file_is_what_the_program_makes() -> None:
    assert FILE.read_text() == humanoid_mjcf()


def test_mass_and_height_are_those_of_the_paper() -> None:
    model = robot().model
    assert model.body_mass.sum() == pytest.approx(MASS)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    head = model.body("head").geomadr[0]
    assert data.geom_xpos[head][2] + model.geom_size[head][0] == pytest.approx(HEIGHT)
    for sole in SOLES:
        assert data.site_xpos[model.site(sole).id][2] == pytest.approx(0.0, abs=1e-12)


def test_twenty_five_joints_are_driven_and_two_are_held() -> None:
    assert len(robot().joints) == 25
    assert robot().held == NECK
    assert robot().joints[:12] == LEGS


def test_every_joint_has_the_gear_range_and_torque_of_table_4_1() -> None:
    model = robot().model
    kinds = set()
    for name in robot().names:
        row = specification(name)
        low, high = model.joint(name).range
        assert np.degrees([low, high]) == pytest.approx(row.range)
        actuator = model.actuator(name)
        assert actuator.gear[0] == row.gear_ratio
        assert actuator.ctrlrange[1] * row.gear_ratio == pytest.approx(row.torque, rel=1e-5)
        kinds.add(row.letter)
    assert kinds == {row.letter for row in SPECIFICATIONS.values()} == set("ABCDEFGHIJKLMNO")


def test_left_and_right_are_mirror_images() -> None:
    model = robot().model
    for name in RIGHT_LEG:
        other = name.replace("right", "left")
        ranges = sorted(np.abs(model.joint(name).range)), sorted(np.abs(model.joint(other).range))
        assert ranges[0] == pytest.approx(ranges[1])
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert data.subtree_com[0][1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("steps", [straight(6), sideways(4)], ids=["straight", "sideways"])
def test_steps_keep_to_the_joints_ranges_and_speeds(steps: tuple[object, ...]) -> None:
    gait = plan_gait(robot(), steps)  # type: ignore[arg-type]
    time = np.linspace(0.0, gait.duration, 2000)
    position, velocity = gait.posture(time), gait.posture.derivative()(time)
    for column, name in enumerate(gait.joints):
        row = specification(name)
        assert np.degrees(position[:, column].min()) >= row.range[0]
        assert np.degrees(position[:, column].max()) <= row.range[1]
        assert np.degrees(np.abs(velocity[:, column]).max()) <= row.speed


def test_the_body_does_not_tip_over_and_torques_can_be_had() -> None:
    """The zero moment point stays under the standing sole, away from lift-off and touch-down."""
    log = walk().log
    for support in walk().supports[1::2]:
        inside = (log.time > support.start + 0.1) & (log.time < support.end - 0.05)
        forward, left = walk().zmp[inside].T
        assert forward.min() > -0.095
        assert forward.max() < 0.165
        assert np.abs(left).max() < 0.065
        for name in robot().joints:
            torque = log.effort[inside, log.names.index(name)]
            assert np.abs(torque).max() < specification(name).torque


def test_the_standing_foot_does_not_move_and_the_walk_follows_the_plan() -> None:
    plan = plan_gait(robot(), straight(2)).posture(walk().log.time)
    assert np.abs(walk().log.position - plan).max() < 0.03


def test_velocities_and_accelerations_belong_to_the_positions() -> None:
    log, inside = walk().log, slice(620, 1250)
    rate = np.gradient(walk().log.position, log.time, axis=0)
    np.testing.assert_allclose(rate[inside], walk().velocity[inside], atol=2e-3)


def test_friction_for_a_joint_that_is_not_driven_is_refused() -> None:
    with refused(UnknownName, name="neck_yaw"):
        simulate_walk(robot(), plan_gait(robot(), straight(1)), {"neck_yaw": JointFriction()})


def test_steps_out_of_reach_are_refused_by_the_foot() -> None:
    with refused(Unsupported) as caught:
        plan_gait(robot(), straight(4, length=0.8))
    assert caught.value.thing.endswith("_sole")


def test_a_walk_without_steps_is_refused() -> None:
    with refused(Missing, thing="gait step"):
        plan_gait(robot(), ())
