# SPDX-License-Identifier: Apache-2.0
"""Figures of gears show what the gears do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import Rectangle

from bam_core.gears import Asymmetry
from papers.kikuuwe.examples import run_rod, run_wall
from papers.kikuuwe.motion_plots import plot_rod, plot_wall
from papers.kikuuwe.statics_plots import CLASSES, plot_drivability, plot_static_sets

coefficient = st.floats(-2.1, 2.1)


@pytest.mark.long
@settings(deadline=None, max_examples=30)
@given(coefficient, coefficient)
def test_the_map_has_the_colour_of_the_class_everywhere(one: float, other: float) -> None:
    gear = Asymmetry(input_side=max(one, -other), output_side=other)
    ax = plot_drivability().axes[0]
    colors = {
        to_hex(patch.get_facecolor())
        for patch in ax.patches
        if isinstance(patch, Rectangle)
        and patch.get_x() < gear.input_side < patch.get_x() + patch.get_width()
        and patch.get_y() < gear.output_side < patch.get_y() + patch.get_height()
    }
    on_a_border = abs(gear.input_side) == 1.0 or abs(gear.output_side) == 1.0
    assert on_a_border or colors == {CLASSES[gear.drivability]}


@pytest.mark.parametrize(
    ("input_side", "output_side"), [(0.1, 0.3), (0.2, 1.05), (1.3, 0.4), (1.3, 1.6), (-0.2, 0.7), (0.0, 1.0)]
)
def test_both_lines_are_the_border_of_the_static_set(input_side: float, output_side: float) -> None:
    gear = Asymmetry(input_side=input_side, output_side=output_side)
    ax = plot_static_sets([gear]).axes[0]
    lines = [line for line in ax.lines if line.get_label().startswith("f")]
    assert len(lines) == 2
    for line in lines:
        drive, load = line.get_xdata()[1], line.get_ydata()[1]
        excess = abs(drive - load) - abs(input_side * drive + output_side * load)
        assert excess == pytest.approx(0.0, abs=1e-12)
        assert max(abs(drive), abs(load)) == pytest.approx(1.0)


def test_every_gear_has_its_panel_and_its_class_in_the_title() -> None:
    gears = [Asymmetry(input_side=0.1, output_side=side) for side in (0.2, 0.6, 1.0, 1.4)]
    axes = [ax for ax in plot_static_sets(gears).axes if ax.get_visible()]
    assert len(axes) == 4
    for ax, gear in zip(axes, gears, strict=True):
        assert gear.drivability in ax.get_title()


def test_the_rods_lines_are_its_runs() -> None:
    runs = [run_rod(side, duration=0.2) for side in (0.5, 1.05)]
    position, force = plot_rod(runs).axes
    for line, run in zip(position.lines, runs, strict=False):
        assert np.array_equal(line.get_ydata(), run.position)
    assert np.array_equal(force.lines[0].get_ydata(), runs[0].contact)
    assert [text.get_text() for text in position.get_legend().get_texts()] == [
        "γᵥ = 0.5",
        "γᵥ = 1.05, locks itself",
    ]


def test_every_axis_of_the_wall_has_its_unit() -> None:
    figure = plot_wall([run_wall((0.1, 1.1), duration=0.1)] * 2, "robots")
    first, second, hand, force = figure.axes
    assert first.get_ylabel() == "y [m]"
    assert {ax.get_xlabel() for ax in (first, second)} == {"x [m]"}
    assert hand.get_ylabel().endswith("[m]")
    assert force.get_ylabel().endswith("[N]")


def test_the_springs_name_is_clear_of_the_rods_lines() -> None:
    figure = plot_rod([run_rod(side) for side in (0.2, 1.05)])
    figure.draw_without_rendering()
    position = figure.axes[0]
    words = next(text for text in position.texts if text.get_text() == "surface of the spring")
    box = words.get_window_extent()
    for line in position.lines[:2]:
        assert box.count_contains(position.transData.transform(line.get_xydata())) == 0


def test_rings_are_around_the_joints_that_lock_themselves() -> None:
    runs = [run_wall(sides, duration=0.1) for sides in ((0.1, 1.1), (1.1, 1.1), (0.1, 0.1))]
    figure = plot_wall(runs, "robots")
    rings = [
        sum(str(line.get_markerfacecolor()) == "none" for line in ax.lines) for ax in figure.axes[: len(runs)]
    ]
    assert rings == [1, 2, 0]
