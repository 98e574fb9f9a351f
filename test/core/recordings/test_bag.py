# SPDX-License-Identifier: Apache-2.0
"""A bag alone is enough to refit, whole or interrupted; a damaged one is refused by name."""

from __future__ import annotations

import hashlib
import logging
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bam_core.errors import BadData, BamError, Malformed, Missing, OutOfRange
from bam_core.recordings import load_recordings, read_bag
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.left_out import Reason
from bam_core.text.recording_findings import Interrupted
from test.core.finding_cases import logged
from test.core.refusals import refused
from test.run_bag import PERIOD, START, RunBag


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return RunBag().write(tmp_path_factory.mktemp("bags") / "whole")


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    bag = RunBag(samples=400).write(tmp_path_factory.mktemp("bags") / "short")
    return (bag / "short_0.mcap").read_bytes()


def test_a_whole_bag_tells_everything_about_its_run(whole: Path) -> None:
    recording = read_bag(whole)
    data = (whole / "whole_0.mcap").read_bytes()
    assert recording.name == "whole"
    assert recording.sha256 == hashlib.sha256(data).hexdigest()
    assert recording.servo == "mx106"
    assert recording.bench == PendulumBench(mass=0.567, arm_mass=0.05, length=0.105)
    assert (recording.kp, recording.supply_voltage, recording.script) == (32.0, 15.0, "sin_sin")


def test_several_runs_in_one_bag_are_refused(tmp_path: Path) -> None:
    bag = RunBag(samples=400)  # as `ros2 bag record -a` beside a session leaves it
    bag.later_starts = [START + 10**9]
    path = bag.write(tmp_path / "several")
    with refused(Malformed, path=str(path)) as one_file:
        read_bag(path)
    (path / "several_1.mcap").write_bytes((path / "several_0.mcap").read_bytes())
    (path / "metadata.yaml").unlink()
    with refused(Malformed, path=str(path)) as two_files:
        read_bag(path)
    assert str(one_file.value) != str(two_files.value)  # what to do differs: it has no other files to name


def test_time_begins_with_the_first_command_and_ends_with_the_planned_duration(whole: Path) -> None:
    recording = read_bag(whole)
    assert recording.time[0] == 0.0
    assert recording.time[-1] == pytest.approx(5.0)
    assert np.allclose(np.diff(recording.time), PERIOD * 1e-9, atol=1e-9)


def test_a_sample_has_the_time_at_which_its_joint_was_read(tmp_path: Path) -> None:
    bag = RunBag()
    bag.read_after = [0.0, 0.0005]  # of the line's other protocol, and of the joint of the run
    recording = read_bag(bag.write(tmp_path / "later"))
    assert recording.time[:2] == pytest.approx([0.0005, 0.0025])


def test_a_bag_of_a_version_without_times_of_their_own_is_read(tmp_path: Path, whole: Path) -> None:
    older = RunBag(without={"bam_bench/msg/ServoStates": ["read_after"]}).write(tmp_path / "older")
    assert np.array_equal(read_bag(older).time, read_bag(whole).time)


def test_the_joint_of_the_run_is_read_and_no_other(whole: Path) -> None:
    recording = read_bag(whole)
    bag = RunBag()
    assert np.array_equal(recording.position, bag.position[250:2751])
    assert np.array_equal(recording.goal_position, bag.goal[250:2751])
    assert np.array_equal(recording.torque_enabled, bag.enabled[250:2751])
    assert (recording.voltage == 14.8).all()
    assert (recording.duty == 0.25).all()


def test_states_that_a_paused_simulation_repeats_count_once(tmp_path: Path, whole: Path) -> None:
    bag = RunBag()
    order = np.sort(np.append(np.arange(bag.samples - 400), np.full(400, 1000)))
    for name in ("stamps", "position", "goal", "enabled"):
        setattr(bag, name, getattr(bag, name)[order])
    recording, without = read_bag(bag.write(tmp_path / "paused")), read_bag(whole)
    assert len(recording) == bag.samples - 400 - 250
    assert np.array_equal(recording.time, without.time[: len(recording)])
    assert np.array_equal(recording.position, without.position[: len(recording)])


def test_another_state_of_the_same_moment_is_refused(tmp_path: Path) -> None:
    bag = RunBag()
    bag.stamps[1001] = bag.stamps[1000]
    with pytest.raises(BamError, match="time"):
        read_bag(bag.write(tmp_path / "twice"))


