# SPDX-License-Identifier: Apache-2.0
"""Figures of BAM redone: errors of M1 to M6 by servo, paths of the arms."""

from __future__ import annotations

import itertools

from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo
from papers.bam.arm_paths import PATHS
from papers.bam.arm_plots import MARKERS, plot_arm_errors, plot_paths
from papers.bam.model_plots import plot_model_errors
from papers.bam.redo import FACTORS
from papers.bam.two_link import ARMS


def test_errors_are_bars_in_mrad_and_titles_keep_apart() -> None:
    errors = {servo: dict.fromkeys(FRICTION_MODELS, 0.03) for servo in FACTORS}
    figure = plot_model_errors(errors, {servo: load_servo(servo).title for servo in FACTORS})
    figure.draw_without_rendering()
    assert [len(axes.patches) for axes in figure.axes] == [6] * len(FACTORS)
    assert {bar.get_height() for axes in figure.axes for bar in axes.patches} == {30.0}
    titles = [axes.title.get_window_extent() for axes in figure.axes]
    assert not any(left.overlaps(right) for left, right in itertools.pairwise(titles))
    assert all(title.x0 >= 0.0 for title in titles)
    assert titles[-1].x1 <= figure.bbox.x1


def test_the_paths_of_an_arm_are_drawn_to_one_scale() -> None:
    figure = plot_paths(tuple(ARMS.values()), tuple(PATHS))
    figure.draw_without_rendering()
    for first in range(0, len(figure.axes), len(PATHS)):
        row = figure.axes[first : first + len(PATHS)]
        assert len({(axes.get_xlim(), axes.get_ylim()) for axes in row}) == 1


def test_the_arms_errors_are_points_and_the_legend_covers_none() -> None:
    errors = {(path, gain): dict.fromkeys(FRICTION_MODELS, 0.02) for path in PATHS for gain in ("LG", "HG")}
    figure = plot_arm_errors({"an arm": errors, "another one": errors})
    figure.draw_without_rendering()
    (legend,) = figure.legends
    points = [line for line in figure.axes[0].lines if line.get_marker() in MARKERS]
    assert [len(line.get_ydata()) for line in points] == [len(errors)] * 6
    assert {height for line in points for height in line.get_ydata()} == {20.0}
    assert not any(axes.patches for axes in figure.axes)  # bars on a logarithmic axis
    assert not any(legend.get_window_extent().overlaps(axes.get_window_extent()) for axes in figure.axes)
