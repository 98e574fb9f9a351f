# SPDX-License-Identifier: Apache-2.0
"""Logs of a bench with other names, units, signs and zeros are the same recording once a map says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bam_core import PendulumBench, write_bag
from bam_core.errors import Conflict, Missing, UnknownName, Unsupported
from bam_core.recordings import load_recordings, read_json_log
from bam_core.recordings.open_loop_text import read_open_loop_text
from bam_core.recordings.recording import Recording
from bam_core.recordings.recording_map import JointMap, Joints, RecordingMap
from test.core.json_log_cases import log, save
from test.core.refusals import refused

_DEGREES = np.degrees(1.0)
TURNED = JointMap(name="joint", sign=-1.0, zero=0.25)


def renamed(original: dict[str, Any]) -> dict[str, Any]:
    """Return a log with other names and units, of a joint that turns the other way."""
    keys = {"timestamp": "t_us", "position": "q", "goal_position": "cmd", "speed": "dq"}
    units = {"timestamp": 1e6, "position": _DEGREES, "goal_position": _DEGREES, "speed": _DEGREES}
    entries = []
    for entry in original["entries"]:
        turned = {
            key: (
                0.25 - value if key in ("position", "goal_position") else -value if key == "speed" else value
            )
            for key, value in entry.items()
        }
        entries.append({keys.get(key, key): units.get(key, 1) * value for key, value in turned.items()})
    return {**{key: value for key, value in original.items() if key != "mass"}, "m": 0.49, "entries": entries}


def assert_same_motion(one: Recording, other: Recording) -> None:
    np.testing.assert_allclose(one.time, other.time, atol=1e-9)
    for name in ("position", "goal_position", "velocity"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=1e-9)


@pytest.mark.parametrize("ours", [("timestamp", "position", "goal_position"), ("time", "read:a", "goal:a")])
def test_a_log_with_other_keys_and_units_is_read_by_a_map(tmp_path: Path, ours: tuple[str, ...]) -> None:
    expected = read_json_log(save(tmp_path, log()))
    (tmp_path / "other").mkdir()
    path = save(tmp_path / "other", renamed(log()))
    columns = dict(zip(ours, ("t_us", "q", "cmd"), strict=True)) | {"speed": "dq", "mass": "m"}
    joint = "a" if "read:a" in ours else "joint"
    turned = Joints({joint: JointMap(name="joint", sign=-1.0, zero=0.25)})
    found = read_json_log(
        path, recording_map=RecordingMap(columns=columns, joints=turned, unit="deg", time_unit="us")
    )
    assert_same_motion(found, expected)
    assert found.bench.mass == 0.49


def test_the_map_of_a_file_counts_with_its_header_fields(tmp_path: Path) -> None:
    expected = read_json_log(save(tmp_path, log()))
    logs = tmp_path / "logs"
    logs.mkdir()
    save(logs, renamed(log()))
    columns = {"timestamp": "t_us", "position": "q", "goal_position": "cmd", "speed": "dq", "mass": "m"}
    section = {"columns": columns, "unit": "deg", "time_unit": "us"}
    (tmp_path / "mine.yaml").write_text(json.dumps({"map": section, "set": {"kp": 50}}))
    (found,) = load_recordings([logs], map=[str(tmp_path / "mine.yaml"), "joint=-joint+0.25"])
    assert_same_motion(found, expected)
    assert found.kp == 50.0
    with refused(UnknownName, kind=f"column of {tmp_path / 'mine.yaml'}", name="t_us"):
        load_recordings([save(tmp_path, log())], map=[str(tmp_path / "mine.yaml")], strict=True)


def test_a_map_without_the_joint_of_the_log_is_refused(tmp_path: Path) -> None:
    path = save(tmp_path, log(joint="elbow"))
    with refused(UnknownName, kind="joint of map", name="lift"):
        read_json_log(path, recording_map=RecordingMap(joints=Joints({"lift": JointMap(name="a")})))
    with refused(Missing, thing="map, joints"):
        read_json_log(path, recording_map=RecordingMap(joints=Joints({"elbow": None})))
    with refused(Unsupported, thing="map, unit"):
        read_json_log(path, recording_map=RecordingMap(unit="normalised"))
    with refused(Conflict, thing="map, columns"):
        both = {"position": "position", "read:a": "goal_position"}
        read_json_log(path, recording_map=RecordingMap(columns=both))


def test_a_bag_with_a_run_takes_sign_and_zero(tmp_path: Path) -> None:
    source = read_json_log(save(tmp_path, log()))
    write_bag(source, tmp_path / "bag")
    (plain,) = load_recordings([tmp_path / "bag"])
    (found,) = load_recordings([tmp_path / "bag"], map=["*=-*+0.25"])
    np.testing.assert_allclose(found.position, 0.25 - plain.position, atol=1e-12)
    np.testing.assert_allclose(found.velocity, -plain.velocity, atol=1e-12)
    assert found.bench == PendulumBench(mass=0.49, arm_mass=0.0, length=0.1)


def test_runs_in_open_loop_take_joints_alone(tmp_path: Path) -> None:
    path = tmp_path / "no_load.txt"
    rows = "\n".join(f"{20 * i} {1000} {2048 + 10 * i} {5000}" for i in range(40))
    path.write_text(f"StartOfNewTest 0\nTime Command Position Speed\n{rows}\n")
    (plain,) = read_open_loop_text(path)
    (found,) = read_open_loop_text(path, recording_map=RecordingMap(joints=Joints({"joint": TURNED})))
    np.testing.assert_allclose(found.duty, -plain.duty)
    with refused(Unsupported, thing="map, unit"):
        read_open_loop_text(path, recording_map=RecordingMap(unit="deg"))
