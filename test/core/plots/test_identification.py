# SPDX-License-Identifier: Apache-2.0
"""Figures of an identification show what they are given."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bam_core.plots.fit import plot_fit
from bam_core.plots.mae import plot_mae
from bam_core.plots.parameters import plot_parameters
from test.core.identification_cases import mx106, record


def test_a_fit_shows_goal_measurement_models_and_residuals_in_mrad() -> None:
    log = record(mx106("m1"), "lift_and_drop", 8.0)
    figure = plot_fit(log, {"m1": log.position + 0.002, "m6": log.position}, title="a title")
    position, residual = figure.axes
    labels = [line.get_label() for line in position.lines]
    assert labels == ["goal", "measured", "m1: 2.00 mrad", "m6: 0.00 mrad"]
    np.testing.assert_allclose(residual.lines[0].get_ydata(), 2.0)
    np.testing.assert_allclose(residual.lines[1].get_ydata(), 0.0)
    assert figure.get_suptitle() == "a title"
    assert residual.get_ylabel() == "simulated − measured\n[mrad]"


def test_a_fit_shows_the_errors_that_it_is_told() -> None:
    log = record(mx106("m1"), "sin_sin", 8.0)
    figure = plot_fit(log, {"m1": log.position + 0.002}, {"m1": 0.19262})
    assert figure.axes[0].lines[-1].get_label() == "m1: 192.62 mrad"


def test_a_band_is_drawn_around_positions_and_residuals() -> None:
    log = record(mx106("m1"), "sin_sin", 8.0)
    band = log.position - 0.01, log.position + 0.03
    figure = plot_fit(log, {"m1": log.position, "m6": log.position}, bands={"m1": band})
    position, residual = (
        [path for each in axes.collections for path in each.get_paths()] for axes in figure.axes
    )
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert "m1: 90 % band" in labels
    assert len(position) == len(residual) == 1
    assert residual[0].vertices[:, 1].min() == pytest.approx(-10.0)
    assert residual[0].vertices[:, 1].max() == pytest.approx(30.0)


def test_the_legend_of_a_fit_covers_no_curve() -> None:
    log = record(mx106("m1"), "sin_sin", 8.0)
    figure = plot_fit(log, {f"m{i}": log.position for i in range(1, 7)})
    figure.draw_without_rendering()
    position = figure.axes[0]
    legend = position.get_legend()
    assert legend is not None
    assert not legend.get_window_extent().overlaps(position.get_window_extent().padded(-1.0))


@pytest.mark.parametrize("error", [1e-6, 0.02, 2.5])
def test_labels_of_a_fit_are_whole_and_touch_no_numbers(error: float) -> None:
    log = record(mx106("m1"), "sin_sin", 8.0)
    figure = plot_fit(log, {"m1": log.position + error * np.sin(log.time)})
    figure.draw_without_rendering()
    for axes in figure.axes:
        label = axes.yaxis.label.get_window_extent()
        assert figure.bbox.x0 <= label.x0
        assert axes.get_window_extent().y0 <= label.y0 < label.y1 <= axes.get_window_extent().y1
        assert all(label.x1 < tick.get_window_extent().x0 for tick in axes.get_yticklabels())
    assert figure.axes[-1].xaxis.label.get_window_extent().y0 >= figure.bbox.y0


def kinds(training: float, test: float) -> dict[str, float | None]:
    return {"training": training, "selection": None, "test": test}


def test_errors_are_bars_in_mrad_and_the_chosen_model_is_marked() -> None:
    errors = {"m1": kinds(0.05, 0.06), "m6": kinds(0.02, 0.03)}
    axes = plot_mae(errors, chosen="m6").axes[0]
    assert [patch.get_height() for patch in axes.patches] == [50.0, 20.0, 60.0, 30.0]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["training", "test"]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["M1", "M6\n(chosen)"]


def test_test_errors_have_whiskers_over_their_intervals_and_numbers_as_the_terminal_has_them() -> None:
    errors = {"m1": kinds(0.05, 0.06), "m6": kinds(0.02, 0.013549)}
    axes = plot_mae(errors, intervals={"m1": None, "m6": (0.009549, 0.018)}).axes[0]
    assert [text.get_text() for text in axes.texts] == ["50.00", "20.00", "60.00", "13.55"]
    (whisker,) = axes.collections
    np.testing.assert_allclose(whisker.get_segments()[0][:, 1], [9.549, 18.0])


def test_numbers_stand_above_whiskers() -> None:
    figure = plot_mae({"m1": kinds(0.05, 0.06)}, intervals={"m1": (0.03, 0.09)})
    figure.draw_without_rendering()
    number, (whiskers,) = figure.axes[0].texts[-1], figure.axes[0].collections
    assert number.get_window_extent().y0 >= whiskers.get_window_extent().y1


def test_intervals_of_parameters_lie_where_they_lie_and_not_about_the_value() -> None:
    servo = mx106("m1")
    panels = plot_parameters(
        {"m1": servo.parameters}, intervals={"m1": {"coulomb": (0.0, 0.2), "viscous": (0.07, 0.08)}}
    )
    drawn = {}
    for axes in panels.axes:
        for lines in axes.collections:
            drawn[axes.get_title()] = lines.get_segments()[0][:, 1]
    assert servo.friction.viscous == 0.06
    np.testing.assert_allclose(drawn.pop("viscous [N·m·s/rad]"), [0.07, 0.08])
    np.testing.assert_allclose(drawn.pop("coulomb [N·m]"), [0.0, 0.2], atol=1e-12)
    assert drawn == {}


def test_parameters_have_one_panel_each_with_their_unit() -> None:
    parameters = {model: mx106(model).parameters for model in ("m1", "m4")}
    panels = [axes for axes in plot_parameters(parameters).axes if axes.get_visible()]
    titles = [axes.get_title() for axes in panels]
    assert titles[0] == "torque_constant [N·m/A]"
    assert len(titles) == len(parameters["m4"])
    bars = dict(zip(titles, (len(axes.patches) for axes in panels), strict=True))
    assert bars["coulomb [N·m]"] == 2
    assert bars["load [-]"] == 1


def test_parameters_at_their_bound_are_hatched_and_say_so() -> None:
    parameters = {model: mx106(model).parameters for model in ("m1", "m4")}
    panels = plot_parameters(parameters, {"m1": ("coulomb",), "m4": ()}).axes
    marked = {
        axes.get_title(): [label.get_text() for label in axes.get_xticklabels()]
        for axes in panels
        if any(bar.get_hatch() for bar in axes.patches)
    }
    assert marked == {"coulomb [N·m]": ["m1\nbound", "m4"]}


@pytest.mark.long
def test_labels_of_parameters_at_their_bounds_do_not_touch() -> None:
    names = [f"m{i}" for i in range(1, 7)]
    figure = plot_parameters(
        {name: mx106(name).parameters for name in names}, dict.fromkeys(names, ("coulomb",))
    )
    figure.draw_without_rendering()
    (axes,) = [axes for axes in figure.axes if axes.get_title() == "coulomb [N·m]"]
    boxes = [label.get_window_extent() for label in axes.get_xticklabels()]
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
