# SPDX-License-Identifier: Apache-2.0
"""A recording that exists is usable; one that is not usable cannot be made."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import BamError
from bam_core.pendulum import PendulumBench
from bam_core.recording import MIN_SAMPLES, Recording, RecordingError, require_motion

N = 50


def fields(**changes: Any) -> dict[str, Any]:
    time = np.arange(N) * 0.005 + 0.003
    sound: dict[str, Any] = {
        "name": "run",
        "source": Path("run.json"),
        "sha256": "0" * 64,
        "servo": "xl330",
        "bench": PendulumBench(mass=0.5, length=0.1),
        "kp": 100.0,
        "supply_voltage": 7.4,
        "script": "sin_sin",
        "time": time,
        "position": np.sin(time),
        "velocity": np.cos(time),
        "goal_position": np.sin(time),
        "torque_enabled": np.ones(N, dtype=bool),
        "voltage": np.full(N, 7.3),
        "temperature": np.full(N, 30.0),
        "duty": np.full(N, np.nan),
    }
    return sound | changes


def with_value(name: str, index: int, value: float) -> dict[str, Any]:
    array = np.array(fields()[name])
    array[index] = value
    return fields(**{name: array})


def test_a_sound_run_knows_its_length_and_period() -> None:
    recording = Recording(**fields())
    assert len(recording) == N
    assert math.isclose(recording.dt, 0.005)
    assert math.isclose(recording.duration, 0.245)
    assert "50 samples" in repr(recording)


def test_a_bare_arm_is_a_pendulum_too() -> None:
    bench = PendulumBench(mass=0.0, arm_mass=0.05, length=0.1)
    assert Recording(**fields(bench=bench)).bench == bench


def test_one_motion_is_motion_enough_and_none_is_refused() -> None:
    require_motion(Recording(**with_value("position", 3, 0.123)))
    with pytest.raises(RecordingError, match=r"run\.json: position: is 0\.5 rad throughout"):
        require_motion(Recording(**fields(position=np.full(N, 0.5))))


def test_arrays_cannot_be_changed_and_do_not_share_memory_with_the_callers() -> None:
    mine = fields()
    recording = Recording(**mine)
    with pytest.raises(ValueError, match="read-only"):
        recording.position[0] = 1.0
    mine["position"][0] = 2.0
    assert recording.position[0] != 2.0


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (with_value("position", 7, math.nan), "entry 7, position: is nan .expected a finite number, rad"),
        (with_value("goal_position", 8, math.inf), "entry 8, goal_position: is inf"),
        (with_value("position", 9, 90.0), "entry 9, position: 90 .expected rad.*degrees"),
        (with_value("velocity", 9, -2000.0), "entry 9, velocity: -2000 .*rpm"),
        (with_value("voltage", 3, 7400.0), "entry 3, voltage: 7400 .expected V.*millivolts"),
        (with_value("duty", 4, 35.0), "entry 4, duty: 35 .*percent"),
        (with_value("temperature", 4, 303.0), "entry 4, temperature: 303 .*kelvin"),
        (with_value("time", 5, 0.001), r"entry 5, time: goes back from 0.023 s to 0.001 s"),
        (with_value("time", 5, 0.023), r"entry 5, time: repeats 0.023 s"),
        (with_value("time", 5, math.nan), "entry 5, time: is nan"),
        (fields(time=np.arange(N) * 0.005 - 1.0), "entry 0, time: -1 s .expected >= 0"),
        (fields(time=np.arange(N) * 5.0), "time: samples are 5 s apart.*not milliseconds"),
        (fields(velocity=np.zeros(N - 1)), r"velocity has shape \(49,\) where time has \(50,\)"),
        (
            fields(bench=PendulumBench(mass=0.0, length=0.1)),
            "mass and arm_mass are 0 kg .expected a mass above 0 at",
        ),
        (fields(bench=PendulumBench(mass=0.5, length=0.0)), "length is 0 m .expected a mass above 0 at"),
        (fields(bench=PendulumBench(mass=490.0, length=0.1)), "mass is 490 .expected kg.*looks like grams"),
        (fields(bench=PendulumBench(mass=0.5, length=100.0)), "length is 100 .expected m.*millimetres"),
        (fields(time=np.arange(3) * 0.005), f"only 3 samples .expected at least {MIN_SAMPLES}"),
        (fields(kp=0.0), "kp is 0 "),
        (fields(kp=math.nan), "kp is nan"),
        (fields(supply_voltage=-7.4), "supply_voltage is -7.4"),
        (fields(supply_voltage=7400.0), "supply_voltage is 7400 .expected 0 < supply_voltage <= 100, V"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_line(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(RecordingError, match=message) as caught:
        Recording(**changed)
    assert isinstance(caught.value, BamError)
    assert str(caught.value).startswith("run.json: ")
    assert "\n" not in str(caught.value)
    assert "; " in str(caught.value)


@pytest.mark.parametrize("name", ["velocity", "voltage", "temperature", "duty"])
def test_what_was_not_measured_may_be_nan(name: str) -> None:
    assert np.isnan(getattr(Recording(**with_value(name, 3, math.nan)), name)[3])


@given(index=st.integers(1, N - 1), back=st.floats(0.0, 0.2))
def test_time_that_does_not_advance_is_found_wherever_it_is(index: int, back: float) -> None:
    time = np.array(fields()["time"])
    time[index] = max(time[index - 1] - back, 0.0)
    with pytest.raises(RecordingError, match=f"entry {index}, time"):
        Recording(**fields(time=time))
