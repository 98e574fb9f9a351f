# SPDX-License-Identifier: Apache-2.0
"""BAM's logs become bags, and recordings become logs, without losing a sample."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from bam_core.errors import Missing, NotWritable, OutOfRange, Unsupported
from bam_core.exchange import bam_log, bam_log_text, write_bag
from bam_core.exchange.log_bag import DEFINITIONS, TOPICS
from bam_core.recordings import load_recordings, read_bag, read_json_log
from bam_core.recordings.message_definition import message_definition
from bam_core.recordings.recording import Recording
from bam_core.text.recording_findings import OtherDamping
from test.core.finding_cases import logged
from test.core.physics_cases import random_run
from test.core.refusals import refused
from test.run_bag import definition

START = 1_700_000_000_000_000_000
EXACT = ("position", "velocity", "goal_position", "torque_enabled", "voltage", "temperature", "duty")
HEADER = ("servo", "bench", "kp", "kd", "supply_voltage", "script")


def assert_same(one: Recording, other: Recording) -> None:
    for name in EXACT:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    for name in HEADER:
        assert getattr(one, name) == getattr(other, name)
    np.testing.assert_allclose(one.time, other.time, atol=0.6e-9)  # bags count nanoseconds


@pytest.fixture
def logs(xl330: Path) -> list[Path]:
    return sorted(xl330.glob("*.json"))


@pytest.mark.parametrize("index", range(0, 12, 3))
def test_a_bag_holds_what_its_log_holds(tmp_path: Path, index: int, logs: list[Path]) -> None:
    log = read_json_log(logs[index])
    write_bag(log, tmp_path / log.name, start_ns=START)
    (bag,) = load_recordings([tmp_path / log.name])
    assert_same(bag, log)
    assert bag.name == log.name


@pytest.mark.parametrize("index", range(0, 12, 3))
def test_a_log_comes_back_with_the_same_samples(tmp_path: Path, index: int, logs: list[Path]) -> None:
    path = logs[index]
    write_bag(read_json_log(path), tmp_path / "bag", start_ns=START)
    back = json.loads(bam_log_text(read_bag(tmp_path / "bag")))
    original = json.loads(path.read_text())
    for ours, theirs in zip(back.pop("entries"), original.pop("entries"), strict=True):
        assert ours.pop("timestamp") == pytest.approx(theirs.pop("timestamp"), abs=0.6e-9)
        assert ours == theirs
    assert back == original


def test_integral_and_derivative_gains_stay_in_bag_and_log(tmp_path: Path) -> None:
    recording = dataclasses.replace(random_run(1, 5e-3), ki=3.0, kd=32.0)
    write_bag(recording, tmp_path / "bag", start_ns=START)
    assert read_bag(tmp_path / "bag").kd == 32.0
    assert read_bag(tmp_path / "bag").ki == 3.0
    assert bam_log(recording)["kd"] == 32.0
    assert bam_log(recording)["ki"] == 3.0


def test_a_limited_acceleration_stays_in_a_log_and_no_bag_loses_it(tmp_path: Path) -> None:
    recording = dataclasses.replace(random_run(1, 5e-3), goal_acceleration=38.6)
    (tmp_path / "log.json").write_text(bam_log_text(recording), encoding="utf-8")
    assert read_json_log(tmp_path / "log.json").goal_acceleration == 38.6
    with refused(Unsupported, thing=f"recording '{recording.name}', goal_acceleration"):
        write_bag(recording, tmp_path / "bag", start_ns=START)
    assert not (tmp_path / "bag").exists()


def test_a_log_of_a_log_is_the_log(logs: list[Path]) -> None:
    path = logs[0]
    assert bam_log(read_json_log(path)) == json.loads(path.read_text())


def test_what_was_not_measured_stays_unknown(tmp_path: Path) -> None:
    run = random_run(1, 5e-3)
    write_bag(run, tmp_path / "bag", start_ns=START)
    assert_same(read_bag(tmp_path / "bag"), run)
    path = tmp_path / "run.json"
    path.write_text(bam_log_text(run))
    assert "NaN" not in path.read_text()
    assert set(json.loads(path.read_text())["entries"][0]) == {
        "position",
        "input_volts",
        "timestamp",
        "goal_position",
        "torque_enable",
    }
    assert_same(read_json_log(path), run)


def test_a_duty_that_is_no_whole_number_of_counts_is_written_itself(tmp_path: Path, logs: list[Path]) -> None:
    log = read_json_log(logs[0])
    fine = dataclasses.replace(log, duty=log.duty * 0.99971)
    path = tmp_path / "fine.json"
    path.write_text(bam_log_text(fine))
    np.testing.assert_array_equal(read_json_log(path).duty, fine.duty)


def test_gaps_in_a_measurement_stay_where_they_are(tmp_path: Path, logs: list[Path]) -> None:
    log = read_json_log(logs[0])
    holes = {name: getattr(log, name).copy() for name in ("velocity", "voltage", "temperature", "duty")}
    for shift, values in enumerate(holes.values()):
        values[shift::7] = np.nan
    holed = dataclasses.replace(log, **holes)
    path = tmp_path / "holed.json"
    path.write_text(bam_log_text(holed))
    assert_same(read_json_log(path), holed)


@pytest.mark.parametrize("kind", TOPICS.values())
def test_ros_knows_the_types_by_their_hash(kind: str) -> None:
    hashes = []
    for text in (definition(kind), message_definition(kind, DEFINITIONS.__getitem__)):
        store = get_typestore(Stores.EMPTY)
        store.register(get_types_from_msg(text, kind))
        hashes.append(store.hash_rihs01(kind))
    assert hashes[0] == hashes[1]


def test_a_bag_is_one_that_other_tools_open(tmp_path: Path, logs: list[Path]) -> None:
    log = read_json_log(logs[0])
    write_bag(log, tmp_path / "bag", start_ns=START)
    with AnyReader([tmp_path / "bag"]) as reader:
        counts = {connection.topic: connection.msgcount for connection in reader.connections}
        assert reader.start_time == START
    assert counts == {"/bench_run": 1, "/servo_states": len(log), "/servo_commands": len(log)}


def test_a_bag_is_not_overwritten(tmp_path: Path, logs: list[Path]) -> None:
    log = read_json_log(logs[0])
    (tmp_path / "bag").mkdir()
    with refused(NotWritable, path=str(tmp_path / "bag")):
        write_bag(log, tmp_path / "bag", start_ns=START)


def erob_log(path: Path, **changes: object) -> Path:
    time = np.arange(200) * 5e-3
    entries = [
        {"position": 0.1 * t, "timestamp": t, "goal_position": 0.2 * t, "torque_enable": True, "control": 1.0}
        for t in time.tolist()
    ]
    log = {"mass": 8.2, "arm_mass": 1.0, "length": 0.5, "kp": 50, "damping": 2.0, "motor": "erob80_100"}
    path.write_text(json.dumps({**log, "trajectory": "sin_sin", "entries": entries, **changes}))
    return path


def test_a_log_of_an_erob_needs_no_supply(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert read_json_log(erob_log(tmp_path / "a.json")).supply_voltage == 48.0
    assert read_json_log(erob_log(tmp_path / "b.json", vin=40.0)).supply_voltage == 40.0
    assert not caplog.records
    with refused(Missing, thing="vin"):
        read_json_log(erob_log(tmp_path / "c.json", motor="mx106"))


def test_another_damping_than_the_usual_one_names_its_firmware(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    log = read_json_log(erob_log(tmp_path / "a.json", damping=1.0))
    assert log.firmware == "erob80_c1"
    write_bag(log, tmp_path / "bag", start_ns=START)
    assert read_bag(tmp_path / "bag").firmware == "erob80_c1"
    finding = logged(caplog)[0]
    assert isinstance(finding, OtherDamping)
    assert (finding.damping, finding.firmware, finding.usual) == (1.0, "erob80_c1", "erob80")
    for damping in (0.0, 0.5):  # none is that of another maker's servo
        with refused(OutOfRange, thing="damping", value=damping):
            read_json_log(erob_log(tmp_path / "b.json", damping=damping))
