# SPDX-License-Identifier: Apache-2.0
"""Egle's paper redone: what it claims is held against what the suite finds."""

from __future__ import annotations

import numpy as np
import pytest
from whole_body_cases import robot, swings, walk

from bam_core.reproduce._egle_parameters import _misprint, _target, row
from bam_core.reproduce._egle_tables import (
    BOTH,
    PRINTED_HIPS,
    PRINTED_TARGET,
    STRAIGHT,
    SYMBOLS,
    TARGETS,
)
from bam_core.reproduce._egle_walks import legs_table
from bam_core.whole_body import (
    CentralDifference,
    InertiaScale,
    JointIdentification,
    differentiate,
    estimate_friction,
    known_motion,
    single_support,
)
from bam_core.whole_body.humanoid import LEGS
from bam_core.whole_body.inertia_error import InertiaError
from bam_core.whole_body.inertia_error_plots import plot_identified_inertia, plot_inertia_errors, plot_power
from bam_core.whole_body.joint_friction_plots import (
    plot_curves,
    plot_parameter_errors,
    plot_schemes,
    plot_spectra,
    plot_supports,
)


def test_printed_errors_are_those_from_the_targets_in_use() -> None:
    """Hip pitch of table 6.2: 0.7512 is 0.16 % off 0.75, and 6 % off the 0.8 that is printed."""
    target = TARGETS["right_hip_pitch"]
    assert BOTH["right_hip_pitch"][1] == pytest.approx(100 * abs(0.7512 - target.coulomb) / target.coulomb)
    assert STRAIGHT["right_hip_roll"][0] == pytest.approx(100 * abs(2.1435 - 0.2) / 0.2)


def test_all_sixteen_printed_errors_of_the_hips_are_those_from_0_75_which_is_0_8_to_one_digit() -> None:
    assert len(PRINTED_HIPS) == 16
    for value, error in PRINTED_HIPS:
        assert _misprint(0.75, value, error) < 0.02
        assert _misprint(PRINTED_TARGET, value, error) > 1.0
    assert (_target().ours, _target().holds) == (0.75, True)


def test_a_claim_holds_where_ours_is_no_further_off_than_the_paper_prints() -> None:
    ours = np.array([0.104, 0.106, 0.0, 0.0, 0.0, 0.0])
    claims = row("table 6.2", "left_ankle_pitch", (0.10, 0.10, 0.5, 1.15, 0.2, 1.19), ours)
    assert [claim.holds for claim in claims] == [True, False, True, True, True, True]
    assert claims[0].claim == "table 6.2, left ankle pitch, F_v error"
    assert claims[0].unit == "%"


@pytest.mark.long
def test_a_short_walk_already_comes_closer_than_table_6_2() -> None:
    """Knees, hip and ankle pitch swing widely enough in any walk; the rest need the long one."""
    chosen = single_support(walk().log)
    estimate = estimate_friction(
        robot(), known_motion(walk().log, walk().velocity, walk().acceleration), chosen
    )
    pitches = {joint: mask for joint, mask in swings().items() if joint.endswith(("knee", "pitch"))}
    for joint, errors in legs_table(estimate, pitches).items():
        assert np.all(errors < np.array(BOTH[joint]) + 0.005), joint


@pytest.mark.long
def test_all_figures_are_drawn() -> None:
    log = walk().log
    chosen = np.zeros(len(log), dtype=bool)
    chosen[::25] = True
    true = estimate_friction(robot(), known_motion(log, walk().velocity, walk().acceleration), chosen)
    plain = estimate_friction(robot(), differentiate(log, CentralDifference()), chosen)
    part = slice(600, 1200)
    curve = ("right_knee", np.linspace(-1.0, 1.0, 30), np.zeros(30))
    errors = InertiaError(
        kind="both",
        factor=0.9,
        velocity=curve[1],
        curve=curve[2],
        shift=0.1,
        separation=0.0,
        driven=0.0,
    )
    scale = InertiaScale(group="feet", kind="mass", factor=0.9, standard_error=0.1)
    found = JointIdentification(scales=(scale,), friction={}, rms=0.0, rms_before=0.1)
    table = np.ones((12, 6))
    figures = (
        plot_supports(walk(), true, "right_knee"),
        plot_schemes(walk(), "right_knee", {"true": true, "central": plain}, part, part),
        plot_curves("title", [curve], TARGETS),
        plot_parameter_errors("title", SYMBOLS, LEGS, {"Egle": table, "ours": 0.1 * table}),
        plot_spectra(np.arange(5.0), {"right_knee": np.ones(5), "left_knee": np.ones(5)}, 10.0),
        plot_power(np.arange(5.0), np.ones(5), -np.ones(5)),
        plot_inertia_errors({"all": [errors]}, TARGETS["right_knee"]),
        plot_identified_inertia({"clean": found}, {("feet", "mass"): 0.92}),
    )
    assert [len(figure.axes) for figure in figures] == [2, 4, 4, 6, 2, 1, 1, 1]
    for figure in figures:
        figure.canvas.draw() if hasattr(figure.canvas, "draw") else None
        assert figure.get_suptitle()
