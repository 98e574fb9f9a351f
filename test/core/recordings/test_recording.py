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

from bam_core.errors import BadData, BamError, OutOfRange, WrongShape
from bam_core.recordings.recording import MIN_SAMPLES, Recording
from bam_core.servo.pendulum import PendulumBench
from test.core.refusals import refused

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


def test_an_arm_that_does_not_move_can_be_read() -> None:
    assert np.ptp(Recording(**fields(position=np.full(N, 0.5))).position) == 0.0


def moving(scale: float = 1.0, **changes: Any) -> dict[str, Any]:
    """An arm that swings fast, and velocities that are `scale` times what its positions show."""
    time = np.arange(N) * 0.005
    swing = {"position": np.sin(8.0 * time), "velocity": scale * 8.0 * np.cos(8.0 * time)}
    return fields(**swing | changes)


@pytest.mark.filterwarnings("error")
def test_positions_that_are_hardly_any_are_no_more_than_one_line() -> None:
    run = moving(position=1e-300 * moving()["position"])
    with refused(BadData, thing="velocity"):
        Recording(**run)


@pytest.mark.parametrize("scale", [0.5, 1.0, 2.0])
def test_a_velocity_that_is_rough_is_taken(scale: float) -> None:
    noise = np.random.default_rng(0).normal(0.0, 1.0, N)
    assert len(Recording(**moving(velocity=moving(scale)["velocity"] + noise))) == N


def test_a_velocity_that_says_nothing_of_its_unit_is_taken() -> None:
    noise = np.random.default_rng(0).normal(0.0, 10.0, N)
    assert len(Recording(**moving(velocity=noise))) == N


def test_a_supply_that_sags_or_is_not_measured_is_taken() -> None:
    sagging = np.linspace(8.5, 5.0, N)
    assert Recording(**fields(voltage=sagging)).voltage[-1] == 5.0
    assert np.isnan(Recording(**fields(voltage=np.full(N, np.nan))).voltage).all()


def test_a_supply_that_is_off_with_torque_off_is_taken() -> None:
    off = fields(voltage=np.zeros(N), torque_enabled=np.zeros(N, dtype=bool))
    assert not Recording(**off).voltage.any()


def test_a_few_lost_samples_are_no_gap() -> None:
    time = np.array(fields()["time"])
    time[20:] += 0.4
    assert Recording(**fields(time=time)).duration > 0.6


def test_arrays_cannot_be_changed_and_do_not_share_memory_with_the_callers() -> None:
    mine = fields()
    recording = Recording(**mine)
    with pytest.raises(ValueError, match="read-only"):
        recording.position[0] = 1.0
    mine["position"][0] = 2.0
    assert recording.position[0] != 2.0


@pytest.mark.parametrize(
    ("changed", "kind", "thing"),
    [
        (with_value("position", 7, math.nan), OutOfRange, "entry 7, position"),
        (with_value("goal_position", 8, math.inf), OutOfRange, "entry 8, goal_position"),
        (with_value("position", 9, 90.0), OutOfRange, "entry 9, position"),
        (with_value("velocity", 9, -2000.0), OutOfRange, "entry 9, velocity"),
        (with_value("voltage", 3, 7400.0), OutOfRange, "entry 3, voltage"),
        (with_value("duty", 4, 35.0), OutOfRange, "entry 4, duty"),
        (with_value("temperature", 4, 303.0), OutOfRange, "entry 4, temperature"),
        (with_value("time", 5, 0.001), OutOfRange, "entry 5, time"),
        (with_value("time", 5, 0.023), OutOfRange, "entry 5, time"),
        (with_value("time", 5, math.nan), OutOfRange, "entry 5, time"),
        (fields(time=np.arange(N) * 0.005 - 1.0), OutOfRange, "entry 0, time"),
        (fields(time=np.arange(N) * 5.0), OutOfRange, "time between samples"),
        (fields(time=np.arange(N) * 0.005 + 1.7e9), OutOfRange, "entry 0, time"),
        (fields(time=np.arange(N) * 5e-6), OutOfRange, "time between samples"),
        (with_value("time", N - 1, 1e6), OutOfRange, "entry 49, time since the entry before"),
        (with_value("time", N - 1, 0.8), OutOfRange, "entry 49, time since the entry before"),
        (with_value("position", 30, 3.0), BadData, "entry 30, position"),
        (
            fields(position=np.where(np.arange(N) < 30, 0.1, 0.1 - 2 * np.pi)),
            BadData,
            "entry 30, position",
        ),
        (moving(60 / (2 * np.pi)), BadData, "velocity"),
        (moving(1 / (2 * np.pi)), BadData, "velocity"),
        (moving(-1.0), BadData, "velocity"),
        (with_value("velocity", 3, math.inf), OutOfRange, "entry 3, velocity"),
        (with_value("voltage", 3, 0.0), OutOfRange, "entry 3, voltage"),
        (with_value("voltage", 3, -7.3), OutOfRange, "entry 3, voltage"),
        (fields(voltage=np.full(N, 73.0)), BadData, "voltage"),
        (fields(supply_voltage=0.74), BadData, "voltage"),
        (fields(velocity=np.zeros(N - 1)), WrongShape, "velocity, shape"),
        (fields(bench=PendulumBench(mass=0.0, length=0.1)), OutOfRange, "mass and arm_mass together"),
        (fields(bench=PendulumBench(mass=0.5, length=0.0)), OutOfRange, "length"),
        (fields(time=np.arange(MIN_SAMPLES - 1) * 0.005), BadData, "samples"),
        (fields(kp=0.0), OutOfRange, "kp"),
        (fields(kp=1e-300), OutOfRange, "kp"),
        (fields(kp=math.nan), OutOfRange, "kp"),
        (fields(supply_voltage=-7.4), OutOfRange, "supply_voltage"),
        (fields(supply_voltage=7400.0), OutOfRange, "supply_voltage"),
    ],
)
def test_what_cannot_be_used_is_named_in_one_line(
    changed: dict[str, Any], kind: type[BamError], thing: str
) -> None:
    with refused(kind, thing=thing) as caught:
        Recording(**changed)
    assert str(caught.value).startswith("run.json: ")


@pytest.mark.parametrize("name", ["velocity", "voltage", "temperature", "duty"])
def test_what_was_not_measured_may_be_nan(name: str) -> None:
    assert np.isnan(getattr(Recording(**with_value(name, 3, math.nan)), name)[3])


@given(index=st.integers(1, N - 1), back=st.floats(0.0, 0.2))
def test_time_that_does_not_advance_is_found_wherever_it_is(index: int, back: float) -> None:
    time = np.array(fields()["time"])
    time[index] = max(time[index - 1] - back, 0.0)
    with refused(OutOfRange, thing=f"entry {index}, time"):
        Recording(**fields(time=time))
