# SPDX-License-Identifier: Apache-2.0
"""What follows every event in every state of a joint, as a table."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_ros.driver.joint_states import APPLIED, JointEvent, JointMode, JointState, joint_transition

PAGE = Path(__file__).parents[3] / "docs" / "safety.md"

TABLE = """
| commands ask for | applied | off limits | silent | asking | stopped |
| --- | --- | --- | --- | --- | --- |
| torque on | applied | off limits | applied | applied | applied |
| torque on, off limits | off limits | off limits | off limits | off limits | off limits |
| torque off | applied | applied | applied | applied | applied |
| ended, torque on | silent | silent | silent | silent | silent |
| ended | applied | applied | silent | applied | applied |
| torque on, fault | asking | asking | asking | asking | asking |
| torque off, fault | applied | applied | applied | applied | applied |
| fault of its group | stopped | stopped | stopped | stopped | stopped |
""".strip()


def rows() -> dict[str, list[str]]:
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE.splitlines()]
    return {line[0]: line[1:] for line in lines if line[0] != "---"}


def in_mode(mode: JointMode) -> JointState:
    return APPLIED if mode is JointMode.APPLIED else JointState(mode, "of before")


def test_the_table_has_every_mode_and_every_event() -> None:
    head, *events = rows()
    assert rows()[head] == [mode.value for mode in JointMode]
    assert events == [event.value for event in JointEvent]


@pytest.mark.parametrize("mode", JointMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("event", JointEvent, ids=lambda event: event.value)
def test_what_follows_an_event(event: JointEvent, mode: JointMode) -> None:
    after = joint_transition(in_mode(mode), event, "new")
    assert after.mode.value == rows()[event.value][list(JointMode).index(mode)]


STAYS = {
    (JointMode.OFF_LIMITS, JointEvent.ON),
    (JointMode.OFF_LIMITS, JointEvent.ON_OFF_LIMITS),
    (JointMode.SILENT, JointEvent.ENDED),
}


@pytest.mark.parametrize("mode", JointMode, ids=lambda mode: mode.value)
@pytest.mark.parametrize("event", JointEvent, ids=lambda event: event.value)
def test_a_state_that_begins_gets_the_new_reason_and_one_that_lasts_keeps_its_own(
    event: JointEvent, mode: JointMode
) -> None:
    after = joint_transition(in_mode(mode), event, "new")
    reason = "" if after.mode is JointMode.APPLIED else "of before" if (mode, event) in STAYS else "new"
    assert after.reason == reason


def test_the_page_has_the_same_table() -> None:
    assert TABLE in PAGE.read_text(encoding="utf-8")
