# SPDX-License-Identifier: Apache-2.0
"""Interrupted and damaged bags become whole ones with every message that is left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from bam_core.cli import main
from bam_core.errors import BadData, Malformed, Unreadable
from bam_core.recordings import load_recordings, read_bag
from bam_core.recordings.bag_repair import damage, find_bags, repair_bag
from test.core.refusals import refused
from test.run_bag import RunBag

_CHUNK = 6
"""Opcode of MCAP."""


def interrupted(directory: Path, share: float = 0.6, samples: int = 1500) -> Path:
    """Write what a recorder that was killed leaves."""
    bag = RunBag(samples).write(directory, complete=False)
    (file,) = bag.glob("*.mcap")
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    return bag


def messages(bag: Path) -> list[tuple[str, int, bytes]]:
    with AnyReader([bag]) as reader:
        return [(connection.topic, stamp, bytes(raw)) for connection, stamp, raw in reader.messages()]


@pytest.mark.parametrize("named", ["directory", "file"])
def test_every_message_that_is_left_is_in_the_new_bag_and_any_reader_reads_it(
    tmp_path: Path, named: str
) -> None:
    bag = interrupted(tmp_path / "cut")
    whole = messages(RunBag(1500).write(tmp_path / "whole"))
    source = bag if named == "directory" else next(bag.glob("*.mcap"))
    found = repair_bag(source, tmp_path / "new" / "cut")
    left = messages(tmp_path / "new" / "cut")
    assert len(left) == found.messages
    assert 500 < len(left) < 1400
    assert left == whole[: len(left)]
    assert found.topics == 2
    assert found.duration == pytest.approx((left[-1][1] - left[0][1]) * 1e-9)
    assert "cut off" in found.problem
    assert damage(tmp_path / "new" / "cut") == ""


def test_types_and_qos_stay(tmp_path: Path) -> None:
    bag = interrupted(tmp_path / "cut")
    repair_bag(bag, tmp_path / "new")
    RunBag(10).write(tmp_path / "whole")
    with AnyReader([tmp_path / "new"]) as new, AnyReader([tmp_path / "whole"]) as whole:
        kinds = {each.topic: (each.msgtype, each.digest) for each in whole.connections}
        assert {each.topic: (each.msgtype, each.digest) for each in new.connections}.items() <= kinds.items()


def test_a_repaired_recording_reads_like_the_interrupted_one(tmp_path: Path) -> None:
    bag = interrupted(tmp_path / "cut")
    repair_bag(bag, tmp_path / "new")
    assert np.array_equal(read_bag(tmp_path / "new").position, read_bag(bag).position)


def test_a_bag_that_lacks_its_metadata_only_loses_nothing(tmp_path: Path) -> None:
    bag = RunBag(600).write(tmp_path / "run")
    before = messages(bag)
    (bag / "metadata.yaml").unlink()
    assert damage(bag) == "metadata.yaml is missing"
    repair_bag(bag, tmp_path / "new")
    assert messages(tmp_path / "new") == before


@pytest.mark.parametrize("text", ["", "a: ["])
def test_metadata_that_is_cut_short_is_written_anew(tmp_path: Path, text: str) -> None:
    bag = RunBag(600).write(tmp_path / "run")
    before = messages(bag)
    (bag / "metadata.yaml").write_text(text)
    assert "metadata.yaml" in damage(bag)
    repair_bag(bag, tmp_path / "new")
    assert messages(tmp_path / "new") == before


def test_what_comes_before_damaged_bytes_is_kept(tmp_path: Path) -> None:
    bag = RunBag(1500).write(tmp_path / "run")
    before = messages(bag)
    (file,) = bag.glob("*.mcap")
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 0xFF
    file.write_bytes(data)
    with refused(Malformed, path=str(file)):
        read_bag(bag)
    found = repair_bag(bag, tmp_path / "new")
    assert 300 < found.messages < 1500
    assert messages(tmp_path / "new") == before[: found.messages]
    assert "damaged" in found.problem


def test_a_bag_of_several_files_becomes_one(tmp_path: Path) -> None:
    first = RunBag(300).write(tmp_path / "run")
    other = RunBag(200).write(tmp_path / "other")
    (other / "other_0.mcap").rename(first / "run_1.mcap")
    (first / "metadata.yaml").unlink()
    assert repair_bag(first, tmp_path / "new").messages == 301 + 201


@pytest.mark.parametrize("place", ["day/cut", "day", "."])
def test_a_bench_yaml_in_or_above_the_bag_goes_with_it(place: str, tmp_path: Path) -> None:
    bag = interrupted(tmp_path / "old/day/cut")
    (tmp_path / "old" / place / "bench.yaml").write_text("set: {mass: 0.3}")
    repair_bag(bag, tmp_path / "new")
    assert load_recordings([tmp_path / "new"])[0].bench.mass == 0.3


@pytest.mark.parametrize("size", [0, 200])
def test_where_nothing_is_left_that_is_said(tmp_path: Path, size: int) -> None:
    bag = RunBag(100).write(tmp_path / "run", complete=False)
    (file,) = bag.glob("*.mcap")
    file.write_bytes(file.read_bytes()[:size])
    with refused(BadData, thing=str(bag)):
        repair_bag(bag, tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_what_is_no_bag_is_refused(tmp_path: Path) -> None:
    (tmp_path / "noise.mcap").write_bytes(b"SQLite format 3\0" * 10)
    with refused(Malformed, path=str(tmp_path / "noise.mcap")):
        damage(tmp_path / "noise.mcap")
    (tmp_path / "text.txt").write_text("hello")
    with refused(Malformed, path=str(tmp_path / "text.txt")):
        find_bags([tmp_path / "text.txt"])
    with refused(Unreadable, path=str(tmp_path / "nowhere")):
        find_bags([tmp_path / "nowhere"])
    (tmp_path / "empty").mkdir()
    with refused(Malformed, path=str(tmp_path / "empty")):
        find_bags([tmp_path / "empty"])


def test_the_command_repairs_all_bags_below_a_directory_that_need_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    interrupted(tmp_path / "bags" / "one")
    interrupted(tmp_path / "bags" / "two" / "one", 0.4)
    RunBag(600).write(tmp_path / "bags" / "whole")
    assert main(["import", "--repair", str(tmp_path / "bags"), "--output", str(tmp_path / "new")]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in said] == [
        f"wrote {tmp_path / 'new' / 'bags' / 'one'}",
        f"wrote {tmp_path / 'new' / 'two' / 'one'}",
    ]
    for bag in (tmp_path / "new" / "bags" / "one", tmp_path / "new" / "two" / "one"):
        assert len(load_recordings([bag])) == 1


def test_the_command_overwrites_nothing_and_says_where_nothing_is_to_be_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bag = interrupted(tmp_path / "cut")
    command = ["import", "--repair", str(bag), "--output", str(tmp_path / "new")]
    assert main(command) == 0
    assert main(command) == 2
    assert "exists already" in capsys.readouterr().err
    whole = ["import", "--repair", str(tmp_path / "new" / "cut"), "--output", str(tmp_path / "other")]
    assert main(whole) == 2
    assert "every bag is whole" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()
    assert main([*command, "--servo", "mx106"]) == 2


def test_a_message_of_a_channel_that_is_not_described_ends_what_is_read(tmp_path: Path) -> None:
    bag = RunBag(1500).write(tmp_path / "run")
    before = messages(bag)
    (file,) = bag.glob("*.mcap")
    data = file.read_bytes()
    end = 8  # of the magic
    while data[end] != _CHUNK:
        end += 9 + int.from_bytes(data[end + 1 : end + 9], "little")
    end += 9 + int.from_bytes(data[end + 1 : end + 9], "little")
    message = (99).to_bytes(2, "little") + bytes(4 + 8 + 8)  # channel; sequence and times
    file.write_bytes(data[:end] + b"\x05" + len(message).to_bytes(8, "little") + message + data[end:])
    with refused(Malformed, path=str(file)):
        read_bag(bag)
    found = repair_bag(bag, tmp_path / "new")
    assert found.messages == len(messages(tmp_path / "new"))
    assert 0 < found.messages < len(before)
    assert set(messages(tmp_path / "new")) < set(before)
    assert "channel 99" in found.problem
