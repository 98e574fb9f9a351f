# SPDX-License-Identifier: Apache-2.0
"""A map gives columns and joints of a recording their names in the description."""

from __future__ import annotations

import pytest

from bam_core.errors import Conflict, Missing, OutOfRange, UnknownName
from bam_core.recordings.recording_map import JointMap, Joints, RecordingMap
from test.core.refusals import refused


def joints(**entries: JointMap | None) -> RecordingMap:
    return RecordingMap(joints=Joints(entries))


def test_a_joint_without_an_entry_keeps_its_name() -> None:
    pan, lift = JointMap(name="shoulder_pan"), JointMap(name="lift", sign=-1.0, zero=0.1)
    assert joints(Rotation=pan, lift=lift).joint_maps(["lift", "Rotation", "jaw"]) == [
        lift,
        pan,
        JointMap(name="jaw"),
    ]


def test_a_star_stands_for_the_same_on_both_sides() -> None:
    of_pattern = RecordingMap(joints=Joints({"main_*": JointMap(name="left_*", sign=-1.0)}))
    assert of_pattern.joint_maps(["main_pan", "main_lift"]) == [
        JointMap(name="left_pan", sign=-1.0),
        JointMap(name="left_lift", sign=-1.0),
    ]


def test_an_own_entry_counts_more_than_a_pattern() -> None:
    both = RecordingMap(joints=Joints({"main_*": JointMap(name="*"), "main_jaw": None}))
    assert both.joint_maps(["main_pan", "main_jaw"]) == [JointMap(name="pan"), None]


def test_an_entry_is_read_the_other_way_round_where_only_so_it_fits() -> None:
    """Key or `name` may be the recording's; sign and zero mean the same."""
    entry = joints(shoulder_pan=JointMap(name="Rotation", sign=-1.0, zero=0.1))
    assert entry.joint_maps(["shoulder_pan"]) == [JointMap(name="Rotation", sign=-1.0, zero=0.1)]
    assert entry.joint_maps(["Rotation"]) == [JointMap(name="shoulder_pan", sign=-1.0, zero=0.1)]


def test_names_may_be_swapped() -> None:
    swapped = joints(a=JointMap(name="b"), b=JointMap(name="a"))
    assert swapped.joint_maps(["a", "b"]) == [JointMap(name="b"), JointMap(name="a")]


def test_a_joint_that_was_not_recorded_is_named_unless_it_is_left_out() -> None:
    with refused(UnknownName, name="lifft"):
        joints(lifft=JointMap(name="shoulder_lift")).joint_maps(["lift", "pan"])
    assert len(joints(jaw=None).joint_maps(["lift", "pan"])) == 2


def test_two_recorded_joints_are_not_one() -> None:
    with refused(Conflict):
        joints(a=JointMap(name="b")).joint_maps(["a", "b"])
    with refused(Missing):
        joints(a=None).joint_maps(["a"])


def test_columns_are_looked_up_by_name_and_pattern() -> None:
    columns = RecordingMap(columns={"time": "t", "read:*": "q_*"})
    assert columns.column_names(["t", "q_pan", "q_lift", "u"]) == {
        "time": "t",
        "read:pan": "q_pan",
        "read:lift": "q_lift",
    }
    with refused(UnknownName, name="t"):
        columns.column_names(["time", "q_pan"])


@pytest.mark.parametrize(
    "fields",
    [
        {"unit": "grad"},
        {"time_unit": "min"},
        {"topics": {"effort": "/x"}},
    ],
)
def test_an_unknown_unit_or_kind_of_topic_is_named(fields: dict[str, object]) -> None:
    with refused(UnknownName):
        RecordingMap(**fields)  # type: ignore[arg-type]


def test_stars_come_in_pairs() -> None:
    with refused(Conflict):
        RecordingMap(columns={"read:*": "q"})
    with refused(Conflict):
        RecordingMap(joints=Joints({"main": JointMap(name="left_*")}))


@pytest.mark.parametrize("fields", [{"sign": 0.5}, {"sign": 0.0}, {"zero": 90.0}, {"zero": float("nan")}])
def test_a_sign_is_one_and_a_zero_an_angle(fields: dict[str, float]) -> None:
    with refused(OutOfRange):
        JointMap(name="a", **fields)
