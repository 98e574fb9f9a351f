# SPDX-License-Identifier: Apache-2.0
"""What a whole robot's joint log contradicts, in words."""

from __future__ import annotations

from bam_core.text.whole_body_findings import ContactMismatch, LostSamples, RankDeficit, UnevenSamples

SOLES = ("right_sole", "left_sole")


def test_a_contradicted_contact_is_named_with_time_figures_and_cure() -> None:
    swapped = ContactMismatch(
        kind="other_stands", contacts=SOLES, unexplained=31.26, compared=2.04, span=(1.2, 1.524)
    )
    assert swapped.sentences == (
        "Contacts from 1.200 to 1.524 s: 'right_sole' stands by its flag, but torques are those of "
        "standing on 'left_sole'.",
        "Unexplained torque: 31.3 N·m, 2.0 N·m with the other foot.",
        "Check the flags.",
    )
    sample = ContactMismatch(kind="swinging_rests", contacts=SOLES[:1], speed=0.012, height=0.0021)
    assert (
        sample.sentences[0] == sample.statement == "'right_sole' swings by its flag, but rests on the ground."
    )
    assert sample.sentences[1] == "It is 2.1 mm above the ground, at 0.012 m/s."


def test_efforts_of_another_motion_have_their_own_cure() -> None:
    other = ContactMismatch(kind="other_motion", contacts=SOLES, unexplained=30.0, compared=9.0)
    assert "unit and sign" in other.cure
    assert other.statement.endswith("on right_sole and left_sole.")


def test_samples_that_are_not_used_are_counted() -> None:
    assert LostSamples(lost=1, gaps=1).sentences[0] == "Joint log: 1 sample missing in 1 gap."
    assert "by 12 % of the period" in UnevenSamples(unevenness=0.12).sentence
    fixed = RankDeficit(contacts=(), rank=1, joints=2, unidentifiable=("a", "b"))
    assert fixed.sentences == (
        "On a fixed base, accelerations determine 1 of 2 friction torques.",
        "Not identifiable: a, b.",
    )
