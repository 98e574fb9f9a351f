# SPDX-License-Identifier: Apache-2.0
"""Runs in NumPy archives, of mujoco.sysid and with PACE's names."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from mujoco.sysid import SystemTrajectory, TimeSeries

from bam_core.errors import BadData, Malformed, Missing, OutOfRange, Unreadable, Unsupported, WrongShape
from bam_core.robot.load import RunSettings, load_runs
from bam_core.robot.npz_run import read_npz_run
from test.core.refusals import refused

MODEL = """<mujoco>
  <worldbody>
    <body>
      <joint name="shoulder"/><geom size="0.1"/>
      <body><joint name="elbow"/><geom size="0.1"/></body>
    </body>
  </worldbody>
  <actuator><position name="shoulder" joint="shoulder"/><position name="elbow" joint="elbow"/></actuator>
  <sensor>
    <jointpos name="elbow_pos" joint="elbow"/><jointvel name="elbow_vel" joint="elbow"/>
    <jointpos name="shoulder_pos" joint="shoulder"/>
  </sensor>
</mujoco>"""
TIME = np.arange(50) / 100.0
GOAL = np.stack([TIME, 2.0 * TIME], axis=1)


def trajectory(names: list[str] | None = None, *, labelled: bool = True) -> SystemTrajectory:
    """Goals at 100 Hz from 0 s on, a measurement at 50 Hz from 5 ms on."""
    model = mujoco.MjModel.from_xml_string(MODEL)
    time = 0.005 + TIME[:-1:2]
    measured = np.stack([10.0 + time, -time, 20.0 + time], axis=1)
    if names is not None:
        measured = measured[:, [2, 0]]
    sensors = TimeSeries.from_names(time, measured, model, names)
    if not labelled:
        sensors = TimeSeries(time, measured)
    return SystemTrajectory(
        model=model,
        control=TimeSeries.from_control_names(TIME, GOAL, model),
        sensordata=sensors,
        initial_state=np.zeros(4),
        state=None,
    )


@pytest.mark.parametrize("names", [None, ["shoulder_qpos", "elbow_qpos"]])
def test_what_mujoco_sysid_saved_is_read(names: list[str] | None, tmp_path: Path) -> None:
    path = tmp_path / "run_kp16.npz"
    trajectory(names).save_to_disk(path)
    (run,) = load_runs([tmp_path])
    assert run.name == "run_kp16"
    assert run.kp == 16.0
    assert set(run.joints) == {"shoulder", "elbow"}
    time = TIME[:-1:2]
    assert run.time == pytest.approx(time)
    assert run.position[:, run.column("elbow")] == pytest.approx(10.005 + time)
    assert run.position[:, run.column("shoulder")] == pytest.approx(20.005 + time)
    # The goal of 5 ms before is still in force.
    assert run.goal_position[:, run.column("elbow")] == pytest.approx(2.0 * time)
    assert run.goal_position[:, run.column("shoulder")] == pytest.approx(time)


def test_columns_without_names_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    trajectory(labelled=False).save_to_disk(path)
    with refused(Missing, thing=f"{path}, sensordata_signal_mapping"):
        read_npz_run(path)


def test_a_time_series_alone_is_half_a_run(tmp_path: Path) -> None:
    path = tmp_path / "control.npz"
    trajectory().control.save_to_disk(path)
    with refused(Malformed, path=str(path)) as caught:
        read_npz_run(path)
    assert "SystemTrajectory" in str(caught.value)


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    path = tmp_path / "old.npz"
    mapping = np.array({"elbow_ctrl": (5, np.array([0]))}, dtype=object)
    np.savez(path, control_times=TIME, control_data=GOAL, control_signal_mapping=mapping)
    with pytest.raises(Malformed, match="pickled objects"):
        read_npz_run(path)


def pace(path: Path, **changes: object) -> Path:
    content = {
        "time": 3.0 + TIME,
        "dof_pos": GOAL - 0.1,
        "des_dof_pos": GOAL,
        "joint_names": ["a", "b"],
        **changes,
    }
    np.savez(path, **{name: value for name, value in content.items() if value is not None})
    return path


def test_pace_s_names_are_read_with_those_of_the_joints(tmp_path: Path) -> None:
    run = read_npz_run(pace(tmp_path / "chirp.npz", kp=32.0, vin=11.8))
    assert run.joints == ("a", "b")
    assert (run.kp, run.supply_voltage) == (32.0, 11.8)
    assert run.time == pytest.approx(TIME)
    assert np.array_equal(run.goal_position, GOAL)
    assert np.array_equal(run.position, GOAL - 0.1)


def test_gains_are_one_number_or_one_per_joint(tmp_path: Path) -> None:
    run = read_npz_run(pace(tmp_path / "chirp.npz", kp=[16.0, 32.0], kd=[0.0, 4.0], ki=3.0))
    assert run.kp == {"a": 16.0, "b": 32.0}
    assert run.kd == {"a": 0.0, "b": 4.0}
    assert run.ki == 3.0


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"joint_names": None}, Missing),
        ({"joint_names": ["a"]}, WrongShape),
        ({"dof_pos": np.full_like(GOAL, np.nan)}, Missing),
        ({"dof_pos": np.full(GOAL.shape, "x")}, Malformed),
        ({"time": TIME[::-1]}, BadData),
        ({"kp": [16.0, 32.0, 8.0]}, BadData),
        ({"ki": -1.0}, OutOfRange),
        ({"max_torque": 500.0}, Unsupported),
        ({"des_dof_pos": None}, Malformed),
    ],
)
def test_archives_that_are_no_runs_are_refused_with_their_path(
    changes: dict[str, object], kind: type[Exception], tmp_path: Path
) -> None:
    path = pace(tmp_path / "bad.npz", **changes)
    with pytest.raises(kind, match="bad"):
        read_npz_run(path)


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    path.write_text("no archive")
    with refused(Malformed, path=str(path)):
        read_npz_run(path)
    np.save(tmp_path / "one.npy", TIME)
    (tmp_path / "one.npy").rename(tmp_path / "one.npz")
    with pytest.raises(Malformed):
        read_npz_run(tmp_path / "one.npz")
    with pytest.raises(Unreadable):
        read_npz_run(tmp_path / "none.npz")
    (tmp_path / "chirp_data.pt").write_bytes(b"PK")
    with pytest.raises(Malformed, match=r"numpy\.savez"):
        load_runs([tmp_path / "chirp_data.pt"], RunSettings(kp=1.0))


def test_an_archive_with_the_names_of_maps_needs_no_map(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    arrays = {"time": TIME, "goal": GOAL, "read": 0.9 * GOAL, "joints": np.array([b"shoulder", b"elbow"])}
    np.savez(path, **arrays)
    run = read_npz_run(path)
    assert run.joints == ("shoulder", "elbow")
    np.testing.assert_allclose(run.goal_position, GOAL)
    np.savez(path, P_gain=16.0, kd=np.array([0.0, 32.0]), vin=12.0, **arrays)
    run = read_npz_run(path)
    assert (run.kp, run.kd, run.supply_voltage) == (16.0, {"shoulder": 0.0, "elbow": 32.0}, 12.0)
    np.savez(path, Max_Torque=500.0, **arrays)
    with refused(Unsupported, thing="Max_Torque"):
        read_npz_run(path)


@pytest.mark.parametrize(
    "odd",
    [
        {"time": np.float64(3.0)},
        {"time": np.datetime64("2026-01-01") + np.arange(50).astype("timedelta64[us]")},
        {"goal": GOAL.astype(complex)},
    ],
)
def test_arrays_that_are_no_rows_of_real_numbers_are_refused(
    odd: dict[str, np.ndarray], tmp_path: Path
) -> None:
    path = tmp_path / "run.npz"
    np.savez(path, **{"time": TIME, "goal": GOAL, "read": GOAL, "joints": np.array(["a", "b"]), **odd})
    with refused(Malformed, path=str(path)):
        read_npz_run(path)
