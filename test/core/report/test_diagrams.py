# SPDX-License-Identifier: Apache-2.0
"""Drawings keep what is written in them, and take their colours from the page."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from bam_core.plots.diagram import stall_torque
from bam_core.report import load_results
from bam_core.report.diagrams import diagrams


def test_every_model_is_drawn_on_the_same_axes(results: Path) -> None:
    loaded = load_results(results)
    drawn = diagrams(loaded)
    assert [model.name for model, _ in drawn] == ["m1", "m4", "m6"]
    written = [re.findall(r"<text[^>]*>([^<]*)</text>", svg) for _, svg in drawn]
    ticks = [[float(text) for text in texts if re.fullmatch(r"[\d.]+", text)] for texts in written]
    assert ticks[0] == ticks[1] == ticks[2]
    horizontal = ticks[0][: len(ticks[0]) // 2]
    assert len(set(horizontal)) == len(horizontal) > 2
    assert max(horizontal) <= stall_torque(loaded.best.servo)


def test_small_torques_keep_their_digits(results: Path) -> None:
    loaded = load_results(results)
    servo = loaded.best.servo
    weak = replace(
        servo, motor=replace(servo.motor, torque_constant=0.05, resistance=2.0, torque_saturation=0.0)
    )
    best = replace(loaded.best, servo=weak)
    ((_, svg),) = diagrams(replace(loaded, models={loaded.chosen: best}))
    ticks = [float(text) for text in re.findall(r"<text[^>]*>([\d.]+)</text>", svg)]
    assert stall_torque(weak) < 0.5
    assert len(ticks) == 2 * len(set(ticks)) > 6


def test_colours_are_the_page_s(results: Path) -> None:
    for _, svg in diagrams(load_results(results)):
        assert re.findall(r"#[0-9a-f]{6}", svg) == []
        assert {"var(--drive)", "var(--backdrive)", "var(--static)", "var(--grid)"} <= set(
            re.findall(r"var\(--\w+\)", svg)
        )
        assert "<style" not in svg
        assert "http" not in svg
