# SPDX-License-Identifier: Apache-2.0
"""Episodes of LeRobot datasets: what is read, which unit it is in, what is refused."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import (
    BadData,
    Conflict,
    Malformed,
    Missing,
    MissingSoftware,
    OutOfRange,
    UnknownName,
    Unreadable,
)
from bam_core.robot.lerobot_dataset import read_dataset_runs
from bam_core.robot.lerobot_units import load_calibration
from bam_core.robot.lerobot_writer import write_dataset
from bam_core.robot.load import RunSettings, load_runs
from bam_core.robot.run import RobotRun
from bam_core.robot.value_steps import unit_proof
from bam_core.text.robot_run_findings import (
    ClippedGoals,
    DerivativeGainUnknown,
    DerivedRanges,
    StampedRate,
)
from studies.lerobot_arm import DATASET, FPS, JOINTS, as_frames, teleoperation
from test.core.finding_cases import logged
from test.core.refusals import refused

WRITTEN_BY_LEROBOT = Path(__file__).parents[2] / "data" / "lerobot_v3"
ARM = JOINTS[:-1]  # without the gripper
RANGE = {"range_min": 1000, "range_max": 3400}


def goals() -> list[RobotRun]:
    """Two episodes whose measurement is the goals of one frame before."""
    runs = [teleoperation(seed, seconds) for seed, seconds in ((1, 3.0), (2, 2.0))]
    return [
        replace(run, position=run.goal_position[np.maximum(np.arange(len(run.time)) - 1, 0)]) for run in runs
    ]


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    path = tmp_path / "desk"
    write_dataset(path, [as_frames(run) for run in goals()], DATASET)
    return path


def changed(dataset: Path, **fields: object) -> Path:
    info = dataset / "meta" / "info.json"
    info.write_text(json.dumps({**json.loads(info.read_text()), **fields}))
    return dataset


def rewritten(dataset: Path, change: object) -> Path:
    """Change the table of frames in place."""
    from pyarrow import parquet

    file = dataset / "data" / "chunk-000" / "file-000.parquet"
    parquet.write_table(change(parquet.read_table(file)), file)
    return dataset


def scaled(dataset: Path, scale: float) -> Path:
    """Multiply goals and positions."""
    import pyarrow

    def change(table: pyarrow.Table) -> pyarrow.Table:
        for name in ("action", "observation.state"):
            values = scale * np.stack(list(table.column(name).to_numpy()))
            column = pyarrow.array(list(values.astype(np.float32)))
            table = table.set_column(table.column_names.index(name), name, column)
        return table

    return rewritten(dataset, change)


def test_a_derivative_gain_that_lerobot_sets_and_does_not_store_is_asked_for(
    dataset: Path, caplog: pytest.LogCaptureFixture
) -> None:
    load_runs([dataset], RunSettings(kp=16.0))
    assert _unknown(caplog) == [32.0]
    caplog.clear()
    for kd in (0.0, 32.0):
        assert {run.kd for run in load_runs([dataset], RunSettings(kp=16.0, kd=kd))} == {kd}
    (dataset / "bench.yaml").write_text("kd: 16\n")
    assert {run.kd for run in load_runs([dataset], RunSettings(kp=16.0))} == {16.0}
    assert _unknown(caplog) == []


def test_the_acceleration_that_lerobot_sets_is_given_beside_a_dataset(dataset: Path) -> None:
    def limits(**options: object) -> set[object]:
        return {
            run.goal_acceleration for run in load_runs([dataset], RunSettings(kp=16.0, kd=32.0, **options))
        }

    assert limits() == {None}
    assert limits(goal_acceleration=38.6) == {38.6}
    (dataset / "bench.yaml").write_text("goal_acceleration: 20\n")
    assert limits() == {20.0}
    assert limits(goal_acceleration=0.0) == {0.0}
    with refused(OutOfRange, thing="--goal-acceleration, goal_acceleration"):
        limits(goal_acceleration=-1.0)


def _unknown(caplog: pytest.LogCaptureFixture) -> list[float]:
    return [finding.usual for finding in logged(caplog) if isinstance(finding, DerivativeGainUnknown)]


def test_every_episode_is_a_run_in_radians_without_the_gripper(dataset: Path) -> None:
    runs = load_runs([dataset], RunSettings(kp=16.0))
    assert [run.name for run in runs] == ["desk_episode_0", "desk_episode_1"]
    for run, wrote in zip(runs, goals(), strict=True):
        assert run.joints == ARM
        assert run.kp == 16.0
        assert run.time == pytest.approx(np.arange(len(wrote.time)) / FPS, abs=1e-5)
        # A count is 360/4095 of a degree to LeRobot, 360/4096 to the encoder.
        assert run.goal_position == pytest.approx(wrote.goal_position[:, :-1], abs=1e-6)
        assert run.position == pytest.approx(wrote.position[:, :-1], abs=1e-6)


def test_files_that_lerobot_wrote_are_read() -> None:
    runs = read_dataset_runs(WRITTEN_BY_LEROBOT)
    assert [run.name for run in runs] == ["lerobot_v3_episode_0", "lerobot_v3_episode_1"]
    for number, run in enumerate(runs):
        assert run.joints == ARM
        frame = np.arange(60 - 10 * number)
        assert run.time == pytest.approx(frame / 30.0, abs=1e-5)
        for column in range(len(ARM)):  # as tools/make_lerobot_dataset.py says
            counts = np.round(400 * np.sin(0.1 * frame + column + number))
            assert run.goal_position[:, column] == pytest.approx(2 * np.pi * counts / 4096, abs=1e-5)
            assert run.position[:, column] == pytest.approx(2 * np.pi * (counts - 3) / 4096, abs=1e-5)


def test_a_directory_is_searched_for_datasets(dataset: Path) -> None:
    assert len(load_runs([dataset.parent], RunSettings(kp=16.0))) == 2


def test_an_interval_belongs_to_an_episode(dataset: Path, tmp_path: Path) -> None:
    file = tmp_path / "interval.json"
    file.write_text('{"desk_episode_1": [0.5, 1.0]}')
    assert load_runs([dataset], RunSettings(kp=16.0, intervals=file))[1].interval == (0.5, 1.0)


def test_the_gain_must_be_said_and_the_line_says_what_lerobot_sets(dataset: Path) -> None:
    with pytest.raises(Missing, match=r"--kp.* 16$"):
        load_runs([dataset])


def test_a_unit_that_no_value_shows_must_be_said(dataset: Path) -> None:
    scaled(dataset, 0.83)  # as ranges that were found in calibration would
    with refused(Missing, thing=f"{dataset}, unit") as caught:
        read_dataset_runs(dataset)
    assert "--unit deg" in str(caught.value)
    (run, _) = read_dataset_runs(dataset, "deg")
    assert run.position == pytest.approx(0.83 * goals()[0].position[:, :-1], abs=7e-4)


def test_radians_are_taken_as_they_are_with_the_gripper(dataset: Path) -> None:
    scaled(dataset, np.pi / 180.0)
    (run, _) = read_dataset_runs(dataset, "rad")
    assert run.joints == JOINTS
    assert read_dataset_runs(dataset)[0].joints == JOINTS
    with refused(BadData, thing=f"{dataset}"):
        read_dataset_runs(dataset, "deg")
    assert run.position[:, :-1] == pytest.approx(goals()[0].position[:, :-1], abs=7e-4)


def test_normalised_values_take_their_ranges_from_the_calibration(dataset: Path, tmp_path: Path) -> None:
    scaled(dataset, 0.83)
    with refused(Missing, thing=f"{dataset}, range of shoulder_pan"):  # 2741 and a half counts, by the steps
        read_dataset_runs(dataset, "normalised")
    file = tmp_path / "my_arm.json"
    motors = {name: {"id": 1, "drive_mode": 0, "homing_offset": 7, **RANGE} for name in JOINTS}
    motors["elbow_flex"]["drive_mode"] = 1
    file.write_text(json.dumps(motors))
    (run, _) = read_dataset_runs(dataset, "normalised", file)
    shares = 0.83 * np.degrees(goals()[0].position[:, :-1])
    expected = np.radians(shares / 100.0 * 1200 * 360 / 4096) * np.array([1, 1, -1, 1, 1])
    assert run.position == pytest.approx(expected, abs=2e-3)
    del motors["wrist_roll"]
    file.write_text(json.dumps(motors))
    with pytest.raises(UnknownName, match="wrist_roll"):
        read_dataset_runs(dataset, "normalised", file)


def test_goals_beyond_the_calibrated_range_count_as_its_end(
    dataset: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The servo follows no goal beyond its angle limits, into which LeRobot writes the range."""
    file = tmp_path / "my_arm.json"
    half = 700  # counts
    motors = {name: {"range_min": 2048 - half, "range_max": 2048 + half} for name in JOINTS}
    file.write_text(json.dumps({**motors, "wrist_roll": {"range_min": 0, "range_max": 4095}}))
    states = clipped_states(dataset, half * 360 / 4095)
    plain, calibrated = (read_dataset_runs(states, "deg", given)[0] for given in (None, file))
    reach = np.full(len(ARM), 2 * np.pi * half / 4096)
    reach[ARM.index("wrist_roll")] = np.pi
    beyond = np.abs(plain.goal_position) > reach
    assert 0.0 < beyond.mean() < 0.5
    expected = np.clip(plain.goal_position, -reach, reach)
    assert calibrated.goal_position == pytest.approx(expected, abs=1e-6)
    assert np.array_equal(calibrated.position, plain.position)
    (finding,) = [finding for finding in logged(caplog) if isinstance(finding, ClippedGoals)]
    assert set(dict(finding.joints)) == {
        name for name, some in zip(ARM, beyond.any(axis=0), strict=True) if some
    }
    file.write_text(json.dumps({name: {"range_min": 2000, "range_max": 2100} for name in JOINTS}))
    with refused(Conflict, thing=f"{file}, shoulder_pan"):  # it was far beyond this range
        read_dataset_runs(states, "deg", file)
    with refused(Conflict, thing="--calibration"):
        read_dataset_runs(scaled(states, np.pi / 180), "rad", file)


