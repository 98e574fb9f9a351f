# SPDX-License-Identifier: Apache-2.0
"""Gains of all joints or of each: read from options, laid over one another, checked."""

from __future__ import annotations

import math

import pytest

from bam_core.errors import OutOfRange, UnknownName, WrongType
from bam_core.servo.gains import Gain, gain_from_text, gain_of, gain_text, over, require_gain


@pytest.mark.parametrize(
    ("text", "gain"), [("32", 32.0), ("pan=8,lift=32", {"pan": 8.0, "lift": 32.0}), ("l_*=8", {"l_*": 8.0})]
)
def test_a_gain_is_read_from_an_option_and_written_as_one(text: str, gain: Gain) -> None:
    assert gain_from_text("--kp", text) == gain
    assert gain_text(gain) == text


@pytest.mark.parametrize("text", ["", "abc", "pan=", "pan=8,", "=8", "pan=8,lift", "pan=a"])
def test_text_that_is_no_gain_is_refused(text: str) -> None:
    with pytest.raises(WrongType, match="--kp"):
        gain_from_text("--kp", text)


def test_a_name_counts_more_than_a_pattern_and_a_later_pattern_more_than_one_before() -> None:
    gain = {"left_knee": 1.0, "*": 2.0, "left_*": 3.0}
    assert [gain_of(gain, joint) for joint in ("left_knee", "head", "left_hip")] == [1.0, 2.0, 3.0]
    assert gain_of({"a": 1.0}, "b") is None
    assert gain_of(5.0, "b") == 5.0


def test_gains_of_some_joints_override_those_of_all() -> None:
    joints = ("pan", "lift")
    assert over(16.0, {"pan": 8.0}, joints, "run") == {"pan": 8.0, "lift": 16.0}
    assert over({"pan": 8.0}, 32.0, joints, "run") == 32.0
    assert over(16.0, {"*": 8.0}, joints, "run") == 8.0  # one number where all are alike
    assert over(None, {"pan": 8.0}, joints, "run") == {"pan": 8.0}
    assert over(None, None, joints, "run") is None
    with pytest.raises(UnknownName, match="elbow"):
        over(16.0, {"elbow": 8.0}, joints, "run")


@pytest.mark.parametrize(
    ("gain", "name"),
    [
        (0.0, "kp"),
        (-1.0, "kd"),
        (math.inf, "kd"),
        (math.nan, "kp"),
        ({"a": 8.0, "b": -1.0}, "kp"),
        (1e9, "kp"),
    ],
)
def test_gains_that_no_servo_has_are_refused(gain: Gain, name: str) -> None:
    with pytest.raises(OutOfRange, match=r"^run"):
        require_gain("run", gain, name)


def test_a_derivative_gain_may_be_zero() -> None:
    require_gain("run", 0.0, "kd")
