# SPDX-License-Identifier: Apache-2.0
"""Recordings are found where they are, each once, and nothing else is taken for one."""

from __future__ import annotations

import logging
import shutil
from pathlib import Path

import pytest

from bam_core.errors import BadData, BamError, Malformed, Unreadable
from bam_core.recordings import find_sources, load_recordings, load_usable
from bam_core.recordings.discovery import unique_names
from bam_core.recordings.json_log import NotALogError
from bam_core.text.recording_findings import Interrupted, Repeated
from test.core.finding_cases import logged
from test.core.json_log_cases import log, save
from test.core.refusals import refused
from test.run_bag import RunBag


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Two logs of one name, a bag, an interrupted bag, and files that are no recordings."""
    for place, kp in (("a", 100), ("b/deep", 200)):
        (tmp_path / place).mkdir(parents=True)
        save(tmp_path / place, log(kp=kp))
    RunBag(samples=400).write(tmp_path / "b" / "bag")
    RunBag(samples=400).write(tmp_path / "b" / "cut", complete=False)
    (tmp_path / "summary.json").write_text('{"chosen": "m4"}')
    (tmp_path / "notes.txt").write_text("none")
    (tmp_path / ".hidden").mkdir()
    save(tmp_path / ".hidden", log())
    return tmp_path


def test_a_directory_is_searched_at_any_depth(tree: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        names = [recording.name for recording in load_recordings(tree)]
    assert names == ["a/log", "bag", "deep/log"]
    (finding,) = logged(caplog)
    assert isinstance(finding, Interrupted)
    assert (finding.source.name, finding.kind) == ("cut", "ends_early")
    assert "summary.json: entries: " in caplog.text


def test_a_bag_without_metadata_whose_run_is_whole_is_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    RunBag(samples=3000).write(tmp_path / "whole", complete=False)
    assert [recording.name for recording in load_recordings(tmp_path)] == ["whole"]
    assert caplog.text == ""


def test_a_recording_named_twice_is_counted_once_with_a_note(
    tree: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bag = tree / "b" / "bag"
    (tree / "link").symlink_to(bag)
    sources = find_sources([bag, tree / "a" / ".." / "b" / "bag", tree / "link", tree / "b", tree / "a"])
    assert [finding for finding in logged(caplog) if finding.kind == "given_twice"] == [
        Repeated(kind="given_twice", source=path) for path in (tree / "a/../b/bag", tree / "link", bag)
    ]
    assert [source.path for source in sources] == [
        bag,
        tree / "b" / "deep" / "log.json",
        tree / "a" / "log.json",
    ]


def test_interrupted_bags_and_odd_files_count_where_they_are_named(tree: Path) -> None:
    assert load_recordings(tree / "b" / "cut")[0].name == "cut"
    with refused(NotALogError, path=str(tree / "summary.json")):
        load_recordings(tree / "summary.json")


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("nowhere", Unreadable),
        ("notes.txt", Malformed),
        ("empty", Malformed),
        ("nothing.csv", Malformed),
        ("interrupted", Malformed),
        ("sqlite", Malformed),
        ("no_logs", Malformed),
    ],
)
def test_a_path_that_leads_nowhere_is_named(tree: Path, path: str, kind: type[BamError]) -> None:
    for directory in ("empty", "interrupted", "sqlite", "no_logs"):
        (tree / directory).mkdir()
    shutil.copytree(tree / "b" / "cut", tree / "interrupted" / "cut")
    (tree / "sqlite" / "metadata.yaml").touch()
    (tree / "nothing.csv").touch()
    shutil.copy(tree / "summary.json", tree / "no_logs")
    with refused(kind, path=str(tree / path)):
        load_recordings([tree / path])


def test_a_bag_without_data_is_refused_wherever_a_search_meets_it(tree: Path) -> None:
    (tree / "b" / "bag" / "bag_0.mcap").unlink()
    with refused(Malformed, path=str(tree / "b" / "bag")):
        load_recordings(tree)


def test_the_same_data_under_two_names_counts_once_with_a_note(
    tree: Path, caplog: pytest.LogCaptureFixture
) -> None:
    copy = tree / "b" / "renamed.json"
    shutil.copy(tree / "a" / "log.json", copy)
    bag = tree / "b" / "bag"
    recordings = load_recordings([tree / "a", bag, copy, bag / "bag_0.mcap"])
    assert [recording.source for recording in recordings] == [tree / "a" / "log.json", bag]
    assert logged(caplog) == [
        Repeated(kind="same_data", source=copy, duplicate_of=tree / "a" / "log.json"),
        Repeated(kind="same_data", source=bag / "bag_0.mcap", duplicate_of=bag),
    ]


def test_an_arm_that_never_moves_is_read(tree: Path) -> None:
    content = log()
    for entry in content["entries"]:
        entry["position"] = 0.25
    path = save(tree / "a", content)
    assert [recording.position.max() for recording in load_recordings(path)] == [0.25]


def test_no_paths_is_a_mistake() -> None:
    with refused(BadData, thing="recordings"):
        load_recordings([])


def test_names_are_as_short_as_they_can_be_and_distinct() -> None:
    paths = [
        Path(p) for p in ("x/a/run.json", "y/a/run.json", "x/b/run.mcap", "x/b/run.json", "x/v1.5", "z.json")
    ]
    names = unique_names(paths)
    assert names == ["x/a/run", "y/a/run", "run.mcap", "run.json", "v1.5", "z"]


def test_one_damaged_log_is_left_out_and_named(tree: Path, caplog: pytest.LogCaptureFixture) -> None:
    names = [recording.name for recording in load_recordings(tree)]
    (tree / "a" / "log.json").write_text('{"mass": 0.4')
    loaded = load_usable(tree)
    (excluded,) = loaded.excluded
    assert [recording.name for recording in loaded.recordings] == [
        name for name in names if name != excluded.name
    ]
    assert excluded.reason.startswith(f"{tree / 'a' / 'log.json'}: ")
    assert caplog.text.count(excluded.reason) == 1
    with refused(Malformed, path=str(tree / "a" / "log.json")):
        load_recordings(tree, strict=True)


def test_runs_of_a_robot_name_the_commands_that_read_them(tmp_path: Path) -> None:
    (tmp_path / "run.csv").write_text("time,goal:a,read:a\n")
    with pytest.raises(Malformed) as caught:
        load_recordings(tmp_path)
    assert "robot identify" in caught.value.advice
