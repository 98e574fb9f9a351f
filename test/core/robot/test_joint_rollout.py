# SPDX-License-Identifier: Apache-2.0
"""One joint at a time without MuJoCo's steps: the same motion as with them, for many robots at once."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from bam_core.robot.deviations import NO_DEVIATIONS, RobotDeviations
from bam_core.robot.joint_rollout import JointRollout
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.servo.model import ServoModel, load_servo
from bam_core.simulation.kernel.lanes import BLOCK
from test.core.whole_robot_cases import JOINTS, arm, goals, recorded, servos

PENDULUM = """<mujoco>
  <worldbody>
    <body name="arm">
      <joint name="pivot" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.2" size="0.02" mass="0.8"/>
    </body>
  </worldbody>
</mujoco>
"""
STEP = 1e-3
ROBOT = RobotDeviations(
    delay=0.0073,
    zero={"shoulder": 0.03, "elbow": -0.02},
    strength={"elbow": -0.1},
    friction={"shoulder": 0.2},
    mass={"lower": 0.05},
    centre={"lower": (0.003, 0.0, 0.003), "upper": (0.0, 0.0, -0.003)},
)
LOADING = [name for name in ROBOT.by_name() if name.split()[0] in ("mass", "centre", "zero")]


def rollout(run: RobotRun, servo: dict[str, ServoModel], step: float = STEP) -> JointRollout:
    """Of joints of the small arm."""
    model = RobotBench.make(arm(), "fixed", step=step).compiled(run, servos())
    return JointRollout(model, run, servo, LOADING, step=step, table={})


@pytest.mark.parametrize(
    ("name", "ki", "kd", "acceleration", "largest"),
    [
        ("mx106", 0.0, 0.0, None, 5e-5),
        ("mx106", 16.0, 0.0, None, 2e-4),
        ("xl330", 0.0, 0.0, None, 5e-5),
        ("sts3215", 0.0, 32.0, None, 2e-4),
        ("sts3215", 0.0, 32.0, {"pivot": 20.0}, 2e-4),
    ],
)
def test_a_robot_of_one_joint_moves_as_in_mujoco(
    name: str, ki: float, kd: float, acceleration: dict[str, float] | None, largest: float
) -> None:
    """Under every law: voltage, current, integral and derivative gains, limited acceleration."""
    run = goals()
    run = replace(
        run,
        joints=("pivot",),
        goal_position=run.goal_position[:, :1],
        position=run.position[:, :1],
        kp={"xl330": 400.0}.get(name, 16.0),
        ki=ki,
        kd=kd,
        goal_acceleration=acceleration,
        supply_voltage={"xl330": 5.0}.get(name, 12.0),
    )
    servo = {"pivot": load_servo(name)}
    bench = RobotBench.make(mujoco.MjSpec.from_string(PENDULUM), "fixed", step=0.25 * STEP)
    there = bench.simulate(run, servo)
    run = replace(run, position=there)
    found = JointRollout(bench.compiled(run, servo), run, servo, (), step=STEP, table={})
    (here,) = found.positions([servo], [NO_DEVIATIONS])
    assert np.abs(there - run.goal_position).mean() > 5e-3  # it is no trivial motion
    assert np.abs(here - there).mean() < largest
    assert np.abs(here - there).max() < 1e-3


@pytest.mark.parametrize("deviations", [NO_DEVIATIONS, ROBOT])
@pytest.mark.parametrize("model", ["m1", "m6"])
def test_a_joint_whose_neighbour_moves_as_measured_moves_as_in_mujoco(
    deviations: RobotDeviations, model: str
) -> None:
    truth = servos("m4")
    run = recorded(truth, duration=2.5)
    given = servos(model)
    there = RobotBench.make(arm(), "fixed", step=STEP, others="measured").simulate(run, given, deviations)
    for column, joint in enumerate(JOINTS):
        found = rollout(run, {joint: given[joint]}).positions([given], [deviations])[0, :, 0]
        assert np.abs(found - there[:, column]).mean() < 2e-4
        assert np.abs(found - there[:, column]).max() < 1e-3


def test_robots_side_by_side_move_as_each_of_them_alone() -> None:
    """Two joints at once, and more robots than a group of lanes has room for."""
    run = recorded(servos(), duration=1.0)
    one_type = dict.fromkeys(JOINTS, servos()["shoulder"])
    both = rollout(run, one_type)
    robots = [replace(ROBOT, delay=1e-3 * number, zero={"elbow": 1e-3 * number}) for number in range(BLOCK)]
    together = both.positions([one_type] * BLOCK, robots)
    robots = robots[::13]
    together = together[::13]
    for number, robot in enumerate(robots):
        for column, joint in enumerate(JOINTS):
            alone = rollout(run, {joint: one_type[joint]}).positions([one_type], [robot])
            assert np.array_equal(alone[0, :, 0], together[number, :, column])


def test_a_simulation_that_starts_anew_stays_near_its_measurement() -> None:
    run = recorded(servos(), duration=2.0)
    weak = RobotDeviations(strength=dict.fromkeys(JOINTS, -0.4))
    rolling = rollout(run, {"shoulder": servos()["shoulder"]})
    off = [
        np.abs(each.positions([servos()], [weak])[0, :, 0] - run.position[:, 0]).mean()
        for each in (rolling, rolling.restarted(0.1))
    ]
    assert off[1] < 0.3 * off[0]
