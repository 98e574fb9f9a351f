# SPDX-License-Identifier: Apache-2.0
"""Runs of robots as files: what is read, what is said from outside, what is refused."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Set
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import (
    BadData,
    Conflict,
    Malformed,
    Missing,
    OutOfRange,
    UnknownName,
    Unreadable,
    Unsupported,
    WrongShape,
)
from bam_core.robot.csv_columns import read_columns
from bam_core.robot.csv_run import read_csv_run
from bam_core.robot.load import RunSettings, load_runs
from bam_core.robot.run import RobotRun
from bam_core.text.recording_findings import SupplyContradicted
from test.core.finding_cases import logged
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, goals, write_csv


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_csv(goals(), tmp_path / "squat_kp20_a.csv")


def test_a_csv_file_is_read_as_it_was_written(path: Path) -> None:
    run, wrote = read_csv_run(path), goals()
    assert run.name == "squat_kp20_a"
    assert run.joints == JOINTS
    assert run.kp is None
    for field in ("time", "goal_position", "position"):
        assert np.array_equal(getattr(run, field), getattr(wrote, field))


def test_gain_and_supply_may_be_columns(path: Path) -> None:
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join([lines[0] + ",kp,vin", *(f"{line},24,{12 + i % 2}" for i, line in enumerate(lines[1:]))])
    )
    run = read_csv_run(path)
    assert run.kp == 24.0
    assert run.supply_voltage == pytest.approx(12.5)
    path.write_text(path.read_text().replace(",24,12\n", ",25,12\n", 1))
    with refused(BadData, thing=f"{path}, kp"):
        read_csv_run(path)


def test_joints_may_have_a_column_of_their_own_for_their_gain(path: Path) -> None:
    lines = path.read_text().splitlines()
    path.write_text(
        "\n".join([lines[0] + ",kp,kp:elbow,kd:elbow,ki:elbow", *(f"{line},24,8,2,3" for line in lines[1:])])
    )
    run = read_csv_run(path)
    assert run.kp == {"shoulder": 24.0, "elbow": 8.0}
    assert run.kd == {"elbow": 2.0}
    assert run.ki == {"elbow": 3.0}
    path.write_text(path.read_text().replace(",24,8,2,3\n", ",24,9,2,3\n", 1))
    with refused(BadData, thing=f"{path}, kp:elbow"):
        read_csv_run(path)


def test_a_column_of_a_setting_that_changes_the_law_is_refused(path: Path) -> None:
    lines = path.read_text().splitlines()
    for column, value in (("max_torque", 500), ("max_torque:elbow", 500), ("profile_velocity", 20)):
        path.write_text("\n".join([f"{lines[0]},{column}", *(f"{line},{value}" for line in lines[1:])]))
        with refused(Unsupported, thing=column.partition(":")[0]):
            read_csv_run(path)


@pytest.mark.parametrize("column", ["D_Coefficient:elbow", "elbow_kd", "kd_elbow", "elbow.position_d_gain"])
def test_a_gain_of_a_joint_is_known_in_other_spellings(path: Path, column: str) -> None:
    lines = path.read_text().splitlines()
    path.write_text("\n".join([f"{lines[0]},{column}", *(f"{line},32" for line in lines[1:])]))
    assert read_csv_run(path).kd == {"elbow": 32.0}


def test_comments_name_settings_where_columns_do_not(path: Path) -> None:
    text = path.read_text()
    path.write_text(
        f"# squats, 2026-05-01 12:30:00\n# kp: 16, P_Coefficient:elbow = 8, vin=11.5, mass: 3\n{text}"
    )
    run = read_csv_run(path)
    assert run.kp == {"shoulder": 16.0, "elbow": 8.0}
    assert run.supply_voltage == 11.5
    path.write_text(f"# Torque_Limit: 500\n{text}")
    with refused(Unsupported, thing="torque_limit"):
        read_csv_run(path)


def test_a_setting_that_was_noted_now_and_then_counts(path: Path) -> None:
    lines = path.read_text().splitlines()
    rows = (f"{line},{'' if i % 7 else 32}" for i, line in enumerate(lines[1:], start=1))
    path.write_text("\n".join([f"{lines[0]},kd", *rows]))
    assert read_csv_run(path).kd == 32.0


def test_gains_of_joints_are_given_beside_columns_and_bench_yaml(path: Path) -> None:
    (run,) = load_runs([path], RunSettings(kp={"elb*": 8.0}))
    assert run.kp == {"shoulder": 20.0, "elbow": 8.0}  # the other is in the name of the file
    path.with_name("bench.yaml").write_text("kp: {elbow: 32}\nset: {vin: 11}\n")
    (run,) = load_runs([path], RunSettings(kp={"shoulder": 4.0}))
    assert run.kp == {"shoulder": 4.0, "elbow": 32.0}
    assert run.supply_voltage == 11.0
    (run,) = load_runs([path], RunSettings(kp=16.0))
    assert run.kp == 16.0
    with refused(UnknownName, name="wrist"):
        load_runs([path], RunSettings(kp={"wrist": 4.0}))
    path.with_name("bench.yaml").write_text("ki: {elbow: 3}\n")
    (run,) = load_runs([path], RunSettings(kp=16.0))
    assert run.ki == {"shoulder": 0.0, "elbow": 3.0}
    (run,) = load_runs([path], RunSettings(kp=16.0, ki={"shoulder": 1.0}))
    assert run.ki == {"shoulder": 1.0, "elbow": 3.0}
    with refused(OutOfRange, thing="--ki"):
        RunSettings(ki=-1.0)


@pytest.mark.parametrize(
    ("row", "said"),
    [("0.1,1,x", "row 3, column 'read:a', is 'x'"), ("0.1,1", "row 3 ends before column 'read:a'")],
)
def test_a_cell_that_is_no_number_is_named(row: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"time,goal:a,read:a\n0,1,1\n{row}\n0.2,1,1\n")
    with refused(Malformed, problem=said):
        read_csv_run(path)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", Malformed),
        ("time,goal:a\n0,1\n", Malformed),
        ("time,goal:a,read:a\n", Malformed),
        ("time,goal:a,read:a\n0,1,x\n1,1,1\n", Malformed),
        ("time,goal:a,read:a\n0,1\n1,1,1\n", Malformed),
        pytest.param(f"time,goal:a,read:a\n0,{'9' * 200_000},1\n", Malformed, id="a long field"),
        pytest.param(f"time,{'a' * 200_000}\n", Malformed, id="a long name"),
        ("time,goal:a,read:a\n0,1,1\n0,1,1\n", BadData),
        ("time,goal:a,read:a\n0,1,nan\n0.1,1,1\n", BadData),
        ("time,goal:a,read:a\n0,1,nan\n0.1,1,nan\n", Missing),
        ("time,goal:a,read:a\n0,nan,1\n0.1,nan,1\n", Missing),
    ],
)
def test_files_that_are_no_runs_are_refused_with_their_path(
    text: str, kind: type[Exception], tmp_path: Path
) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(kind, match=r"bad\.csv"):
        read_csv_run(path)


@pytest.mark.parametrize("twice", ["goal:a", "read:b", "time"])
def test_a_column_that_is_there_twice_is_named(tmp_path: Path, twice: str) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(f"time,goal:a,read:a,goal:b,read:b,{twice}\n" + "0,1,1,1,1,1\n1,1,1,1,1,1\n")
    with refused(Malformed, path=str(path)) as caught:
        read_csv_run(path)
    assert repr(twice) in caught.value.problem


def test_columns_that_are_not_read_may_have_one_name(tmp_path: Path) -> None:
    path = tmp_path / "good.csv"
    path.write_text("time,goal:a,read:a,note,note\n0,1,1,x,y\n0.1,2,2,x,y\n")
    assert read_csv_run(path).position.tolist() == [[1.0], [2.0]]


def test_names_are_looked_up_not_searched_for(tmp_path: Path) -> None:
    """A search for each of 20 000 names took half a minute."""
    path = tmp_path / "wide.csv"
    path.write_text("time" + ",goal:j" * 20_000 + "\n0" + ",1" * 20_000 + "\n")
    given: list[Collection[str]] = []

    def choose(header: Collection[str]) -> list[str]:
        given.append(header)
        return ["time"]

    assert read_columns(path, choose)["time"].tolist() == [0.0]
    assert isinstance(given[0], Set)
    assert list(given[0]) == ["time", "goal:j"]


def test_shapes_and_intervals_must_fit() -> None:
    run = goals()
    with pytest.raises(WrongShape):
        replace(run, position=run.position[:, :1])
    with pytest.raises(BadData, match="holds no sample"):
        replace(run, interval=(90.0, 91.0))
    assert replace(run, interval=(1.0, 1.5)).counts.sum() == 51


def test_the_gain_comes_from_the_user_then_bench_yaml_then_the_name(path: Path, tmp_path: Path) -> None:
    def gain(settings: RunSettings | None = None) -> float | None:
        return load_runs([tmp_path], settings)[0].kp

    assert gain() == 20.0
    (tmp_path / "bench.yaml").write_text("set: {kp: 24, vin: 11.5}")
    assert gain() == 24.0
    assert load_runs([path])[0].supply_voltage == 11.5
    assert gain(RunSettings(kp=32.0)) == 32.0
    (tmp_path / "bench.yaml").unlink()
    nameless = write_csv(goals(), tmp_path / "squat.csv")
    path.unlink()
    with pytest.raises(Missing, match=r"squat\.csv, kp"):
        load_runs([nameless])


def with_supply(path: Path, volt: float) -> Path:
    """Add what was measured to a file."""
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0] + ",vin", *(f"{line},{volt}" for line in lines[1:])]))
    return path


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]


def test_a_supply_that_is_not_what_was_recorded_is_told_in_one_line(
    path: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with_supply(path, 14.7)
    write_csv(goals(), tmp_path / "mute_kp20.csv")  # says nothing of its supply
    runs = {run.name: run for run in load_runs([tmp_path], RunSettings(supply_voltage=12.0))}
    (finding,) = logged(caplog)
    assert isinstance(finding, SupplyContradicted)
    assert (finding.source, finding.names) == ("--vin", ("squat_kp20_a",))
    assert finding.error == pytest.approx(12.0 / 14.7 - 1.0)  # the same torques from less voltage
    assert (runs["squat_kp20_a"].supply_voltage, runs["squat_kp20_a"].recorded_voltage) == (12.0, 14.7)
    assert runs["mute_kp20"].recorded_voltage is None
    caplog.clear()
    (tmp_path / "bench.yaml").write_text("set: {vin: 16.0}")
    load_runs([tmp_path])
    (finding,) = logged(caplog)
    assert isinstance(finding, SupplyContradicted)
    assert (finding.source, finding.given) == ("bench.yaml", (16.0,))
    assert finding.error == pytest.approx(16.0 / 14.7 - 1.0)


@pytest.mark.parametrize("given", [None, 14.7, 14.4])
def test_a_supply_that_was_not_given_or_agrees_is_not_told_of(
    given: float | None, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (run,) = load_runs([with_supply(path, 14.7)], RunSettings(supply_voltage=given))
    assert not warnings(caplog)
    assert run.supply_voltage == (given or 14.7)


def test_an_interval_belongs_to_a_log_by_its_name(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "interval.json"
    file.write_text(json.dumps({"squat_kp20_a.csv": [0.5, 1.5], "other": [0, 1]}))
    assert load_runs([path], RunSettings(intervals=file))[0].interval == (0.5, 1.5)
    for text, kind in (("{", Malformed), ('{"a": 1}', Malformed), ('{"a": [2, 1]}', OutOfRange)):
        file.write_text(text)
        with pytest.raises(kind):
            load_runs([path], RunSettings(intervals=file))


def test_places_without_runs_are_told(tmp_path: Path) -> None:
    for path in (tmp_path / "none.csv", tmp_path):
        with pytest.raises(Unreadable):
            load_runs([path])
    with pytest.raises(OutOfRange):
        RunSettings(kp=-1.0)


def test_a_run_knows_its_joints() -> None:
    run: RobotRun = goals()
    assert run.column("elbow") == 1
    with pytest.raises(Exception, match="'wrist'"):
        run.column("wrist")


def test_intervals_of_other_logs_are_refused(path: Path, tmp_path: Path) -> None:
    file = tmp_path / "interval.json"
    file.write_text('{"walk": [0.5, 1.5]}')
    with pytest.raises(Conflict, match="walk"):
        load_runs([path], RunSettings(intervals=file))


def test_time_in_milliseconds_is_refused() -> None:
    time = np.arange(0.0, 1000.0, 10.0) * 1.0
    with pytest.raises(BadData, match="time_unit"):
        RobotRun(
            name="run",
            joints=("elbow",),
            time=time,
            goal_position=np.zeros((len(time), 1)),
            position=np.zeros((len(time), 1)),
        )


def test_decimal_commas_and_empty_cells_are_read(path: Path) -> None:
    expected = read_csv_run(path)
    header, *lines = path.read_text().splitlines()
    rows = [line.split(",") for line in lines]
    path.write_text(
        "\n".join(
            [header.replace(",", ";"), *(";".join(cell.replace(".", ",") for cell in row) for row in rows)]
        )
    )
    assert np.array_equal(read_csv_run(path).goal_position, expected.goal_position)
    column = header.split(",").index(f"read:{JOINTS[0]}")
    rows[50][column], rows[51][column] = "", "None"
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]))
    run = read_csv_run(path)
    assert sum(part.samples for part in run.left_out[JOINTS[0]]) == 2
    assert not run.is_sound[50:52, 0].any()


def test_a_recorded_run_of_a_few_samples_is_refused(tmp_path: Path) -> None:
    with refused(BadData, thing="short, samples"):
        load_runs([write_csv(goals(0.15), tmp_path / "short.csv")], RunSettings(kp=16.0))


def test_tables_are_found_whatever_the_case_of_their_ending(tmp_path: Path) -> None:
    write_csv(goals(), tmp_path / "a_kp16.CSV")
    text = write_csv(goals(seed=1), tmp_path / "b.csv").read_text()
    (tmp_path / "b.csv").unlink()
    (tmp_path / "b_kp16.tsv").write_text(text.replace(",", "\t"))
    assert [run.name for run in load_runs([tmp_path])] == ["a_kp16", "b_kp16"]


@pytest.mark.parametrize(
    "name", ["run.pkl", "run.npy", "run.parquet", "run.zip", "run.csv.gz", "run.h5", "run.bag"]
)
def test_files_of_other_kinds_are_refused_with_what_to_do(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"\x80\x04junk")
    with refused(Malformed, path=str(path)):
        load_runs([path], RunSettings(kp=16.0, strict=True))


def test_goals_and_readings_of_different_joints_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("time,goal:a,read:b\n0,0,0\n0.1,0,0\n")
    with refused(Malformed, path=str(path)):
        read_csv_run(path)


@pytest.mark.parametrize(
    "written",
    [
        "2026-05-01T12:00:{:09.6f}",
        "2026-05-01 12:00:{:012.9f}Z",
        "2026-05-01T12:00:{:06.3f}+02:00",
        "23:59:{:05.2f}",
    ],
)
def test_times_may_be_dates_or_those_of_a_day(path: Path, written: str) -> None:
    right = read_csv_run(path)
    header, *lines = path.read_text().splitlines()
    rows = [line.split(",") for line in lines]
    dated = [",".join([written.format(float(time)), *cells]) for time, *cells in rows]
    path.write_text("\n".join([header, *dated]))
    np.testing.assert_allclose(np.diff(read_csv_run(path).time), np.diff(right.time), atol=1e-6)
    path.write_text("\n".join([header, *dated]).replace("59:", "61:").replace("-05-", "-13-"))
    with refused(Malformed):
        read_csv_run(path)


@pytest.mark.parametrize("encoding", ["utf-16", "cp1252", "utf-8-sig"])
def test_spreadsheets_write_text_in_several_ways(path: Path, encoding: str) -> None:
    right, text = read_csv_run(path), path.read_text()
    path.write_bytes(f"# angles not in °\n{text}".encode(encoding))
    np.testing.assert_array_equal(read_csv_run(path).position, right.position)
    path.write_bytes(b"\0" + text.encode())
    with refused(Unreadable):
        read_csv_run(path)


def test_a_time_that_goes_back_may_be_a_second_run(path: Path) -> None:
    header, *lines = path.read_text().splitlines()
    path.write_text("\n".join([header, *lines, *lines]))
    with refused(
        BadData, thing="squat_kp20_a, time", problem=f"goes back from 2.99 to 0 s at sample {len(lines)}"
    ):
        read_csv_run(path)
