# SPDX-License-Identifier: Apache-2.0
"""Folders with telemetry.csv and metadata.json become recordings; registers of another law are refused."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bam_core.cli import main
from bam_core.errors import BadData, BamError, Malformed, Missing, Unsupported
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from test.core.refusals import refused

MAP = ("jandi_mx106",)
SAMPLES = 60
COUNT = 2.0 * math.pi / 4096
REGISTERS = {
    "operating_mode": 5,
    "position_p_gain": 350,
    "position_i_gain": 0,
    "position_d_gain": 0,
    "feedforward_1st_gain": 0,
    "feedforward_2nd_gain": 0,
    "profile_velocity": 0,
    "profile_acceleration": 0,
    "goal_pwm_raw": 885,
    "pwm_limit_raw": 885,
    "goal_current_raw": 900,
    "current_limit_raw": 1000,
}


def about(registers: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    return {
        "valid_flag": True,
        "trajectory": "step",
        "model_number": 321,
        "bench": {"bare_horn": True, "equivalent_pivot_inertia_kg_m2": 0.0},
        "config_snapshot": {
            "resolved": {
                "hardware": {"motor_id": 2, "joint_name": "knee", "zero_tick": 2048, "direction": -1}
            }
        },
        "register_readback": REGISTERS | dict(registers or {}),
    } | changes


def rows() -> dict[str, list[Any]]:
    """Return columns of a servo whose counts grow where the joint's angle falls."""
    ticks = 2048 - np.round(40.0 * np.sin(0.2 * np.arange(SAMPLES))).astype(int)
    goals = np.roll(ticks, -2)
    return {
        "host_time_ns": [111791127807681 + 10_000_000 * k for k in range(SAMPLES)],
        "present_position_tick": ticks.tolist(),
        "goal_position_tick": goals.tolist(),
        "q_present_rad": (-COUNT * (ticks - 2048)).tolist(),
        "dq_present_rad_s": [0.0] * SAMPLES,
        "current_A_joint": (0.1 * np.cos(0.2 * np.arange(SAMPLES))).tolist(),
        "pwm_percent": (20.0 * np.cos(0.2 * np.arange(SAMPLES))).tolist(),
        "input_voltage_V": [12.4] * SAMPLES,
        "temperature_C": [38] * SAMPLES,
    }


def written(path: Path, columns: Mapping[str, list[Any]], content: Any) -> Path:
    path.mkdir(parents=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (path / "telemetry.csv").write_text("\n".join(lines) + "\n")
    (path / "metadata.json").write_text(json.dumps(content))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(tmp_path / "unit" / "repeat_1", rows(), about())


def test_a_folder_is_a_recording_in_the_sense_of_the_joint(folder: Path) -> None:
    (recording,) = load_recordings(folder.parent, map=MAP)
    columns = rows()
    assert (recording.name, recording.source) == ("repeat_1", folder)
    assert (recording.servo, recording.firmware, recording.unit) == ("mx106_current", "mx-current", "id2")
    assert (recording.kp, recording.script, recording.supply_voltage) == (350.0, "step", 12.4)
    assert recording.bench.inertia == 0.0
    assert recording.demand_limit == pytest.approx(900 * 3.36e-3)
    np.testing.assert_allclose(recording.time, 0.01 * np.arange(SAMPLES), atol=1e-9)
    np.testing.assert_allclose(recording.position, columns["q_present_rad"], atol=1e-12)
    goals = -COUNT * (np.array(columns["goal_position_tick"]) - 2048)
    np.testing.assert_allclose(recording.goal_position, goals, atol=1e-12)
    np.testing.assert_allclose(recording.current, columns["current_A_joint"])
    np.testing.assert_allclose(recording.duty, np.array(columns["pwm_percent"]) / 100.0)
    assert recording.measures_motor


def test_the_current_limit_counts_where_it_is_lower(tmp_path: Path) -> None:
    content = about({"current_limit_raw": 300})
    (recording,) = load_recordings(written(tmp_path / "run", rows(), content), map=MAP)
    assert recording.demand_limit == pytest.approx(300 * 3.36e-3)


def test_rows_without_a_position_are_no_samples(tmp_path: Path) -> None:
    columns = rows()
    for name in columns:
        if name not in ("host_time_ns", "goal_position_tick"):
            columns[name][7] = ""
    (recording,) = load_recordings(written(tmp_path / "run", columns, about()), map=MAP)
    assert len(recording) == SAMPLES - 1
    assert recording.time[7] == pytest.approx(0.08)


def test_a_map_turns_the_joint_and_its_motor(folder: Path) -> None:
    (recording,) = load_recordings(folder, map=MAP)
    (turned,) = load_recordings(folder, map=(*MAP, "knee=-knee"))
    for name in ("position", "goal_position", "current", "duty"):
        np.testing.assert_allclose(getattr(turned, name), -getattr(recording, name), atol=1e-12)


@pytest.mark.parametrize(
    ("content", "kind", "thing"),
    [
        (about({"position_d_gain": 5}), Unsupported, "register_readback.position_d_gain"),
        (about({"profile_velocity": 100}), Unsupported, "register_readback.profile_velocity"),
        (about({"goal_pwm_raw": 400}), Unsupported, "register_readback.goal_pwm_raw"),
        (about({"operating_mode": 3}), Unsupported, "model_number"),
        (about(model_number=311), Unsupported, "model_number"),
        (about({"position_p_gain": None}), Missing, "register_readback.position_p_gain"),
        (about(valid_flag=False), BadData, "valid_flag"),
        (about(bench={"bare_horn": False}), Unsupported, "bench.bare_horn"),
        ([], Missing, "valid_flag"),
    ],
)
def test_what_the_law_lacks_is_refused(
    tmp_path: Path, content: Any, kind: type[BamError], thing: str
) -> None:
    path = written(tmp_path / "run", rows(), content)
    with refused(kind) as caught:
        load_recordings(path, map=MAP, strict=True)
    assert str(caught.value).startswith(f"{path}: metadata.json, {thing}: ")


def test_a_wrong_direction_is_found(tmp_path: Path) -> None:
    content = about()
    content["config_snapshot"]["resolved"]["hardware"]["direction"] = 1
    with refused(BadData):
        load_recordings(written(tmp_path / "run", rows(), content), map=MAP, strict=True)


def test_without_its_map_a_column_is_missing(folder: Path) -> None:
    with refused(Missing):
        load_recordings(folder, strict=True)


def test_a_cell_that_is_no_number_is_refused(tmp_path: Path) -> None:
    columns = rows()
    columns["pwm_percent"][3] = "high"
    with refused(Malformed):
        load_recordings(written(tmp_path / "run", columns, about()), map=MAP, strict=True)


def test_a_run_without_load_needs_its_current(folder: Path) -> None:
    (recording,) = load_recordings(folder, map=MAP)
    fields = {name: getattr(recording, name) for name in Recording.__dataclass_fields__}
    with pytest.raises(BamError):
        Recording(**fields | {"current": np.full(SAMPLES, math.nan)})


def test_validate_compares_it_with_the_library_s_servo_and_its_bands(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "errors.json"
    words = ["validate", "--params", "mx106_current", "--map", *MAP, str(folder), "--draws", "20"]
    assert main([*words, "--json", str(out)]) == 0
    found = json.loads(out.read_text())["mx106_current"]
    assert list(found["per_log"]) == [folder.name]
    assert 0.0 <= found["band_90_coverage"] <= 1.0