def test_a_bare_file_reads_like_its_directory(whole: Path) -> None:
    assert np.array_equal(read_bag(whole / "whole_0.mcap").position, read_bag(whole).position)


def test_an_interrupted_bag_is_read_where_it_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bag = RunBag(samples=1500).write(tmp_path / "cut", complete=False)
    data = (bag / "cut_0.mcap").read_bytes()
    (bag / "cut_0.mcap").write_bytes(data[: int(len(data) * 0.6)])
    with caplog.at_level(logging.WARNING):
        (recording,) = load_recordings([bag])
    assert 0.5 < recording.duration < 2.5
    assert np.array_equal(recording.position, RunBag(1500).position[250 : 250 + len(recording)])
    (finding,) = logged(caplog)
    assert isinstance(finding, Interrupted)
    assert finding.kind == "cut"
    assert finding.planned is not None
    assert 0.5 < finding.duration < finding.planned


def truncate(bag: Path, share: float) -> Path:
    (file,) = bag.glob("*.mcap")
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    return file


@pytest.mark.parametrize("share", [0.0, 0.005, 0.3, 0.8])
@pytest.mark.parametrize("named", ["directory", "file"])
def test_a_finished_bag_that_lost_messages_is_a_bad_copy(tmp_path: Path, share: float, named: str) -> None:
    bag = RunBag(samples=1500).write(tmp_path / "copied")
    file = truncate(bag, share)
    with refused(Malformed, path=str(file)) as caught:
        load_recordings([bag if named == "directory" else file])
    told = re.search(r"(\d+) messages are there \(expected the 1501 ", str(caught.value))
    assert told
    assert int(told[1]) < 1501


def test_a_finished_bag_that_lost_a_file_is_a_bad_copy(tmp_path: Path) -> None:
    bag = RunBag(samples=600).write(tmp_path / "split")
    metadata = bag / "metadata.yaml"
    metadata.write_text(metadata.read_text().replace("message_count: 601", "message_count: 1202"))
    with refused(Malformed, path=str(bag)):
        read_bag(bag)


def test_a_bag_that_lost_nothing_but_its_index_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bag = RunBag(samples=600).write(tmp_path / "run")
    size = (bag / "run_0.mcap").stat().st_size
    truncate(bag, 1.0 - 20 / size)
    assert len(read_bag(bag)) == 350
    (finding,) = logged(caplog)
    assert isinstance(finding, Interrupted)
    assert (finding.source, finding.kind) == (bag, "no_index")


@pytest.mark.parametrize("text", ["", "rosbag2_bagfile_information:\n  version: 9\n", "a: [", "[1]"])
def test_metadata_that_is_cut_short_is_named(tmp_path: Path, text: str) -> None:
    bag = RunBag(samples=600).write(tmp_path / "run")
    (bag / "metadata.yaml").write_text(text)
    with refused(Malformed, path=str(bag / "metadata.yaml")):
        read_bag(bag)


