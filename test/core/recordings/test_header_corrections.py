# SPDX-License-Identifier: Apache-2.0
"""Header fields set by bench.yaml and by words of a command."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.errors import BamError, Conflict, Malformed, Missing, OutOfRange, UnknownName, WrongType
from bam_core.recordings.header_corrections import apply_rules, rules_above, rules_from

HEADER = {"mass": 0.5, "length": 0.1, "vin": 15.0, "motor": "sts3215", "entries": []}
BENCH = """
set: {vin: 12.0}
rules:
  - {where: {length: 0.1}, set: {arm_mass: 0.036}}
  - {where: {length: 0.15, motor: sts3215}, set: {arm_mass: 0.05}}
"""


def test_a_field_that_is_given_twice_is_refused() -> None:
    with pytest.raises(Conflict, match="--set vin: is given twice"):
        rules_from(["vin=9", "vin=12"])


def test_fields_are_set_where_rules_say_so_and_what_changed_is_told(tmp_path: Path) -> None:
    (tmp_path / "bench.yaml").write_text(BENCH)
    rules = rules_above(tmp_path / "deeper" / "log.json")
    header, changed = apply_rules(HEADER, rules)
    assert header == {**HEADER, "vin": 12.0, "arm_mass": 0.036}
    assert [(each.field, each.before, each.value) for each in changed] == [
        ("vin", 15.0, 12.0),
        ("arm_mass", None, 0.036),
    ]
    assert {each.source for each in changed} == {str(tmp_path / "bench.yaml")}
    longer, _ = apply_rules({**HEADER, "length": 0.15}, rules)
    assert longer["arm_mass"] == 0.05
    assert "arm_mass" not in apply_rules({**HEADER, "length": 0.2}, rules)[0]


def test_the_nearest_file_wins_and_words_of_a_command_before_all(tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    (tmp_path / "bench.yaml").write_text("set: {vin: 12.0, kp: 8}")
    (inner / "bench.yaml").write_text("set: {vin: 11.5}")
    rules = rules_above(inner / "log.json")
    assert apply_rules(HEADER, rules)[0]["vin"] == 11.5
    assert apply_rules(HEADER, rules)[0]["kp"] == 8.0
    words = rules_from(["vin=11", "motor=sts3250"])
    header, changed = apply_rules(HEADER, (*rules, *words))
    assert (header["vin"], header["motor"]) == (11.0, "sts3250")
    assert {each.source for each in changed if each.field == "vin"} == {"--set"}


def test_rules_see_what_was_set_before() -> None:
    rules = (*rules_from(["length=0.2"]), *rules_from([]))
    assert apply_rules(HEADER, rules)[0]["length"] == 0.2
    assert apply_rules(HEADER, rules_from(["vin=15.0"]))[1] == []  # it says so already


def test_a_file_that_is_edited_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "bench.yaml"
    path.write_text("set: {vin: 12.0}")
    assert rules_above(tmp_path / "a.json")[0].set == {"vin": 12.0}
    path.write_text("set: {vin: 7.4}")
    assert rules_above(tmp_path / "a.json")[0].set == {"vin": 7.4}


def test_a_gain_may_be_of_joints_and_stands_beside_set_or_in_it(tmp_path: Path) -> None:
    (tmp_path / "bench.yaml").write_text("kp: {elbow: 32, wrist_*: 8}\nkd: 4\nset: {vin: 12}\n")
    (rule,) = rules_above(tmp_path / "a.json")
    assert rule.set == {"vin": 12.0, "kp": {"elbow": 32.0, "wrist_*": 8.0}, "kd": 4.0}
    header, _ = apply_rules({"joint": "wrist_roll", "kp": 16.0}, [rule])
    assert (header["kp"], header["kd"]) == (8.0, 4.0)
    header, _ = apply_rules({"joint": "base", "kp": 16.0}, [rule])
    assert header["kp"] == 16.0


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("kp: {elbow: x}", WrongType),
        ("kp: {elbow: -1}", OutOfRange),
        ("kp: {}", WrongType),
        ("kd: stiff", WrongType),
        ("set: [1", Malformed),
        ("- 1", WrongType),
        ("sets: {vin: 12}", UnknownName),
        ("set: {voltage: 12}", UnknownName),
        ("set: {}", WrongType),
        ("set: {vin: twelve}", WrongType),
        ("set: {vin: -1}", OutOfRange),
        ("set: {vin: .nan}", OutOfRange),
        ("set: {motor: 3}", WrongType),
        ("rules: {where: 1}", WrongType),
        ("rules: [{set: {vin: 12}}]", Missing),
        ("rules: [{where: {vin: 12}}]", Missing),
    ],
)
def test_what_no_header_has_is_refused_with_the_file(text: str, kind: type[BamError], tmp_path: Path) -> None:
    path = tmp_path / "bench.yaml"
    path.write_text(text)
    with pytest.raises(kind) as caught:
        rules_above(tmp_path / "a.json")
    assert str(caught.value).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("word", "kind"),
    [("vin", WrongType), ("vin=", WrongType), ("supply=12", UnknownName), ("vin=-3", OutOfRange)],
)
def test_words_that_set_nothing_are_refused(word: str, kind: type[BamError]) -> None:
    with pytest.raises(kind):
        rules_from([word])


def test_fields_may_be_given_as_a_mapping() -> None:
    (rule,) = rules_from({"vin": 12.0, "motor": "sts3250"})
    assert (rule.set, rule.source) == ({"vin": 12.0, "motor": "sts3250"}, "set_fields")
    assert rules_from({}) == ()
    with pytest.raises(UnknownName):
        rules_from({"supply": 12.0})
    with pytest.raises(OutOfRange):
        rules_from({"vin": -3.0})
