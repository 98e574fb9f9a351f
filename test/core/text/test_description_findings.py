# SPDX-License-Identifier: Apache-2.0
"""What is reported about a robot's description, in words."""

from __future__ import annotations

from bam_core.text.description_findings import GoalsBeyondRange, StartContacts


def test_links_that_only_touch_have_no_depth() -> None:
    touching = StartContacts(robot="arm", pairs=(("base", "boom"),), depth=3e-17)
    assert touching.sentences[1] == "They touch where the robot starts or was measured."
    overlapping = StartContacts(robot="arm", pairs=(("base", "boom"),), depth=0.03)
    assert overlapping.sentences[1] == "They overlap by up to 30 mm where the robot starts or was measured."


def test_a_goal_beyond_its_range_is_named_with_both() -> None:
    finding = GoalsBeyondRange(file="motion.csv", joint="yaw", goal=30.0, low=-2.0, high=2.0)
    assert finding.sentences[:2] == (
        "motion.csv: goals of yaw reach 30 rad.",
        "Its range is -2 to 2 rad, and its servo stops at the end.",
    )
