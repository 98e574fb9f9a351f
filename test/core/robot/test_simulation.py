# SPDX-License-Identifier: Apache-2.0
"""Simulated runs of a robot: goals in time, deviations, and the same motion as another executor's."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.errors import Missing, UnknownName
from bam_core.mujoco import ServoActuation, compile_robot, equip
from bam_core.mujoco.robot_file import load_robot
from bam_core.robot.checked_validation import validate_robot
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.simulation import SETTLING, RobotBench
from test.core.refusals import refused
from test.core.whole_robot_cases import ARM, JOINTS, arm, bench, goals, servos


def test_joints_move_as_with_the_servos_in_python() -> None:
    run, step = goals(), 1e-3
    found = bench(step).simulate(run, servos())
    spec = arm()
    spec.option.timestep = step
    equip(spec, servos())
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    actuation = ServoActuation(model, data, servos())
    actuation.kp[:], actuation.supply_voltage[:], actuation.torque_enabled[:] = run.kp, 12.0, 1.0
    actuation.goal_position[:] = run.goal_position[0]
    mujoco.mj_forward(model, data)
    for _ in range(round(SETTLING / step)):
        actuation.step()
    there = np.empty_like(found)
    for sample, goal in enumerate(run.goal_position):  # goals fall on steps: samples are 10 ms apart
        there[sample] = data.qpos
        actuation.goal_position[:] = 0.5 * (actuation.goal_position + goal)  # acts from half a step before
        for _ in range(10):
            actuation.step()
            actuation.goal_position[:] = goal
    assert np.abs(found - there).max() < 1e-4


def test_each_joint_has_its_own_gain() -> None:
    """A joint of a run with gains per joint moves nearly as with its gain on both joints."""
    run = goals()
    own = bench().simulate(replace(run, kp={"shoulder": 8.0, "elbow": 32.0}), servos())
    soft, stiff = (bench().simulate(replace(run, kp=kp), servos()) for kp in (8.0, 32.0))
    errors = [np.abs(there - own).mean(axis=0) for there in (soft, stiff)]
    assert errors[0][0] < 0.1 * errors[1][0]
    assert errors[1][1] < 0.1 * errors[0][1]
    with refused(Missing, thing=f"{run.name}, kp of 'elbow'"):
        bench().simulate(replace(run, kp={"shoulder": 8.0}), servos())


def test_long_steps_neither_advance_nor_delay_a_motion() -> None:
    run = goals()
    fine = bench(2.5e-4).simulate(run, servos())
    coarse = bench(4e-3).simulate(run, servos())
    assert np.abs(coarse - fine).mean() < 0.2e-3
    moving = np.gradient(fine, run.time, axis=0)
    early = (moving * (coarse - fine)).sum() / (moving**2).sum()  # s
    assert abs(early) < 0.1e-3  # goals in force from the start of a step on would be 1.9 ms early


def test_a_delay_moves_the_motion_by_that_time() -> None:
    run = goals(4.0)
    late = bench().simulate(run, servos(), RobotDeviations(delay=0.03))
    now = bench().simulate(run, servos())
    assert np.abs(late[60:] - now[57:-3]).max() < 2e-3  # friction makes it no pure shift at the start
    assert np.abs(late[60:] - now[60:]).max() > 2e-2


def test_an_encoder_that_is_off_is_off_in_reading_and_goal_alike() -> None:
    run = goals()
    off = RobotDeviations(zero={"elbow": 0.05})
    found, truth = bench().simulate(run, servos(), off), bench().simulate(run, servos())
    # It holds the same reading with the arm hanging elsewhere: only gravity's torque changes.
    assert 1e-4 < np.abs(found[100:] - truth[100:]).max() < 0.02


@pytest.mark.parametrize(
    "deviations",
    [
        RobotDeviations(mass={"lower": 0.3}),
        RobotDeviations(centre={"lower": (0.0, 0.0, -0.03)}),
        RobotDeviations(strength={"shoulder": -0.2, "elbow": -0.2}),
        RobotDeviations(friction={"shoulder": 1.0, "elbow": 1.0}),
    ],
)
def test_heavier_longer_and_weaker_robots_follow_their_goals_less(deviations: RobotDeviations) -> None:
    run = goals()

    def distance(found: np.ndarray) -> float:
        return float(np.abs(found - run.goal_position)[60:].mean())

    plain = distance(bench().simulate(run, servos()))
    assert distance(bench().simulate(run, servos(), deviations)) > 1.01 * plain


def test_errors_are_those_of_the_samples_and_joints_that_count() -> None:
    run = replace(goals(), interval=(1.0, 2.0))
    run = replace(run, position=bench().simulate(run, servos()) + np.array([0.01, 0.0]))
    found = validate_robot(bench(), [run], JOINTS, servos())
    errors = found.per_log["run0"]
    assert errors.per_joint == pytest.approx({"shoulder": 0.01, "elbow": 0.0}, abs=2e-3)
    assert found.mae == errors.mae == pytest.approx(np.mean(list(errors.per_joint.values())))
    assert set(found.summary()["per_log"]["run0"]) == {"mae", "per_joint", "goal_distance"}


def test_only_what_leads_up_to_the_interval_is_simulated_in_a_search() -> None:
    run = replace(goals(4.0), interval=(3.0, 3.9))
    run = replace(run, position=bench().simulate(run, servos()))
    coarse = bench().coarser(2e-3, settling=0.3, lead=0.5).simulate(run, servos())
    assert np.array_equal(coarse[:240], run.position[:240])
    assert np.abs(coarse - run.position)[run.counts].mean() < 3e-3


def test_what_cannot_be_simulated_is_refused() -> None:
    run = goals()
    with pytest.raises(Missing, match="kp"):
        bench().simulate(replace(run, kp=None), servos())
    with pytest.raises(UnknownName, match="wrist"):
        bench().simulate(replace(run, joints=("shoulder", "wrist")), servos())
    with pytest.raises(UnknownName):
        RobotBench.make(arm(), "sole")


def test_stiff_contacts_slip_less_than_soft_ones() -> None:
    spec = mujoco.MjSpec.from_string(
        '<mujoco><option noslip_iterations="4" gravity="3 0 -9.5"/><worldbody>'
        '<geom type="plane" size="0 0 1"/>'
        '<body name="foot" pos="0 0 0.02"><freejoint/><geom type="box" size="0.1 0.05 0.02" mass="3"/></body>'
        "</worldbody></mujoco>"
    )
    described = RobotBench.make(spec, "free", step=2e-3)
    soft = described.spec.copy()
    soft.option.noslip_iterations = 0
    quick = described.stiff_contacts(4e-3)
    assert quick.spec.option.timestep == quick.step == 4e-3
    assert described.spec.option.noslip_iterations == 4
    assert _crept(described.spec) < _crept(quick.spec) < 0.2 * _crept(soft)


def _crept(spec: mujoco.MjSpec) -> float:
    model = spec.compile()
    data = mujoco.MjData(model)
    while data.time < 2.0:
        mujoco.mj_step(model, data)
    return abs(float(data.qpos[0]))


FIXED_ARM = ARM.replace(
    '<body name="upper">',
    '<geom name="post" type="box" size="0.03 0.03 0.1" pos="0 0 0"/><body name="upper">',
)


def test_overlapping_links_move_as_if_they_did_not_where_a_run_shows_that_they_can() -> None:
    run = goals()
    joints, path = run.joints, run.position
    free = bench().simulate(run, servos())
    jammed = mujoco.MjSpec.from_string(FIXED_ARM)

    def off(*, start_contacts: bool) -> float:
        robot = RobotBench.make(jammed, "fixed", paths=[(joints, path)], start_contacts=start_contacts)
        return float(np.abs(robot.simulate(run, servos()) - free).max())

    assert off(start_contacts=False) < 1e-9
    assert off(start_contacts=True) > 0.02


INERTIAL = (("upper", 1.0, -0.1), ("lower", 0.6, -0.075))


def urdf() -> str:
    """The arm as a URDF, on a base whose box the upper link overlaps."""
    links = ['<link name="base"><collision><geometry><box size="0.1 0.1 0.1"/></geometry></collision></link>']
    joints = (("shoulder", "base", "upper", 0.0), ("elbow", "upper", "lower", -0.2))
    for name, mass, centre in INERTIAL:
        links.append(
            f'<link name="{name}"><inertial><origin xyz="0 0 {centre}"/><mass value="{mass}"/>'
            '<inertia ixx="0.003" iyy="0.003" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial><collision>'
            '<geometry><cylinder radius="0.02" length="0.1"/></geometry></collision></link>'
        )
    for name, parent, child, height in joints:
        links.append(
            f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0 0 {height}"/><axis xyz="0 1 0"/><dynamics damping="3" friction="1"/>'
            '<limit lower="-3" upper="3" effort="0.1" velocity="1"/></joint>'
        )
    return f'<robot name="arm">{"".join(links)}</robot>'


def mjcf() -> str:
    """The same arm as an MJCF, with actuators of its own and nothing to touch."""
    upper, lower = (
        f'<inertial pos="0 0 {centre}" mass="{mass}" diaginertia="0.003 0.003 0.001"/>'
        for _, mass, centre in INERTIAL
    )
    return f"""<mujoco><compiler angle="radian"/><option gravity="0 0 -9.80665"/><worldbody>
      <body name="upper"><joint name="shoulder" axis="0 1 0" range="-3 3" damping="3"/>{upper}
      <body name="lower" pos="0 0 -0.2"><joint name="elbow" axis="0 1 0" range="-3 3"/>{lower}</body></body>
    </worldbody><actuator><position joint="elbow" kp="9"/><motor joint="shoulder"/></actuator></mujoco>"""


def test_one_robot_moves_alike_as_urdf_and_as_mjcf(tmp_path: Path) -> None:
    run = goals()
    (tmp_path / "arm.urdf").write_text(urdf())
    (tmp_path / "arm.xml").write_text(mjcf())

    def path(name: str) -> np.ndarray:
        spec = load_robot(tmp_path / name)
        return RobotBench.make(spec, "fixed", paths=[(run.joints, run.position)]).simulate(run, servos())

    assert np.abs(path("arm.urdf") - path("arm.xml")).max() < 1e-4
    assert np.ptp(path("arm.xml"), axis=0).min() > 0.1
