# SPDX-License-Identifier: Apache-2.0
"""Two-link arms: kinematics, one description as MJCF and URDF, paths that are within reach."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import OutOfRange, UnknownName, WrongShape
from bam_core.servo.model import load_servo
from papers.bam.arm_description import arm_spec, arm_urdf
from papers.bam.arm_paths import PATHS, path_points
from papers.bam.arm_tracking import track
from papers.bam.two_link import ARMS
from test.core.refusals import refused

angle = st.floats(-1.5, 1.5)


@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)
@given(shoulder=angle, elbow=st.floats(0.05, 2.5))
def test_inverse_undoes_forward_kinematics(arm, shoulder, elbow) -> None:
    angles = np.array([shoulder, elbow])
    np.testing.assert_allclose(arm.inverse(arm.forward(angles)), angles, atol=1e-9)


@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)
def test_the_tip_is_where_mujoco_has_it(arm) -> None:
    model = arm_spec(arm).compile()
    data = mujoco.MjData(model)
    data.qpos[:] = 0.7, 0.9
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.site("tip").xpos[1:], arm.forward(data.qpos), atol=1e-12)


@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)
def test_urdf_and_mjcf_are_the_same_arm(arm) -> None:
    models = [arm_spec(arm).compile(), mujoco.MjModel.from_xml_string(arm_urdf(arm))]
    found = []
    for model in models:
        model.opt.gravity[:] = 0.0, 0.0, -9.80665
        data = mujoco.MjData(model)
        data.qpos[:] = 0.4, 1.1
        data.qvel[:] = 2.0, -1.0
        mujoco.mj_forward(model, data)
        full = np.empty((2, 2))
        mujoco.mj_fullM(model, full, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, full)
        assert [model.joint(i).name for i in range(2)] == ["shoulder", "elbow"]
        found.append(np.concatenate([full.ravel(), data.qfrc_bias]))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-9)


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)
def test_paths_are_within_reach_and_run_at_constant_speed(arm, name) -> None:
    time = np.linspace(0.0, PATHS[name].duration, 4001)
    points = path_points(arm, name, time)
    np.testing.assert_allclose(arm.forward(arm.inverse(points)), points, atol=1e-12)
    speed = np.linalg.norm(np.diff(points, axis=0), axis=1)
    assert np.median(speed) == pytest.approx(speed.max(), rel=0.01)


def test_a_point_out_of_reach_is_named() -> None:
    with refused(OutOfRange, thing="arm dynamixel_2r, point", value=(1.0, 0.0)):
        ARMS["dynamixel_2r"].inverse([1.0, 0.0])


def test_an_unknown_path_is_named_with_those_that_there_are_and_so_is_a_missing_servo() -> None:
    with refused(UnknownName, kind="path", name="zigzag"):
        path_points(ARMS["erob_2r"], "zigzag", [0.0])
    with refused(WrongShape, thing="servos", value=1):
        track(ARMS["dynamixel_2r"], [load_servo("mx106")], "circle", 32.0)


@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)
def test_a_stiff_arm_follows_a_circle_more_closely_than_a_soft_one(arm) -> None:
    servos = [load_servo(name) for name in arm.servos]
    errors = [
        np.abs(run.position - run.goal_position).mean()
        for run in (track(arm, servos, "circle", kp) for kp in (arm.low_gain, arm.high_gain))
    ]
    assert errors[1] < 0.5 * errors[0] < 0.3
