# SPDX-License-Identifier: Apache-2.0
"""The result of a robot's identification, in words."""

from __future__ import annotations

from bam_core.text.robot_result_findings import NarrowBands, RobotErrors


def test_errors_have_their_factor() -> None:
    worse = RobotErrors(kind="worse_than_fitted", factor=4.04)
    assert worse.sentences[0] == "Test runs are followed 4.0 times worse than fitted ones."
    passed_on = RobotErrors(kind="errors_passed_on", factor=2.5)
    assert passed_on.sentences[0] == "The whole robot's error is 2.5 times that of one joint at a time."


def test_narrow_bands_have_their_share_and_up_to_three_runs() -> None:
    few = NarrowBands(runs=("soft", "softer"), shares=(0.73, 0.675), total=3)
    assert few.sentences[0] == "90 % bands hold only 68 % to 73 % of the samples of soft, softer."
    many = NarrowBands(runs=tuple("abcd"), shares=(0.7,) * 4, total=8)
    assert many.sentences[0] == "90 % bands hold only 70 % of the samples of 4 of 8 test runs."