def clipped_states(dataset: Path, reach: float) -> Path:
    """Keep positions within a range, deg, as a servo that stops there does."""
    import pyarrow

    def change(table: pyarrow.Table) -> pyarrow.Table:
        values = np.stack(list(table.column("observation.state").to_numpy()))
        values[:, :-2] = np.clip(values[:, :-2], -reach, reach)  # not of wrist_roll and gripper
        place = table.column_names.index("observation.state")
        return table.set_column(place, "observation.state", pyarrow.array(list(values)))

    return rewritten(dataset, change)


WIDTHS = dict(zip(ARM, (2549, 3835, 2201, 2310, 3960), strict=True))


def as_shares(dataset: Path, widths: dict[str, int]) -> Path:
    """Write goals and positions as shares of ranges; the goals are those of another arm, which led."""
    import pyarrow

    def change(table: pyarrow.Table) -> pyarrow.Table:
        for name, factor in (("action", 1.07), ("observation.state", 1.0)):
            counts = np.round(np.stack(list(table.column(name).to_numpy())) * 4095 / 360)
            steps = np.array([200.0 / (factor * widths.get(joint, 1500)) for joint in JOINTS])
            rows = list((counts * steps).astype(np.float32))
            table = table.set_column(table.column_names.index(name), name, pyarrow.array(rows))
        return table

    return rewritten(dataset, change)


