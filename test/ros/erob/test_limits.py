# SPDX-License-Identifier: Apache-2.0
"""Two emulated drives: goals that the master refuses, the slowest cycle, two faults reset in one go."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable, Iterator

import pytest

from bam_core.errors import BamError
from bam_ros.driver.servo_bus import BusTimeout, ServoGoal, ServoSample
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.settings import LEAST_RATE, ErobSettings
from test.missing import raw_frames
from test.ros.erob_cases import open_patiently

DEADLINE = 30.0  # s; the machine may be busy, and nothing here is about speed
OFF = ServoGoal.released(2)


@pytest.fixture(scope="module")
def segment() -> Iterator[VirtualSegmentProcess]:
    """Two drives."""
    segment = VirtualSegmentProcess(2)
    with raw_frames():
        segment.start()
    yield segment
    segment.stop()


@contextlib.contextmanager
def opened(segment: VirtualSegmentProcess, **changes: object) -> Iterator[ErobBus]:
    """A bus that is as patient with its machine as it can be."""
    fields = {"watchdog": 1.0, "answer_timeout": 0.3, **changes}
    settings = ErobSettings(interface=segment.interface, joints=("a", "b"), positions=(1, 2), **fields)  # type: ignore[arg-type]
    bus = ErobBus(settings)
    try:
        open_patiently(bus)
        yield bus
    finally:
        bus.close()


def keep(bus: ErobBus, goal: ServoGoal, until: Callable[[ServoSample], bool]) -> ServoSample:
    """Exchange until a sample is as it shall be; lost ones are none of this test's business."""
    deadline = time.monotonic() + DEADLINE
    while time.monotonic() < deadline:
        with contextlib.suppress(BusTimeout):
            sample = bus.exchange(goal)
            if until(sample):
                return sample
    pytest.fail(f"not within {DEADLINE:g} s")


def both(position: float) -> ServoGoal:
    return ServoGoal(torque_enable=(True, True), position=(position, position))


@pytest.mark.parametrize(
    ("goal", "message"),
    [
        ((0.0, 30.0), r"b: goal 30 rad \(expected -3.142 to 3.142, parameter limits\)"),
        ((2.0, 0.0), r"a: goal jumped by 2 rad to 2 rad \(expected at most 5 rad/s, parameter speed_limit\)"),
    ],
)
def test_a_wrong_goal_takes_the_torque_of_both_drives(
    segment: VirtualSegmentProcess, goal: tuple[float, float], message: str
) -> None:
    with opened(segment, speed_limit=5.0) as bus:
        keep(bus, both(0.0), lambda sample: all(sample.torque_enabled))
        with pytest.raises(BamError, match=message):
            keep(bus, ServoGoal(torque_enable=(True, True), position=goal), lambda sample: False)
        deadline = time.monotonic() + DEADLINE
        while any(slave["torque_enabled"] for slave in segment.look()["slaves"]):
            assert time.monotonic() < deadline
        assert all(abs(slave["position"]) < 0.1 for slave in segment.look()["slaves"])
        bus.close()
        bus.open()
        keep(bus, both(0.0), lambda sample: all(sample.torque_enabled))


def test_goals_are_limited_to_half_a_turn_unless_the_user_says_otherwise() -> None:
    def limits(**changes: object) -> tuple[tuple[float, float], ...]:
        settings = ErobSettings(interface="none", joints=("a", "b"), positions=(1, 2), **changes)  # type: ignore[arg-type]
        return ErobBus(settings).position_limits

    assert limits() == ((-math.pi, math.pi),) * 2
    assert limits(limits=((-1.0, 1.0), (-20.0, 20.0))) == ((-1.0, 1.0), (-20.0, 20.0))
    counts = limits(limits=((-math.inf, math.inf),))[0]
    assert counts == pytest.approx((-(2**31) / 524288 * math.tau, 2**31 / 524288 * math.tau))


def test_every_exchange_is_answered_at_the_lowest_rate(segment: VirtualSegmentProcess) -> None:
    with opened(segment, rate=LEAST_RATE, watchdog=1.0) as bus:
        keep(bus, both(0.2), lambda sample: all(sample.torque_enabled))
        stamps = []
        for _ in range(60):
            sample = keep(bus, both(0.2), lambda sample: all(sample.torque_enabled))
            stamps.append(sample.stamp)
        assert stamps == sorted(set(stamps))
        keep(bus, both(0.2), lambda sample: bool(bus.report))
        report = bus.report
        assert report["sent"] == report["answered"] + report["lost"]
        assert report["answered"] > 0
        assert len(bus.read_object("b", 0x100A)) > 128  # in segments, a frame per cycle
        sample = keep(bus, both(0.2), lambda sample: all(sample.torque_enabled))
        assert sample.position == pytest.approx((0.2, 0.2), abs=0.2)


@pytest.mark.long
def test_two_faults_are_reset_without_a_look_at_the_drives_in_between(segment: VirtualSegmentProcess) -> None:
    with opened(segment) as bus:
        keep(bus, both(0.0), lambda sample: all(sample.torque_enabled))
        segment.faults("overcurrent@1", "short_circuit@2")
        keep(bus, both(0.0), lambda sample: all(sample.hardware_error))
        segment.faults()
        for name in bus.names:
            bus.reboot(name)
        sample = keep(bus, OFF, lambda sample: True)
        assert sample.hardware_error == (0, 0)
        assert sample.torque_enabled == (False, False)
        keep(bus, both(0.0), lambda sample: all(sample.torque_enabled))
