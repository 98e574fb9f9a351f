# SPDX-License-Identifier: Apache-2.0
"""What wrong inertia does to friction, shares of torque, power, and both identified at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BadData, UnknownName
from bam_core.whole_body import estimate_friction, known_motion, power_check, single_support
from papers.egle.humanoid import LEGS, SOLES
from papers.egle.inertia_error import scaled_inertia, study_inertia_error
from papers.egle.inertia_identification import identify_inertia
from papers.egle.inverse_dynamics import torque_shares
from papers.egle.tables import TARGETS
from test.core.refusals import refused
from test.core.whole_body_cases import robot, swings, walk

GROUPS = {
    "thighs": ("right_thigh", "left_thigh"),
    "shanks": ("right_shank", "left_shank"),
    "feet": ("right_foot", "left_foot"),
}


def motion():  # type: ignore[no-untyped-def]
    return known_motion(walk().log, walk().velocity, walk().acceleration)


def thinned(mask: np.ndarray, every: int) -> np.ndarray:
    chosen = np.zeros_like(mask)
    chosen[np.flatnonzero(mask)[::every]] = True
    return chosen


@pytest.mark.long
def test_shares_of_torque_add_up_to_what_was_measured_and_lost() -> None:
    """An independent way to (5.13): recursive Newton-Euler instead of the inverse of M."""
    samples = np.flatnonzero(single_support(walk().log))[::40]
    shares = torque_shares(robot(), motion(), samples, GROUPS)
    total = shares.mass.sum(axis=1) + shares.rotation.sum(axis=1) + shares.rest
    measured = walk().log.effort[samples][:, robot().torque_columns]
    np.testing.assert_allclose(total, measured + walk().friction[samples], atol=1e-8)


def test_unknown_bodies_are_named() -> None:
    samples = np.flatnonzero(single_support(walk().log))[:2]
    with refused(UnknownName, name="right_shin"):
        torque_shares(robot(), motion(), samples, {"shins": ("right_shin",)})


def test_shares_need_one_foot() -> None:
    with refused(BadData, thing="joint log"):
        torque_shares(robot(), motion(), np.array([0]), GROUPS)


def test_masses_shift_the_curve_and_moments_of_inertia_part_its_branches() -> None:
    swing = thinned(single_support(walk().log, SOLES[1]), 8)
    mass = study_inertia_error(robot(), motion(), "right_knee", swing, "mass", (0.9, 1.0, 1.1))
    rotation = study_inertia_error(robot(), motion(), "right_knee", swing, "rotation", (0.9, 1.0, 1.1))
    assert mass[0].shift == pytest.approx(-mass[2].shift, rel=0.01)
    assert mass[1].shift == pytest.approx(0.0, abs=1e-9)
    assert abs(rotation[2].shift) < 0.1 * abs(mass[2].shift)
    assert rotation[2].separation > rotation[1].separation


@settings(max_examples=6, deadline=None)
@given(factor=st.floats(0.7, 1.4))
def test_friction_found_with_scaled_inertia_is_off_by_that_share_of_all_torque(factor: float) -> None:
    """Torques are linear in inertia: τ_f' = τ_f + (factor - 1)·(τ + τ_f)."""
    chosen = thinned(single_support(walk().log), 300)
    found = estimate_friction(scaled_inertia(robot(), "both", factor), motion(), chosen)
    effort = walk().log.effort[:, robot().torque_columns]
    expected = walk().friction + (factor - 1.0) * (effort + walk().friction)
    np.testing.assert_allclose(found.torque[chosen], expected[chosen], atol=1e-7)


def test_inertia_and_friction_are_found_together() -> None:
    true = {"thighs": (1.06, 1.3), "shanks": (0.93, 0.75), "feet": (1.08, 1.4)}
    mass, rotation = np.ones(robot().model.nbody), np.ones(robot().model.nbody)
    for group, (heavier, fatter) in true.items():
        for body in GROUPS[group]:
            index = robot().model.body(body).id
            mass[index], rotation[index] = heavier, fatter
    moving = {joint: mask for joint, mask in swings().items() if joint.endswith(("knee", "pitch"))}
    found = identify_inertia(robot().with_inertia(mass, rotation), motion(), moving, GROUPS, every=3)
    for scale in found.scales:
        heavier, fatter = true[scale.group]
        expected = 1.0 / (heavier if scale.kind == "mass" else fatter)
        assert scale.factor == pytest.approx(expected, abs=1e-4)
    assert found.unidentifiable == ()
    assert found.rms < 1e-3 * found.rms_before
    for joint in moving:
        np.testing.assert_allclose(found.friction[joint].values, TARGETS[joint].values, rtol=1e-2)


def test_power_is_taken_unless_the_model_is_wrong() -> None:
    swing = thinned(single_support(walk().log, SOLES[1]), 8)
    offsets = {joint: law.offset for joint, law in TARGETS.items()}
    right = estimate_friction(robot(), motion(), swing)
    wrong = estimate_friction(scaled_inertia(robot(), "both", 1.6), motion(), swing)
    by_joint = {each.joint: each for each in power_check(right, offsets=offsets)}
    for joint in LEGS[:6]:
        assert by_joint[joint].plausible
        assert by_joint[joint].share < 0.01
    knee = next(each for each in power_check(wrong, offsets=offsets) if each.joint == "right_knee")
    assert not knee.plausible
    assert knee.worst > 0.1


def test_an_offset_looks_like_driving_until_it_is_taken_out() -> None:
    swing = thinned(single_support(walk().log, SOLES[1]), 8)
    estimate = estimate_friction(robot(), motion(), swing)
    raw = next(each for each in power_check(estimate) if each.joint == "right_hip_yaw")
    assert raw.share > 0.05
