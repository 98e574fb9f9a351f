# SPDX-License-Identifier: Apache-2.0
"""A designed motion tells more than another of the same length, and keeps to its limits on other robots."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import mujoco
import numpy as np
import pytest

from bam_core.errors import BadData, OutOfRange
from bam_core.robot.contacts import ContactCheck
from bam_core.robot.fit import information as information_of
from bam_core.robot.motion import RobotMotion
from bam_core.robot.motion_candidates import RATE, Piece
from bam_core.robot.motion_check import MotionCheck
from bam_core.robot.motion_design import DesignTask, MotionDesign, design_motion, servo_unknowns
from bam_core.robot.motion_limits import MotionLimits, joint_space
from bam_core.robot.simulation import RobotBench
from bam_core.robot.tolerances import RobotTolerances
from bam_core.robot.unknowns import Unknowns, bodies_for, with_friction_model
from bam_core.servo.model import load_servo
from test.core.whole_robot_cases import ARM, JOINTS

TYPES = dict(zip(JOINTS, ("mx106", "mx64"), strict=True))
SECONDS = 20.0
FLOOR = -0.3  # m; the arm reaches to -0.37 where it hangs
START = np.array([1.2, 0.8])


def task(limits: MotionLimits | None = None, *, seed: int = 0, pieces: int = 8) -> DesignTask:
    limits = limits or MotionLimits()
    spec = mujoco.MjSpec.from_string(ARM)
    robot = RobotBench.make(spec, "fixed", step=2e-3)
    tolerances = RobotTolerances()
    unknowns = Unknowns(
        servos={name: with_friction_model(load_servo(name), "m1") for name in TYPES.values()},
        joints=TYPES,
        tolerances=tolerances,
        bodies=bodies_for(robot.spec, tolerances),
    )
    space = replace(joint_space(spec, JOINTS), start=START)
    return DesignTask(
        bench=robot,
        check=check(robot, unknowns, limits, seed=seed),
        unknowns=unknowns,
        space=space,
        limits=limits,
        kp=16.0,
        supply_voltage=12.0,
        seconds=SECONDS,
        pieces=pieces,
        seed=seed,
    )


def check(
    robot: RobotBench, unknowns: Unknowns, limits: MotionLimits, *, seed: int, others: int = 2
) -> MotionCheck:
    contacts = ContactCheck(mujoco.MjSpec.from_string(ARM), "fixed", clearance=limits.clearance, floor=FLOOR)
    contacts.allow(JOINTS, START)
    return MotionCheck(robot, unknowns, limits, contacts, supply_voltage=12.0, others=others, seed=seed)


@pytest.fixture(scope="module")
def found() -> MotionDesign:
    return design_motion(task())


def random_motion(seed: int) -> RobotMotion:
    """Smooth sines around the start, as somebody would play them, safe and as long as the designed one."""
    wanted = task(seed=seed)
    random = np.random.default_rng(seed)
    time = np.arange(0.0, SECONDS, 1.0 / RATE)[:, None]
    rates, phases = random.uniform(0.5, 2.0, (2, 2)), random.uniform(0.0, 6.3, (2, 2))
    ease = np.minimum(1.0, np.minimum(time, SECONDS - time))
    waves = sum(np.sin(rate * time + phase) for rate, phase in zip(rates, phases, strict=True))
    piece = Piece(kind="sweep", goal_position=START + 0.25 * ease * waves)
    assert wanted.check.peaks(wanted.motion([piece])).problem == ""
    return wanted.motion([piece])


def information(motion: RobotMotion) -> np.ndarray:
    wanted = task()
    with ThreadPoolExecutor(2) as pool:
        return information_of(wanted.bench, motion.as_run("m", 12.0), JOINTS, wanted.unknowns, pool)


def bits(information: np.ndarray) -> float:
    """What is told of the servos beside the priors, bit."""
    told = servo_unknowns(task().unknowns)
    covariance = np.linalg.inv(np.eye(len(information)) + information)[np.ix_(told, told)]
    return -0.5 * float(np.linalg.slogdet(covariance)[1]) / np.log(2.0)


@pytest.mark.long
def test_a_designed_motion_is_expected_to_tell_more_than_random_ones(found: MotionDesign) -> None:
    assert found.motion.duration <= SECONDS
    assert found.bits > 1.1 * max(bits(information(random_motion(seed))) for seed in (1, 2))


def test_limits_hold_on_robots_that_the_design_has_not_seen(found: MotionDesign) -> None:
    wanted = task()
    others = check(wanted.bench, wanted.unknowns, wanted.limits, seed=99, others=8)
    peaks = others.peaks(found.motion, share=1.0)
    assert peaks.problem == ""
    assert peaks.speed < wanted.limits.speed
    assert peaks.torque < wanted.limits.torque
    assert found.refused or found.peaks.speed > 0.3  # they were within reach


@pytest.mark.long
def test_what_the_whole_motion_tells_is_what_its_pieces_were_said_to(found: MotionDesign) -> None:
    assert bits(information(found.motion)) == pytest.approx(found.bits, rel=0.15)


@pytest.mark.long
def test_the_same_seed_designs_the_same_motion() -> None:
    one, again = (design_motion(task(pieces=2)).motion for _ in range(2))
    assert np.array_equal(one.goal_position, again.goal_position)


@pytest.mark.long
def test_limits_that_leave_nothing_are_refused() -> None:
    with pytest.raises(BadData, match="stall torque"):
        design_motion(task(MotionLimits(torque=0.02), pieces=2))


def test_too_little_time_is_refused_before_anything_is_simulated() -> None:
    pieces: list[str] = []
    with pytest.raises(OutOfRange, match="the shortest piece"):
        design_motion(replace(task(pieces=2), seconds=1.0), pieces.append)
    assert not pieces
