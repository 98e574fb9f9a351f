# SPDX-License-Identifier: Apache-2.0
"""Logs that do not fit the robot are told what is missing, by name."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bam_core.errors import BadData, Conflict, Missing, UnknownName, WrongShape
from bam_core.whole_body import JointLog
from papers.egle.humanoid import SOLES
from test.core.refusals import refused
from test.core.whole_body_cases import robot, walk


def without_effort(joint: str, samples: slice = slice(None)) -> JointLog:
    log = walk().log
    effort = log.effort.copy()
    effort[samples, log.names.index(joint)] = np.nan
    return dataclasses.replace(log, effort=effort)


def renamed(old: str, new: str) -> JointLog:
    names = tuple(new if name == old else name for name in walk().log.names)
    return dataclasses.replace(walk().log, names=names)


def without(joint: str) -> JointLog:
    log = walk().log
    keep = [index for index, name in enumerate(log.names) if name != joint]
    return dataclasses.replace(
        log,
        names=tuple(log.names[index] for index in keep),
        position=log.position[:, keep],
        effort=log.effort[:, keep],
    )


def test_a_shuffled_log_is_put_in_the_robots_order() -> None:
    log = walk().log
    order = np.random.default_rng(1).permutation(len(log.names))
    shuffled = dataclasses.replace(
        log,
        names=tuple(log.names[index] for index in order),
        position=log.position[:, order],
        effort=log.effort[:, order],
    )
    back = shuffled.arranged(robot())
    assert back.names == robot().names
    np.testing.assert_array_equal(back.position, log.position)


@pytest.mark.parametrize(
    ("log", "kind", "about"),
    [
        (lambda: renamed("right_knee", "right_nee"), UnknownName, {"kind": "joint", "name": "right_nee"}),
        (lambda: without("left_elbow"), Missing, {"thing": "joint 'left_elbow' in the joint log"}),
        (lambda: without_effort("waist"), BadData, {"thing": "joint log, effort of 'waist'"}),
        (lambda: without_effort("waist", slice(7, 9)), BadData, {"thing": "joint log, effort of 'waist'"}),
        (
            lambda: dataclasses.replace(walk().log, contacts={SOLES[0]: walk().log.contacts[SOLES[0]]}),
            Missing,
            {"thing": "contact 'left_sole' in the joint log"},
        ),
        (
            lambda: dataclasses.replace(
                walk().log, contacts={**walk().log.contacts, "hand": walk().log.contacts[SOLES[0]]}
            ),
            UnknownName,
            {"kind": "contact", "name": "hand"},
        ),
    ],
)
def test_what_does_not_fit_the_robot_is_named(log: object, kind: type, about: dict[str, str]) -> None:
    with refused(kind, **about):
        log().arranged(robot())  # type: ignore[operator]


def test_held_joints_need_no_effort() -> None:
    assert np.isnan(walk().log.arranged(robot()).effort[:, robot().held_columns]).all()


@pytest.mark.parametrize(
    ("changes", "kind", "thing"),
    [
        ({"effort": np.zeros((0, 0))}, Missing, "joint log, effort"),
        ({"effort": np.zeros((2, 3))}, WrongShape, "joint log, effort, shape"),
        ({"time": np.zeros(2850)}, BadData, "joint log, time"),
        (
            {"contacts": {"right_sole": np.ones(3, dtype=bool)}},
            WrongShape,
            "joint log, contact 'right_sole', shape",
        ),
        (
            {"position": np.full((2850, 27), np.nan)},
            Missing,
            "joint log, position of 'right_hip_roll' at 0.0000 s",
        ),
    ],
)
def test_inconsistent_logs_are_refused(changes: dict[str, object], kind: type, thing: str) -> None:
    with refused(kind, thing=thing):
        dataclasses.replace(walk().log, **changes)


def test_a_joint_that_is_there_twice_is_named() -> None:
    with refused(Conflict, thing="joint log"):
        renamed("right_knee", "right_hip_roll")


def test_lists_will_do() -> None:
    log = JointLog(names=["a"], time=[0.0, 0.1, 0.2], position=[[0]] * 3, effort=[[1]] * 3)  # type: ignore[arg-type]
    assert log.names == ("a",)
    assert log.effort.shape == (3, 1)


def test_unevenness_is_that_of_the_times() -> None:
    jitter = 1e-4 * np.random.default_rng(1).standard_normal(len(walk().log))
    assert walk().log.unevenness < 1e-9
    assert dataclasses.replace(walk().log, time=walk().log.time + jitter).unevenness == pytest.approx(
        0.1, rel=0.1
    )
    gap = np.arange(len(walk().log)) > 700
    assert dataclasses.replace(walk().log, time=walk().log.time + 0.5 * gap).unevenness < 1e-9


def test_a_log_of_two_samples_is_refused() -> None:
    with refused(BadData, thing="joint log"):
        JointLog(names=("a",), time=np.arange(2.0), position=np.zeros((2, 1)), effort=np.zeros((2, 1)))
