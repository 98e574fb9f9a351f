# SPDX-License-Identifier: Apache-2.0
"""The map of a recording is that of `--map`, else that of the nearest bench.yaml."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.errors import BamError, Conflict, Missing, UnknownName, Unreadable, WrongType
from bam_core.recordings.map_file import map_names, recording_map_for, rules_of_map
from bam_core.recordings.recording_map import NO_MAP, JointMap
from test.core.refusals import refused

CONTRACT = """\
map:
  columns: {time: t, "read:shoulder": q0}
  topics: {goal: /my/commands}
  joints: {shoulder_pan: {name: Rotation, sign: -1, zero: 0.1}}
  unit: rad
  time_unit: us
set: {vin: 12.0}
"""


def bench_yaml(directory: Path, text: str) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "bench.yaml").write_text(text)
    return directory / "run.csv"


def test_a_bench_yaml_holds_a_map_beside_header_fields(tmp_path: Path) -> None:
    found = recording_map_for(bench_yaml(tmp_path, CONTRACT))
    assert found.columns == {"time": "t", "read:shoulder": "q0"}
    assert found.topics == {"goal": "/my/commands"}
    assert found.joints == {"shoulder_pan": JointMap(name="Rotation", sign=-1.0, zero=0.1)}
    assert (found.unit, found.time_unit) == ("rad", "us")
    assert found.source == str(tmp_path / "bench.yaml")


def test_the_nearest_map_counts_alone(tmp_path: Path) -> None:
    bench_yaml(tmp_path, CONTRACT)
    path = bench_yaml(tmp_path / "a", "map: {unit: deg}\n")
    assert recording_map_for(path).columns == {}
    assert recording_map_for(bench_yaml(tmp_path / "b", "set: {vin: 7.4}\n")).time_unit == "us"


def test_a_file_of_the_option_counts_instead_with_all_that_it_holds(tmp_path: Path) -> None:
    path = bench_yaml(tmp_path / "runs", CONTRACT)
    file = tmp_path / "mine.yaml"
    file.write_text("map: {unit: deg, joints: {a: b}}\nset: {kp: 32}\n")
    found = recording_map_for(path, [str(file)])
    assert (found.unit, found.joints) == ("deg", {"a": JointMap(name="b")})
    assert [dict(rule.set) for rule in rules_of_map([str(file)])] == [{"kp": 32.0}]
    assert rules_of_map([]) == ()


def test_words_change_joints_of_either(tmp_path: Path) -> None:
    path = bench_yaml(tmp_path, CONTRACT)
    words = ["main_*=*", "lift=-lift+0.12", "joint-1=joint-1", "elbow=elbow-.5"]
    found = recording_map_for(path, words)
    assert found.time_unit == "us"
    assert dict(found.joints) == {
        "shoulder_pan": JointMap(name="Rotation", sign=-1.0, zero=0.1),
        "main_*": JointMap(name="*"),
        "lift": JointMap(name="lift", sign=-1.0, zero=0.12),
        "joint-1": JointMap(name="joint-1"),
        "elbow": JointMap(name="elbow", zero=-0.5),
    }


def test_maps_that_come_with_the_suite_have_names() -> None:
    assert "sage_so101" in map_names()
    for name in map_names():
        found = recording_map_for(Path("run.csv"), [name])
        assert found != NO_MAP
        assert not found.is_strict


def test_without_any_there_is_none(tmp_path: Path) -> None:
    assert recording_map_for(tmp_path / "run.csv") == NO_MAP


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["sage_so100"], UnknownName),
        (["nowhere.yaml"], Unreadable),
        (["sage_so101", "mine.yaml"], Conflict),
        (["lift="], WrongType),
        (["=lift"], WrongType),
        (["lift=lift+much"], WrongType),
    ],
)
def test_a_word_that_is_no_map_is_refused(words: list[str], kind: type[BamError]) -> None:
    with refused(kind):
        recording_map_for(Path("run.csv"), words)


@pytest.mark.parametrize(
    "text",
    [
        "map: {colums: {time: t}}",
        "map: 3",
        "map: {joints: [a, b]}",
        "map: {joints: {a: 3}}",
        "map: {joints: {a: {sgn: -1}}}",
        "map: {joints: {a: {sign: two}}}",
        "map: {joints: {a: {sign: 2}}}",
        "map: {columns: {time: 3}}",
        "map: {order: a}",
        "map: {unit: turns}",
        "map: {topics: {effort: /x}}",
        'map: {columns: {"read:*": q}}',
    ],
)
def test_a_wrong_map_is_refused_with_its_file(tmp_path: Path, text: str) -> None:
    path = bench_yaml(tmp_path, text)
    with pytest.raises(BamError) as caught:
        recording_map_for(path)
    assert str(tmp_path / "bench.yaml") in str(caught.value)


def test_a_file_without_a_map_is_none(tmp_path: Path) -> None:
    bench_yaml(tmp_path, "set: {kp: 32}\n")
    with refused(Missing):
        recording_map_for(tmp_path / "run.csv", [str(tmp_path / "bench.yaml")])
