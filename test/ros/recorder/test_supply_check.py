# SPDX-License-Identifier: Apache-2.0
"""A supply that is not the session's is told before the first run; a duty limit is in the bag."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from bam_bench.msg import ServoConfiguration

from bam_core.errors import BamError, Conflict
from bam_core.recordings import load_recordings
from bam_ros.driver.servo_bus import LawSettings, ServoGoal, ServoSample
from bam_ros.recorder.servo_check import demand_limit, require_modelled_law
from bam_ros.recorder.session_recorder import SessionRecorder
from bam_ros.recorder.supply_check import supply_warning
from bam_ros.text.recorder_notices import OtherSupply
from test.ros.recorder_bench import HURRY, Bench, Operator, directories, short_session
from test.ros.ros_helpers import FakeBus


@pytest.fixture
def bench(ros_domain: int) -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


def measure(bench: Bench, *voltages: float) -> None:
    """Let the servo measure these voltages at random; states that are under way already have none."""
    exchange, random = bench.bus.exchange, Random(0)

    def measured(goal: ServoGoal) -> ServoSample:
        return replace(exchange(goal), voltage=(random.choice(voltages),))

    bench.bus.exchange = measured  # type: ignore[method-assign]


@pytest.mark.parametrize("measured", [15.0, 14.3, 15.7, math.nan])
def test_a_supply_like_the_sessions_or_an_unknown_one_is_fine(measured: float) -> None:
    assert supply_warning(short_session(), measured) is None


@pytest.mark.parametrize("measured", [14.2, 15.8, 12.0, 24.0])
def test_another_supply_is_told_with_both_values_and_the_cure(measured: float) -> None:
    assert supply_warning(short_session(), measured) == OtherSupply(
        session="short", nominal=15.0, measured=measured, tolerance=0.05
    )


@pytest.mark.parametrize("measured", [1.5, 0.0, 50.0])
def test_a_supply_with_which_no_reader_takes_the_bags_is_refused(measured: float) -> None:
    with pytest.raises(Conflict, match=r"4\.5 to 45 V"):
        supply_warning(short_session(), measured)


@pytest.mark.ros
def test_the_warning_comes_once_before_the_first_run(bench: Bench, tmp_path: Path) -> None:
    # A subscriber may miss some of the readings; the false ones are rare, as those of a servo are.
    measure(bench, *[12.0] * 20, 11.0, *[12.0] * 20, 13.0)
    operator = Operator()
    SessionRecorder(bench.node, driver="driver", waits=HURRY).record(short_session(), tmp_path, operator)
    assert [notice.measured for notice in operator.of(OtherSupply)] == [12.0]
    assert isinstance(operator.notices[0], OtherSupply)


@pytest.mark.ros
def test_the_limit_of_the_duty_is_in_the_bag(
    ros_domain: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    half = property(lambda bus: (LawSettings(demand_limit=0.5),))
    monkeypatch.setattr(FakeBus, "law_settings", half)
    with closing(Bench()) as bench:
        SessionRecorder(bench.node, driver="driver", waits=HURRY).record(
            short_session(), tmp_path, Operator()
        )
    assert [recording.demand_limit for recording in load_recordings([tmp_path])] == [0.5, 0.5]


@pytest.mark.ros
def test_a_servo_under_a_law_that_no_model_has_is_not_recorded(
    ros_domain: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reverse = "joint: reverse mode, positive is clockwise (expected counter-clockwise); clear bit 0"
    monkeypatch.setattr(FakeBus, "law_settings", property(lambda bus: (LawSettings(unmodelled=reverse),)))
    with closing(Bench()) as bench:
        with pytest.raises(BamError, match="session short: joint: reverse mode"):
            SessionRecorder(bench.node, driver="driver", waits=HURRY).record(
                short_session(), tmp_path, Operator()
            )
        assert directories(tmp_path) == []
        assert not any(any(goal.torque_enable) for goal in bench.bus.goals)


def test_a_driver_of_an_older_version_tells_no_limits() -> None:
    old = ServoConfiguration(name=["other", "joint"], servo=["mx106", "mx106"], id=[2, 1])
    require_modelled_law(short_session(), old)
    assert demand_limit(old, "joint") == math.inf
    assert demand_limit(None, "joint") == math.inf
    two = ServoConfiguration(name=["other", "joint"], demand_limit=[0.25, 0.75], unmodelled=["reverse", ""])
    require_modelled_law(short_session(), two)
    assert [demand_limit(two, name) for name in two.name] == [0.25, 0.75]
