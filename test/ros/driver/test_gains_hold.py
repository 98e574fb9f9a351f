# SPDX-License-Identifier: Apache-2.0
"""Gains are held while the client that asked for it lives, and no longer."""

from __future__ import annotations

from bam_ros.driver.gains_hold import HOLD_TIME, GainsHold


def test_gains_are_free_until_somebody_asks_and_after_that_client_says_so() -> None:
    hold = GainsHold(lambda: 0.0)
    hold.renew()  # a command of a client that asked for nothing
    assert not hold.active
    hold.set(True)
    assert hold.active
    hold.set(False)
    assert not hold.active


def test_commands_keep_them_held_and_a_client_that_died_holds_nothing() -> None:
    now = [0.0]
    hold = GainsHold(lambda: now[0])
    hold.set(True)
    for _ in range(10):
        now[0] += 0.9 * HOLD_TIME
        assert hold.active
        hold.renew()
    now[0] += 1.1 * HOLD_TIME
    assert not hold.active
    hold.renew()  # of another client
    assert not hold.active
