# SPDX-License-Identifier: Apache-2.0
"""Phases of contact, what is left out of them, and flags that the data contradict."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bam_core.errors import UnknownName
from bam_core.text.whole_body_findings import ContactMismatch
from bam_core.whole_body import (
    JointLog,
    Motion,
    check_contacts,
    known_motion,
    phases,
    single_support,
)
from papers.egle.humanoid import SOLES
from test.core.refusals import refused
from test.core.whole_body_cases import arm, robot, walk

RIGHT, LEFT = SOLES


def flagged(right: np.ndarray, left: np.ndarray) -> Motion:
    log = dataclasses.replace(walk().log, contacts={RIGHT: right, LEFT: left})
    return known_motion(log, walk().velocity, walk().acceleration)


def flags() -> tuple[np.ndarray, np.ndarray]:
    return walk().log.contacts[RIGHT], walk().log.contacts[LEFT]


@pytest.mark.long
def test_phases_follow_the_supports_of_the_walk() -> None:
    found = [set(phase.contacts) for phase in phases(walk().log)]
    assert found == [set(support.feet) for support in walk().supports]


def test_lift_off_and_touch_down_are_left_out() -> None:
    log, chosen = walk().log, single_support(walk().log)
    for support in walk().supports:
        inside = (log.time >= support.start) & (log.time < support.end)
        if len(support.feet) == 2:
            assert not chosen[inside].any()
            continue
        used = log.time[inside & chosen]
        assert used[0] == pytest.approx(support.start + 0.10, abs=1e-9)
        assert used[-1] == pytest.approx(support.end - 0.05, abs=1e-9)


def test_only_the_named_foot_is_taken() -> None:
    left = single_support(walk().log, LEFT)
    assert left.any()
    assert not (left & walk().log.contacts[RIGHT]).any()


def test_a_foot_that_the_log_does_not_have_is_named() -> None:
    with refused(UnknownName, kind="contact", name="left_foot"):
        single_support(walk().log, "left_foot")


def test_flags_that_come_late_are_contradicted_where_they_are_wrong() -> None:
    """By 120 ms: the foot that has landed is said to swing for so long."""
    right, left = (np.roll(each, 120) for each in flags())
    findings = [contradiction.finding for contradiction in check_contacts(robot(), flagged(right, left))]
    (resting,) = [
        finding
        for finding in findings
        if (finding.kind, finding.contacts) == ("swinging_rests", ("right_sole",))
    ]
    landed = walk().supports[2].start
    assert inside(resting, landed + 0.03)
    assert not inside(resting, landed - 0.1)


def test_one_flag_for_a_whole_walk_is_contradicted_step_by_step() -> None:
    right, left = flags()
    findings = [each.finding for each in check_contacts(robot(), flagged(right | True, left & False))]
    assert any(found.kind == "other_stands" and found.contacts[-1] == "left_sole" for found in findings)
    assert any((found.kind, found.contacts) == ("swinging_rests", ("left_sole",)) for found in findings)
    for support in walk().supports:
        middle = 0.5 * (support.start + support.end)
        wrong = support.feet != (RIGHT,)
        assert wrong == any(inside(found, middle) for found in findings)


def inside(finding: ContactMismatch, time: float) -> bool:
    assert finding.span is not None
    return finding.span[0] <= time <= finding.span[1]


def test_efforts_that_are_no_torques_are_contradicted() -> None:
    motion = flagged(*flags())
    for factor in (0.0, -1.0):
        other = dataclasses.replace(motion, effort=factor * motion.effort)
        found = check_contacts(robot(), other)
        assert found
        assert all(contradiction.finding.kind == "other_motion" for contradiction in found)


def test_a_logs_own_ends_are_no_landing() -> None:
    stands = np.ones(50, dtype=bool)
    log = JointLog(
        names=("a",),
        time=1e-3 * np.arange(50),
        position=np.zeros((50, 1)),
        effort=np.zeros((50, 1)),
        contacts={"foot": stands},
    )
    assert single_support(log).all()


def test_flags_that_are_right_are_not_contradicted() -> None:
    assert check_contacts(robot(), flagged(*flags())) == ()


def test_swapped_feet_are_found_by_the_torques() -> None:
    right, left = flags()
    found = check_contacts(robot(), flagged(left, right))
    assert len(found) == 2
    first = found[0].finding
    assert (first.kind, first.contacts) == ("other_stands", ("right_sole", "left_sole"))
    assert first.unexplained > 3.0 * first.compared


def test_a_swinging_foot_that_is_said_to_stand_is_named() -> None:
    right, left = flags()
    found = check_contacts(robot(), flagged(np.ones_like(right), left))
    moving = [each.finding for each in found if each.finding.kind == "standing_moves"]
    assert moving
    assert all(finding.speed > 0.05 for finding in moving)


def test_a_foot_that_stands_and_is_said_to_swing_is_named() -> None:
    right, left = flags()
    found = check_contacts(robot(), flagged(right & False, left))
    kinds = {(each.finding.kind, each.finding.contacts) for each in found}
    assert {("swinging_rests", ("right_sole",)), ("nothing_stands", ())} <= kinds


def test_a_fixed_base_has_nothing_to_contradict() -> None:
    log = JointLog(
        names=arm().names, time=1e-3 * np.arange(50), position=np.zeros((50, 2)), effort=np.zeros((50, 2))
    )
    assert check_contacts(arm(), known_motion(log, np.zeros((50, 2)), np.zeros((50, 2)))) == ()