@pytest.mark.parametrize("unit", [None, "normalised"])
def test_the_steps_of_shares_show_how_wide_their_ranges_are(
    unit: str | None, dataset: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (run, _) = read_dataset_runs(as_shares(dataset, WIDTHS), unit)
    assert run.joints == ARM
    assert run.position == pytest.approx(goals()[0].position[:, :-1], abs=2e-3)
    (finding,) = [finding for finding in logged(caplog) if isinstance(finding, DerivedRanges)]
    assert dict(finding.ranges) == WIDTHS


def test_shares_are_no_degrees_whatever_is_said(dataset: Path, tmp_path: Path) -> None:
    with refused(BadData, thing=f"{as_shares(dataset, WIDTHS)}") as caught:
        read_dataset_runs(dataset, "deg")
    assert caught.value.advice == "give --unit normalised"
    assert "0.0785" in caught.value.problem
    assert "2549" in caught.value.problem
    file = tmp_path / "another_arm.json"
    file.write_text(json.dumps({name: {"drive_mode": 0, **RANGE} for name in JOINTS}))
    with refused(Conflict, thing=f"{file}, shoulder_pan"):
        read_dataset_runs(dataset, "normalised", file)


def test_goals_are_shares_of_the_range_at_most(dataset: Path, caplog: pytest.LogCaptureFixture) -> None:
    """LeRobot sends no goal beyond 100 % of a range."""
    import pyarrow

    def enlarged(table: pyarrow.Table) -> pyarrow.Table:
        goals = 4.0 * np.stack(list(table.column("action").to_numpy()))
        place = table.column_names.index("action")
        return table.set_column(place, "action", pyarrow.array(list(goals.astype(np.float32))))

    (run, _) = read_dataset_runs(rewritten(as_shares(dataset, WIDTHS), enlarged), "normalised")
    reach = np.pi * np.array([WIDTHS[name] for name in ARM]) / 4096
    largest = np.abs(run.goal_position).max(axis=0)
    assert (largest <= reach + 1e-6).all()
    assert np.isclose(largest, reach).sum() >= 2
    assert [type(finding) for finding in logged(caplog)].count(ClippedGoals) == 1


def test_a_joint_that_hardly_moved_does_not_show_its_range(dataset: Path) -> None:
    still = as_shares(dataset, WIDTHS | {"wrist_roll": 100_000})  # its steps are no range's
    with refused(Missing, thing=f"{still}, range of wrist_roll"):
        read_dataset_runs(still, "normalised")


@pytest.mark.parametrize(
    "text", ["[]", "{", '{"a": {}}', '{"a": {"range_min": 5, "range_max": 5}}', '{"a": {"range_min": 0}}']
)
def test_other_files_are_no_calibration(text: str, tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    file.write_text(text)
    if text != "[]":
        with refused(Malformed, path=str(file)):
            load_calibration(file)
    with pytest.raises(Unreadable):
        load_calibration(tmp_path / "none.json")


@pytest.mark.parametrize("unit", ["rad", "normalised"])
def test_values_that_contradict_what_is_said_are_refused(unit: str, dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(BadData, match="--unit deg"):
        read_dataset_runs(dataset, unit, tmp_path / "none.json")


def test_other_files_are_in_rad_or_deg_as_is_said(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text(
        "time,goal:a,read:a\n" + "".join(f"{0.1 * i},{i**1.1},{i**1.1 - 0.1}\n" for i in range(30))
    )
    (given,) = load_runs([path], RunSettings(kp=1.0, unit="rad"))
    (run,) = load_runs([path], RunSettings(kp=1.0, unit="deg"))
    assert run.position[-1, 0] == pytest.approx(np.pi / 180.0 * given.position[-1, 0])
    with refused(Conflict, thing=f"{path}, unit"):
        load_runs([path], RunSettings(kp=1.0, unit="normalised", strict=True))
    with refused(UnknownName, name="degrees"):
        RunSettings(unit="degrees")


def test_a_frame_rate_that_stamps_contradict_is_named(
    dataset: Path, caplog: pytest.LogCaptureFixture
) -> None:
    read_dataset_runs(dataset)
    assert not [finding for finding in logged(caplog) if isinstance(finding, StampedRate)]
    read_dataset_runs(changed(dataset, fps=15))
    (found,) = [finding for finding in logged(caplog) if isinstance(finding, StampedRate)]
    assert (found.fps, found.stamped) == (15.0, pytest.approx(30.0, rel=1e-3))


def test_a_pointer_of_git_lfs_has_its_cure(dataset: Path) -> None:
    file = dataset / "data" / "chunk-000" / "file-000.parquet"
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 3\n")
    with refused(Unreadable, path=str(file), advice="run 'git lfs pull' in its repository"):
        read_dataset_runs(dataset)


def test_what_is_no_whole_dataset_of_version_3_is_refused(dataset: Path) -> None:
    for fields in (
        {"codebase_version": "v1.6"},
        {"total_frames": 1000},
        {"features": {}},
        {"features": []},
        {"features": {"action": 3, "observation.state": None}},
        {"features": {"action": {"names": ["a"] * 6}, "observation.state": {"names": ["a"] * 6}}},
        {"features": {"action": {"names": ["x"]}, "observation.state": {"names": ["y"]}}},
    ):
        before = (dataset / "meta" / "info.json").read_text()
        with pytest.raises(Malformed, match=str(dataset)):
            read_dataset_runs(changed(dataset, **fields))
        (dataset / "meta" / "info.json").write_text(before)
    with refused(Missing, thing=f"{dataset / 'data/chunk-000/file-000.parquet'}, column action"):
        read_dataset_runs(rewritten(dataset, lambda table: table.drop_columns(["action"])))
    (dataset / "data" / "chunk-000" / "file-000.parquet").write_bytes(b"PAR1 and no end")
    with pytest.raises(Unreadable):
        read_dataset_runs(dataset)
    shutil.rmtree(dataset / "data")
    with refused(Missing, thing=f"{dataset}/data"):
        read_dataset_runs(dataset)
    (dataset / "meta" / "info.json").write_text("{}")
    with pytest.raises(Malformed):
        read_dataset_runs(dataset)


def test_goals_and_states_without_a_common_joint_are_refused(dataset: Path) -> None:
    features = json.loads((dataset / "meta" / "info.json").read_text())["features"]
    features["action"]["names"] = [f"ee.{axis}" for axis in "xyzabc"]
    with pytest.raises(Malformed, match="no joint in common"):
        read_dataset_runs(changed(dataset, features=features))


def test_names_may_be_under_a_heading_as_older_recorders_wrote_them(dataset: Path) -> None:
    features = json.loads((dataset / "meta" / "info.json").read_text())["features"]
    for name in ("action", "observation.state"):
        features[name]["names"] = {"motors": list(JOINTS)}
    assert read_dataset_runs(changed(dataset, features=features))[0].joints == ARM


def test_episodes_may_be_in_several_files(dataset: Path) -> None:
    from pyarrow import parquet

    whole = read_dataset_runs(dataset)
    file = dataset / "data" / "chunk-000" / "file-000.parquet"
    table = parquet.read_table(file)
    parquet.write_table(table.slice(40), dataset / "data" / "chunk-000" / "file-001.parquet")
    parquet.write_table(table.slice(0, 40), file)
    for run, again in zip(whole, read_dataset_runs(dataset), strict=True):
        assert np.array_equal(run.position, again.position)


def test_without_pyarrow_the_line_says_what_to_install(
    dataset: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with refused(MissingSoftware, software="pyarrow"):
        read_dataset_runs(dataset)


def test_other_names_of_joints_are_mapped_and_a_gripper_is_known_by_either(dataset: Path) -> None:
    names = [f"main_{name}" for name in JOINTS[:-1]] + ["jaw"]
    info = json.loads((dataset / "meta" / "info.json").read_text())
    for feature in ("action", "observation.state"):
        info["features"][feature]["names"] = [[name] for name in names]  # nested, as some recorders have it
    changed(dataset, features=info["features"])
    words = ("main_*=*", "jaw=gripper", f"main_{ARM[1]}=-{ARM[1]}+0.1")
    (run, _) = load_runs([dataset], RunSettings(kp=16.0, map=words))
    assert run.joints == ARM
    wrote = goals()[0].position[:, :-1]
    assert run.position[:, 0] == pytest.approx(wrote[:, 0], abs=7e-4)
    assert run.position[:, 1] == pytest.approx(-(wrote[:, 1] - 0.1), abs=7e-4)


def test_names_that_are_missing_are_the_map_s_order(dataset: Path) -> None:
    info = json.loads((dataset / "meta" / "info.json").read_text())
    for feature in ("action", "observation.state"):
        info["features"][feature]["names"] = None
    changed(dataset, features=info["features"])
    with refused(Malformed) as caught:
        load_runs([dataset], RunSettings(kp=16.0))
    assert "order" in str(caught.value)
    order = ", ".join(JOINTS)
    (dataset.parent / "bench.yaml").write_text(f"map: {{order: [{order}]}}\n")
    assert load_runs([dataset], RunSettings(kp=16.0))[0].joints == ARM


def test_a_calibration_may_have_either_name(dataset: Path, tmp_path: Path) -> None:
    info = json.loads((dataset / "meta" / "info.json").read_text())
    for feature in ("action", "observation.state"):
        info["features"][feature]["names"] = [f"main_{name}" for name in JOINTS]
    changed(scaled(dataset, 0.83), features=info["features"])
    found = []
    for prefix in ("", "main_"):
        file = tmp_path / f"{prefix}calibration.json"
        file.write_text(json.dumps({f"{prefix}{name}": RANGE for name in ARM}))
        settings = RunSettings(kp=16.0, unit="normalised", calibration=file, map=("main_*=*",))
        found.append(load_runs([dataset], settings)[0].position)
    assert np.array_equal(*found)


def test_a_dataset_of_version_2_is_read(dataset: Path) -> None:
    from pyarrow import compute, parquet

    file = dataset / "data" / "chunk-000" / "file-000.parquet"
    table = parquet.read_table(file)
    expected = [run.position for run in load_runs([dataset], RunSettings(kp=16.0))]
    for episode in (0, 1):
        rows = table.filter(compute.equal(table.column("episode_index"), episode))
        parquet.write_table(rows, file.with_name(f"episode_00000{episode}.parquet"))
    file.unlink()
    changed(dataset, codebase_version="v2.1")
    found = [run.position for run in load_runs([dataset], RunSettings(kp=16.0))]
    assert all(np.array_equal(*pair) for pair in zip(found, expected, strict=True))


def test_features_may_have_other_names(dataset: Path) -> None:
    expected = load_runs([dataset], RunSettings(kp=16.0))[0].position
    rewritten(
        dataset,
        lambda table: table.rename_columns(
            ["observation.qpos" if name == "observation.state" else name for name in table.column_names]
        ),
    )
    info = json.loads((dataset / "meta" / "info.json").read_text())
    info["features"]["observation.qpos"] = info["features"].pop("observation.state")
    changed(dataset, features=info["features"])
    (dataset / "bench.yaml").write_text("map: {columns: {read: observation.qpos}}\n")
    assert np.array_equal(load_runs([dataset], RunSettings(kp=16.0))[0].position, expected)


@pytest.mark.parametrize("name", ["timestamp", "episode_index"])
@pytest.mark.parametrize("change", ["wide", "nan"])
def test_times_and_episodes_are_one_number_per_frame(dataset: Path, name: str, change: str) -> None:
    import pyarrow

    def changed_column(table: pyarrow.Table) -> pyarrow.Table:
        values = table.column(name).to_numpy().astype(np.float64)
        column = (
            list(np.stack([values] * 2, axis=1)) if change == "wide" else np.where(values > 0, values, np.nan)
        )
        return table.set_column(table.column_names.index(name), name, pyarrow.array(column))

    with refused(Malformed):
        read_dataset_runs(rewritten(dataset, changed_column), "deg")


def test_a_calibrated_unit_is_proven_beside_readings_that_are_missing(dataset: Path) -> None:
    positions = {"pan": np.arange(60) * 200.0 / 2300.0, "lift": np.arange(60) * 200.0 / 2087.0}
    positions["pan"][3::7] = np.nan
    assert unit_proof(positions).unit == "normalised"
