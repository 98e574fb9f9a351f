# SPDX-License-Identifier: Apache-2.0
"""Gains are held while the client that asked for it lives, and no longer; only that client ends it."""

from __future__ import annotations

import pytest

from bam_core.errors import Conflict, WrongValue
from bam_ros.driver.gains_hold import HOLD_TIME, GainsHold


def test_gains_are_free_until_somebody_asks_and_after_that_client_says_so() -> None:
    hold = GainsHold(lambda: 0.0)
    assert hold.holder == ""
    hold.begin("one")
    assert hold.holder == "one"
    hold.end("one")
    assert hold.holder == ""
    hold.end("one")  # a client that begins anew knows not whether its hold is over


def test_only_the_holder_ends_or_renews_it() -> None:
    hold = GainsHold(lambda: 0.0)
    hold.begin("one")
    for other in (hold.begin, hold.end):
        with pytest.raises(Conflict) as refused:
            other("two")
        assert refused.value.thing == "gains"
        assert "one" in refused.value.problem
    assert hold.holder == "one"
    hold.end("one")
    hold.begin("two")
    with pytest.raises(Conflict):
        hold.end("one")
    assert hold.holder == "two"


def test_renewals_keep_them_held_and_a_client_that_died_holds_nothing() -> None:
    now = [0.0]
    hold = GainsHold(lambda: now[0])
    hold.begin("one")
    for _ in range(10):
        now[0] += 0.9 * HOLD_TIME
        assert hold.holder == "one"
        hold.begin("one")
        with pytest.raises(Conflict):
            hold.begin("two")  # which must not renew that of the other
    now[0] += 1.1 * HOLD_TIME
    assert hold.holder == ""
    hold.begin("two")
    now[0] += 0.9 * HOLD_TIME
    with pytest.raises(Conflict):
        hold.begin("one")  # late
    now[0] += 0.2 * HOLD_TIME
    assert hold.holder == ""


def test_whoever_holds_them_the_driver_may_let_go() -> None:
    hold = GainsHold(lambda: 0.0)
    hold.begin("one")
    hold.clear()
    assert hold.holder == ""


@pytest.mark.parametrize("name", ["", "two\nlines", "\x1b[2J", "n" * 257])
def test_a_holder_has_a_name_that_can_be_read(name: str) -> None:
    hold = GainsHold(lambda: 0.0)
    for refusing in (hold.begin, hold.end):
        with pytest.raises(WrongValue) as refused:
            refusing(name)
        assert refused.value.thing == "holder"
    assert hold.holder == ""
