# SPDX-License-Identifier: Apache-2.0
"""Why a run has to be recorded again, in words."""

from __future__ import annotations

import pytest

from bam_core.recordings.run_end import is_set_aside
from bam_ros.text.spoiled_runs import DriverReleased, GainsChanged, SpoiledRun, Stall


def test_a_pause_has_its_length_its_place_and_its_limit() -> None:
    assert str(Stall(kind="driver", amount=0.042, limit=0.03, at=1.0)) == (
        "the driver stalled, no state for 0.042 s at 1.00 s of the script (expected at most 0.03 s)"
    )
    assert str(Stall(kind="recorder", amount=0.12, limit=0.1)) == (
        "the recorder stalled, no command for 0.120 s (expected at most 0.1 s)"
    )


def test_lost_states_are_counted() -> None:
    assert str(Stall(kind="lost_states", amount=7, limit=1)) == (
        "7 states were lost on the way from the driver (expected at most 1)"
    )


def test_changed_gains_are_those_of_the_driver() -> None:
    changed = GainsChanged(answer="joint: kp 32, ki 0, kd 0", what="motion")
    assert str(changed) == "the gains changed during the motion (joint: kp 32, ki 0, kd 0)"


def test_a_released_servo_has_time_or_phase() -> None:
    assert str(DriverReleased(phase="following the script", elapsed=1.5, pause=0.25)) == (
        "the driver released the servo 1.50 s into the script, after 0.250 s without a state"
    )
    assert str(DriverReleased(phase="moving to the start")) == (
        "the driver released the servo while moving to the start"
    )


@pytest.mark.parametrize("kind", [Stall, GainsChanged, DriverReleased])
def test_bags_that_are_set_aside_are_known_by_their_names(kind: type[SpoiledRun]) -> None:
    from pathlib import Path

    assert is_set_aside(Path(f"run.{kind.suffix}-1"))
    assert "record again" in kind.cure
