# SPDX-License-Identifier: Apache-2.0
"""Contact states by time: they hold until the next one, and changes cast their shadows both ways."""

from __future__ import annotations

import pytest

from bam_core.errors import UnknownName
from bam_core.whole_body.contact_times import ContactTimes
from test.core.refusals import refused


def times() -> ContactTimes:
    """Two feet until 1.0 s, the left one alone until 2.0 s."""
    found = ContactTimes(("right", "left"))
    found.report(0.0, {"right": True, "left": True})
    found.report(1.0, {"right": False})
    found.report(2.0, {"right": True})
    return found


def test_a_state_holds_until_the_next_one() -> None:
    assert times().standing(0.5) == ("right", "left")
    assert times().standing(1.0) == times().standing(1.999) == ("left",)
    assert times().standing(9.0) == ("right", "left")


def test_what_was_not_said_yet_is_not_known() -> None:
    assert times().standing(-0.1) is None
    assert ContactTimes(("right",)).standing(0.0) is None
    assert ContactTimes(("right", "left")).unreported == ("right", "left")


@pytest.mark.parametrize(("time", "known"), [(1.09, False), (1.11, True), (1.94, True), (1.96, False)])
def test_changes_are_kept_away_from(time: float, known: bool) -> None:
    assert (times().standing(time, after=0.1, before=0.05) == ("left",)) is known
    assert (times().standing(time, after=0.1, before=0.05) is None) is not known


def test_the_first_state_may_be_a_change() -> None:
    assert times().standing(0.01, after=0.1) is None
    assert times().standing(0.11, after=0.1) == ("right", "left")


def test_a_state_that_is_said_again_is_no_change() -> None:
    again = times()
    again.report(1.5, {"right": False, "left": True})
    again.report(1.6, {"right": False})
    assert again.standing(1.61, after=0.5) == ("left",)


def test_a_state_for_an_earlier_time_replaces_the_later_ones() -> None:
    corrected = times()
    corrected.report(1.8, {"right": True})
    assert corrected.standing(1.7) == ("left",)
    assert corrected.standing(1.9) == ("right", "left")


def test_what_is_over_can_be_forgotten() -> None:
    kept = times()
    kept.forget(1.5)
    assert kept.standing(1.5) == ("left",)
    assert kept.standing(0.5) is None
    assert kept.standing(2.5) == ("right", "left")


def test_after_a_jump_back_contacts_of_later_times_have_to_be_said_again() -> None:
    jumped = times()
    jumped.restart(0.5)
    assert jumped.unreported == ("right",)


def test_what_is_said_of_a_time_to_come_back_to_counts_only_then() -> None:
    looped = times()
    looped.report(0.2, {"right": False, "left": True})
    looped.report(1.8, {"right": False, "left": True})
    assert looped.standing(2.1) == ("right", "left")
    assert looped.standing(0.5) == ("right", "left")
    looped.restart(0.25)
    assert looped.standing(0.25) == ("left",)
    looped.report(0.3, {"right": True})
    assert looped.standing(0.35) == ("right", "left")


def test_an_unknown_contact_is_named_and_nothing_is_taken() -> None:
    found = times()
    with refused(UnknownName, kind="contact", name="lefft"):
        found.report(3.0, {"right": False, "lefft": True})
    assert found.standing(3.0) == ("right", "left")
