# SPDX-License-Identifier: Apache-2.0
"""Runs with other names, signs, zeros and units are those of the description's joints, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Malformed, UnknownName
from bam_core.robot.checked_validation import validate_robot
from bam_core.robot.load import RunSettings, load_runs
from bam_core.robot.run import RobotRun
from test.core.refusals import refused
from test.core.whole_robot_cases import JOINTS, bench, recorded, servos, write_csv

MAP = """\
map:
  columns: {time: stamp, "goal:*": "u_*", "read:*": "q_*"}
  joints:
    J1: shoulder
    J2: {name: elbow, sign: -1, zero: 0.2}
  unit: deg
  time_unit: ms
set: {kp: 16, vin: 12}
"""


@pytest.fixture(scope="module")
def run() -> RobotRun:
    """Of known servos, long enough that gravity shows zero and sign of the elbow."""
    return recorded(servos(), duration=2.0)


def as_recorded(run: RobotRun) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return stamps in ms, goals and readings in degrees, elbow reversed and 0.2 rad off."""
    sign, zero = np.array([1.0, -1.0]), np.array([0.0, 0.2])
    goals, read = (np.degrees(sign * values + zero) for values in (run.goal_position, run.position))
    return 1e3 * run.time, goals, read


def write_table(path: Path, run: RobotRun, separator: str = ",", comment: str = "") -> Path:
    time, goals, read = as_recorded(run)
    header = separator.join(["stamp", "u_J1", "u_J2", "q_J1", "q_J2", "note"])
    rows = np.column_stack([time, goals, read, np.zeros(len(time))])
    lines = (separator.join(f"{value:.9g}" for value in row) for row in rows)
    path.write_text("\n".join([f"{comment}{header}", *lines]) + "\n")
    return path


def require_same(found: RobotRun, run: RobotRun) -> None:
    assert found.joints == JOINTS
    assert found.time == pytest.approx(run.time, abs=1e-9)
    assert found.goal_position == pytest.approx(run.goal_position, abs=1e-6)
    assert found.position == pytest.approx(run.position, abs=1e-6)


@pytest.mark.parametrize("separator", [",", ";", "\t", " "])
@pytest.mark.parametrize("comment", ["", "# "])
def test_a_table_with_other_names_is_a_run(
    tmp_path: Path, run: RobotRun, separator: str, comment: str
) -> None:
    write_table(tmp_path / "run.csv", run, separator, comment)
    (tmp_path / "bench.yaml").write_text(MAP)
    (found,) = load_runs([tmp_path])
    require_same(found, run)
    assert (found.kp, found.supply_voltage) == (16.0, 12.0)


def test_comments_are_no_rows(tmp_path: Path, run: RobotRun) -> None:
    path = write_csv(run, tmp_path / "run.csv")
    header, *rows = path.read_text().splitlines()
    path.write_text("\n".join(["# recorded by hand", "", header, *rows[:3], "# a break", *rows[3:]]))
    (found,) = load_runs([path], RunSettings(kp=16.0))
    require_same(found, run)


def test_a_column_of_the_same_name_that_is_not_meant_is_passed_over(tmp_path: Path, run: RobotRun) -> None:
    path = write_csv(run, tmp_path / "run.csv")
    text = path.read_text().replace("imu", "clock").splitlines()
    rows = [text[0], *(f"{row.rpartition(',')[0]},{1e6 * run.time[k]}" for k, row in enumerate(text[1:]))]
    path.write_text("\n".join(rows))
    (tmp_path / "bench.yaml").write_text("map: {columns: {time: clock}, time_unit: us}\n")
    (found,) = load_runs([path], RunSettings(kp=16.0))
    require_same(found, run)


def test_gravity_tells_that_sign_and_zero_are_those_of_the_map(tmp_path: Path, run: RobotRun) -> None:
    """With the map, servos follow as those that were recorded; with another zero or sign gravity is wrong."""

    def error(**change: str) -> float:
        (tmp_path / "bench.yaml").write_text(MAP.replace(*change["words"].split("|")) if change else MAP)
        runs = load_runs([tmp_path])
        return validate_robot(bench(), runs, JOINTS, servos()).per_log[run.name].mae

    write_table(tmp_path / f"{run.name}.csv", run)
    right = error()
    assert right < 1e-3  # half an encoder count
    assert error(words="zero: 0.2|zero: -0.2") > 3.0 * right
    assert error(words="sign: -1, zero: 0.2|zero: 0.2") > 3.0 * right


def test_archives_may_have_any_arrays(tmp_path: Path, run: RobotRun) -> None:
    time, goals, read = as_recorded(run)
    np.savez(tmp_path / "run.npz", t=time, target=goals, q=read)
    text = MAP.replace('time: stamp, "goal:*": "u_*", "read:*": "q_*"', "time: t, goal: target, read: q")
    (tmp_path / "bench.yaml").write_text(text + "\n")
    with pytest.raises(Exception, match="joint_names"):
        load_runs([tmp_path])
    (tmp_path / "bench.yaml").write_text(text.replace("map:\n", "map:\n  order: [J1, J2]\n"))
    require_same(load_runs([tmp_path])[0], run)


def test_archives_may_have_an_array_per_joint(tmp_path: Path, run: RobotRun) -> None:
    time, goals, read = as_recorded(run)
    arrays = {f"u_{name}": goals[:, k] for k, name in enumerate(("J1", "J2"))}
    arrays |= {f"q_{name}": read[:, k] for k, name in enumerate(("J1", "J2"))}
    np.savez(tmp_path / "run.npz", stamp=time, **arrays)
    (tmp_path / "bench.yaml").write_text(MAP)
    require_same(load_runs([tmp_path])[0], run)


def test_words_of_the_option_name_signs_and_zeros(tmp_path: Path, run: RobotRun) -> None:
    sign, zero = np.array([1.0, -1.0]), np.array([0.0, 0.2])
    turned = replace(
        run,
        joints=("main_shoulder", "main_elbow"),
        goal_position=sign * run.goal_position + zero,
        position=sign * run.position + zero,
    )
    path = write_csv(turned, tmp_path / "run.csv")
    words = ("main_*=*", "main_elbow=-elbow+0.2")
    require_same(load_runs([path], RunSettings(kp=16.0, map=words))[0], run)
    with refused(UnknownName, name="lift"):
        load_runs([path], RunSettings(kp=16.0, map=("lift=elbow",)))


def test_a_joint_may_be_left_out_and_takes_its_readings_along(tmp_path: Path, run: RobotRun) -> None:
    broken = replace(run, position=run.position * [1.0, 0.0])
    path = write_csv(broken, tmp_path / "run.csv")
    (tmp_path / "bench.yaml").write_text("map: {joints: {elbow: null}}\n")
    (found,) = load_runs([path], RunSettings(kp=16.0))
    assert found.joints == ("shoulder",)
    assert not found.left_out


def test_a_table_that_nothing_maps_is_refused_with_its_columns(tmp_path: Path, run: RobotRun) -> None:
    path = write_table(tmp_path / "run.csv", run)
    with refused(Malformed, path=str(path)) as caught:
        load_runs([path])
    assert "u_J1" in str(caught.value)
    assert caught.value.problem.index("time") < caught.value.problem.index("among")
    assert "columns: {" in caught.value.advice


def test_the_half_that_a_joint_lacks_is_named_with_a_map(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("time,goal:a,pos:a\n0,0,0\n1,0,0\n")
    with pytest.raises(Malformed) as caught:
        load_runs([tmp_path / "run.csv"])
    assert "read:a among" in caught.value.problem
    assert "{'read:a': 'pos:a'}" in caught.value.advice