def test_a_file_that_metadata_beside_it_does_not_know_is_judged_alone(tmp_path: Path) -> None:
    bag = RunBag(samples=1500).write(tmp_path / "run")
    other = bag / "other.mcap"
    data = (bag / "run_0.mcap").read_bytes()
    other.write_bytes(data[: len(data) // 2])
    assert 100 < len(read_bag(other)) < 1500


def read_beginning_or_refuse(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    refusal = ""
    position = np.empty(0)
    try:
        position = read_bag(path).position
    except BamError as error:
        refusal = str(error)
    assert not refusal or (refusal.startswith(f"{path}: ") and "\n" not in refusal)
    assert np.array_equal(position, RunBag(400).position[250 : 250 + len(position)])


@pytest.mark.long
@given(fraction=st.floats(0.0, 1.0))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_bag_cut_anywhere_gives_its_beginning_or_one_clear_line(
    short: bytes, tmp_path: Path, fraction: float
) -> None:
    read_beginning_or_refuse(tmp_path / "cut.mcap", short[: int(len(short) * fraction)])


@pytest.mark.long
@given(where=st.floats(0.0, 0.9999), flip=st.integers(1, 255))
@settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_flipped_byte_never_changes_the_data_unnoticed(
    short: bytes, tmp_path: Path, where: float, flip: int
) -> None:
    data = bytearray(short)
    data[int(len(data) * where)] ^= flip
    read_beginning_or_refuse(tmp_path / "damaged.mcap", data)


def test_goals_that_the_servo_does_not_report_come_from_the_commands(tmp_path: Path) -> None:
    bag = RunBag(samples=500)
    bag.goal[:] = np.nan
    bag.commands = [(int(START), 0.1), (int(START) + 100_000_001, 0.2)]
    goal = read_bag(bag.write(tmp_path / "run")).goal_position
    assert (goal[:51] == 0.1).all()
    assert (goal[51:] == 0.2).all()


def refuse(bag: RunBag, directory: Path, error: type[BamError], /, **about: object) -> None:
    path = bag.write(directory / "run")
    with refused(error, **about) as caught:
        read_bag(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_a_bag_without_a_description_of_its_run_is_refused(tmp_path: Path) -> None:
    bag = RunBag(samples=50)
    bag.run = {}
    refuse(bag, tmp_path, Malformed)


def test_a_bag_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    bag = RunBag(samples=50)
    bag.run["format"] = 2
    refuse(bag, tmp_path, Malformed)


def test_a_bag_whose_run_ends_before_it_begins_is_refused(tmp_path: Path) -> None:
    bag = RunBag(samples=50)
    bag.run["duration"] = bag.duration(-6.0)
    refuse(bag, tmp_path, OutOfRange, thing="duration")


def test_a_bag_without_states_of_its_joint_names_those_it_has(tmp_path: Path) -> None:
    bag = RunBag(samples=50)
    bag.run["joint"] = "wrist"
    refuse(bag, tmp_path, Missing, thing="states of joint 'wrist'")


def test_a_bag_whose_states_precede_the_run_is_refused(tmp_path: Path) -> None:
    refuse(RunBag(samples=100), tmp_path, BadData, thing="states of joint 'elbow'")


def test_positions_that_are_not_numbers_are_left_out_and_counted(tmp_path: Path) -> None:
    bag = RunBag(samples=500)
    whole = len(read_bag(bag.write(tmp_path / "whole")))
    bag.position[300] = np.nan
    recording = read_bag(bag.write(tmp_path / "bag"))
    assert len(recording) == whole
    np.testing.assert_allclose(recording.position[50], np.mean(recording.position[[49, 51]]), atol=1e-3)
    assert [(part.channel, part.kind, part.samples, part.first) for part in recording.left_out] == [
        ("position", Reason.MISSING, 1, 50)
    ]


def test_what_a_bag_says_of_its_bench_can_be_set_from_outside(tmp_path: Path) -> None:
    bag = RunBag(samples=500).write(tmp_path / "bags" / "bag")
    (tmp_path / "bench.yaml").write_text("rules: [{where: {motor: mx106}, set: {arm_mass: 0.07, vin: 14.8}}]")
    (recording,) = load_recordings(tmp_path, set_fields=["kp=9", "length=0.2", "trajectory=other"])
    assert recording.bench == PendulumBench(mass=0.567, arm_mass=0.07, length=0.2)
    assert (recording.supply_voltage, recording.kp, recording.script) == (14.8, 9.0, "other")
    assert {each.field for each in recording.corrections} == {"arm_mass", "vin", "kp", "length", "trajectory"}
    assert read_bag(bag).corrections == ()


def test_stamps_that_go_back_are_named(tmp_path: Path) -> None:
    bag = RunBag(samples=500)
    bag.stamps[300] = bag.stamps[290]
    refuse(bag, tmp_path, OutOfRange, thing="entry 50, time")


def test_a_negative_mass_is_named_with_its_bag(tmp_path: Path) -> None:
    bag = RunBag(samples=500)
    bag.run["mass"] = -1.0
    refuse(bag, tmp_path, OutOfRange, thing="bench mass", value=-1.0)


def test_what_is_no_mcap_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "noise.mcap"
    path.write_bytes(b"SQLite format 3\0" * 10)
    with refused(Malformed, path=str(path)):
        read_bag(path)


def test_an_empty_file_holds_no_run(tmp_path: Path) -> None:
    (tmp_path / "empty.mcap").touch()
    with refused(Malformed, path=str(tmp_path / "empty.mcap")):
        read_bag(tmp_path / "empty.mcap")
