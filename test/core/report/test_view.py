# SPDX-License-Identifier: Apache-2.0
"""The page of recordings: every quantity that was measured, and what servo models make of the runs."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bam_core.errors import WrongShape
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.report import MOST_MODELS, ModelView, render_view
from bam_core.report.view import CHANNELS, measured
from bam_core.servo.model import load_servo
from test.core.identification_cases import xl330_logs
from test.core.refusals import refused


@pytest.fixture
def recordings() -> list[Recording]:
    return load_recordings(xl330_logs())[:3]


def model(title: str, recordings: list[Recording], off: float) -> ModelView:
    """A servo model that is off by so much everywhere, rad."""
    positions = [recording.position + off for recording in recordings]
    errors = {recording.name: abs(off) for recording in recordings}
    return ModelView(title=title, servo=load_servo("xl330"), positions=positions, errors=errors)


def data(page: str) -> Any:
    """What the page's script reads."""
    (text,) = re.findall(r'<script type="application/json" id="fit-data">(.*?)</script>', page, re.DOTALL)
    return json.loads(text)


def unpacked(curve: list[Any]) -> np.ndarray[Any, Any]:
    integers = np.frombuffer(base64.b64decode(curve[1]), "<i2")
    return np.where(integers == -32768, np.nan, curve[0] * integers)


def test_every_quantity_comes_back(recordings: list[Recording]) -> None:
    logs = data(render_view(recordings))["logs"]
    assert list(logs) == [recording.name for recording in recordings]
    for recording in recordings:
        log = logs[recording.name]
        np.testing.assert_allclose(unpacked(log["time"]), recording.time, atol=2e-4)
        np.testing.assert_allclose(unpacked(log["measured"]), recording.position, atol=1e-4)
        np.testing.assert_allclose(unpacked(log["goal"]), recording.goal_position, atol=1e-4)
        assert set(log["channel"]) == {"duty", "voltage", "temperature"}
        for name, values in log["channel"].items():
            np.testing.assert_allclose(unpacked(values), getattr(recording, name), rtol=1e-3, atol=1e-3)


def test_what_was_not_measured_is_a_gap_and_not_zero(recordings: list[Recording]) -> None:
    some = recordings[0].voltage.copy()
    some[10:20] = np.nan
    never = np.full(len(some), np.nan)
    changed = [replace(recordings[0], voltage=some, temperature=never), *recordings[1:]]
    page = render_view(changed)
    channel = data(page)["logs"][changed[0].name]["channel"]
    assert "temperature" not in channel
    np.testing.assert_array_equal(np.isnan(unpacked(channel["voltage"])), np.isnan(some))
    np.testing.assert_allclose(unpacked(channel["voltage"])[20:], some[20:], rtol=1e-3)
    assert 'data-channel="temperature"' in page  # of the other logs
    blank = [replace(recording, temperature=np.full(len(recording), np.nan)) for recording in recordings]
    assert 'data-channel="temperature"' not in render_view(blank)


def test_models_are_told_by_what_they_leave_over(recordings: list[Recording]) -> None:
    page = render_view(recordings, [model("one", recordings, 0.02), model("two", recordings, -0.03)])
    shown = data(page)
    assert list(shown["titles"].values()) == ["one", "two"]
    for log in shown["logs"].values():
        for key, off in zip(shown["models"], (0.02, -0.03), strict=True):
            np.testing.assert_allclose(unpacked(log["residual"][key]), off, rtol=1e-3)
    assert page.count(">20.00<") == page.count(">30.00<") == len(recordings)  # mrad
    assert 'id="fit-residual"' in page
    assert 'id="fit-residual"' not in render_view(recordings)


def test_the_torque_is_that_of_the_motor(recordings: list[Recording]) -> None:
    servo, recording = load_servo("xl330"), recordings[0]
    assert "torque" not in measured(recording)
    torque = measured(recording, servo)["torque"]
    on = recording.torque_enabled
    assert (torque[~on] == 0.0).all()
    still = on & (recording.velocity == 0.0)
    assert still.any()
    constant = servo.motor.torque_constant / servo.motor.resistance
    current = recording.duty * recording.voltage / servo.motor.resistance
    saturated = 1.0 + servo.motor.torque_saturation * np.abs(current)
    expected = constant * recording.duty * recording.voltage / saturated
    np.testing.assert_allclose(torque[still], expected[still])
    nominal = replace(recording, voltage=np.full(len(recording), np.nan))
    assert np.isfinite(measured(nominal, servo)["torque"]).all()
    assert "torque" not in measured(recording, load_servo("erob80_100"))  # its demands are currents
    assert {channel.name for channel in CHANNELS} >= set(measured(recording, servo))


def test_text_of_recordings_cannot_become_markup(recordings: list[Recording]) -> None:
    evil = "</script><b>&"
    changed = [replace(recordings[0], name=evil, script=evil, servo=evil)]
    page = render_view(changed, [model(evil, changed, 0.0)])
    assert "<b>&" not in page
    assert list(data(page)["logs"]) == [evil]


def test_there_are_no_more_models_than_colours(recordings: list[Recording]) -> None:
    models = [model(f"model {i}", recordings, 0.0) for i in range(MOST_MODELS + 1)]
    render_view(recordings, models[:-1])
    with refused(WrongShape, thing="models", value=MOST_MODELS + 1):
        render_view(recordings, models)
