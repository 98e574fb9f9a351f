# SPDX-License-Identifier: Apache-2.0
"""The loop lets go of the servos whenever something is wrong, and never makes them jump."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator

import pytest
from ros_helpers import FakeBus, wait_for

from bam_ros.goal_shaper import ServoCommand
from bam_ros.hardware_errors import HardwareError
from bam_ros.servo_bus import BusCorrupt, BusError, BusGone, BusTimeout, Gains
from bam_ros.servo_loop import LoopSettings, ServoLoop

MakeLoop = Callable[..., ServoLoop]


@pytest.fixture
def make_loop() -> Iterator[MakeLoop]:
    loops: list[ServoLoop] = []

    def make(bus: FakeBus, events: list[str] | None = None, **settings: float) -> ServoLoop:
        log = [] if events is None else events
        loop = ServoLoop(bus, LoopSettings(**settings), lambda *_: None, lambda _, line: log.append(line))
        loops.append(loop)
        loop.start()
        return loop

    yield make
    for loop in loops:
        loop.stop()


def command(position: float, *, on: bool = True, lead: float = 0.0) -> ServoCommand:
    return ServoCommand(torque_enable=(on,), position=(position,), received=time.monotonic() + lead)


def test_goal_starts_where_the_servo_is_and_moves_no_faster_than_told(make_loop: MakeLoop) -> None:
    bus = FakeBus(position=0.4)
    loop = make_loop(bus, torque_on_speed=5.0, command_timeout=10.0)
    wait_for(lambda: loop.sample, 2.0)
    loop.command = command(-0.4)
    wait_for(lambda: bus.position[0] == -0.4, 2.0)
    goals = [goal.position[0] for goal in bus.goals if goal.torque_enable[0]]
    assert goals[0] == 0.4
    steps = [abs(b - a) for a, b in itertools.pairwise(goals)]
    assert max(steps) < 0.4  # never the whole way at once
    duration = 0.8 / 5.0
    assert len([step for step in steps if step > 0]) > duration / (20 * bus.period)


def test_once_caught_up_the_goal_is_the_command(make_loop: MakeLoop) -> None:
    bus = FakeBus()
    loop = make_loop(bus, command_timeout=10.0)
    loop.command = command(0.0)
    wait_for(lambda: bus.torque[0] and len(bus.goals) > 5, 2.0)
    loop.command = command(1.5)
    wait_for(lambda: bus.position[0] == 1.5, 2.0)
    goals = {goal.position[0] for goal in bus.goals if goal.torque_enable[0]}
    assert goals == {0.0, 1.5}


def test_a_lost_command_stream_releases_and_its_return_ends_that(make_loop: MakeLoop) -> None:
    bus, events = FakeBus(), []
    loop = make_loop(bus, events, command_timeout=0.05)
    loop.command = command(0.1)
    wait_for(lambda: bus.torque[0], 2.0)
    wait_for(lambda: not bus.torque[0], 2.0)
    assert loop.fault is not None
    assert "command_timeout" in loop.fault
    loop.command = command(0.1, lead=60.0)
    wait_for(lambda: bus.torque[0], 2.0)
    assert loop.fault is None


@pytest.mark.parametrize("kind", [BusTimeout, BusCorrupt])
def test_single_lost_samples_are_counted_and_tolerated(make_loop: MakeLoop, kind: type[BusError]) -> None:
    bus = FakeBus()
    loop = make_loop(bus, failures=1000, command_timeout=10.0)
    loop.command = command(0.0)
    wait_for(lambda: bus.torque[0], 2.0)
    bus.failure = kind("id 1: lost")
    wait_for(lambda: (r := loop.report()).timeouts + r.corrupt > 2, 2.0)
    bus.failure = None
    samples = loop.report().samples
    wait_for(lambda: loop.report().samples > samples, 2.0)
    assert loop.fault is None
    assert bus.torque[0]


def test_a_lost_bus_is_released_reopened_and_stays_off_until_acknowledged(make_loop: MakeLoop) -> None:
    bus, events = FakeBus(), []
    loop = make_loop(bus, events, failures=3, command_timeout=10.0, retry_period=0.01)
    loop.command = command(0.0)
    wait_for(lambda: bus.torque[0], 2.0)
    bus.open_failure = BusError("port: gone")
    bus.failure = BusTimeout("id 1: no answer")
    wait_for(lambda: loop.fault is not None, 2.0)
    wait_for(lambda: not bus.torque[0], 2.0)
    bus.failure = bus.open_failure = None
    wait_for(lambda: bus.opened and loop.sample is not None, 2.0)
    loop.command = command(0.0)
    exchanges = len(bus.goals)
    wait_for(lambda: len(bus.goals) > exchanges + 5, 2.0)
    assert not bus.torque[0]
    loop.command = command(0.0, on=False)
    wait_for(lambda: loop.fault is None, 2.0)
    loop.command = command(0.0)
    wait_for(lambda: bus.torque[0], 2.0)


def vanish(bus: FakeBus, loop: ServoLoop, **stream: float) -> None:
    """Take the port away while torque is on, and give it back."""
    loop.command = command(0.0, **stream)
    wait_for(lambda: bus.torque[0], 2.0)
    bus.open_failure = BusError("port: does not exist")
    bus.failure = BusGone("port: has gone")
    wait_for(lambda: loop.fault is not None and "has gone" in loop.fault, 2.0)
    exchanges = len(bus.goals)
    bus.failure = bus.open_failure = None
    wait_for(lambda: len(bus.goals) > exchanges + 20, 2.0)


def test_a_port_that_comes_back_moves_nothing_for_a_stream_that_never_ended(make_loop: MakeLoop) -> None:
    bus, events = FakeBus(), []
    loop = make_loop(bus, events, command_timeout=0.05, retry_period=0.01)
    vanish(bus, loop, lead=60.0)  # received in the future: a stream that is never silent
    assert not bus.torque[0]
    assert "command torque off, then on" in str(loop.fault)
    assert events[0] == "port: has gone"  # and not that torque is off, which nobody knows
    loop.command = command(0.0, on=False)
    wait_for(lambda: loop.fault is None, 2.0)
    loop.command = command(0.0, lead=60.0)
    wait_for(lambda: bus.torque[0], 2.0)


def test_a_port_that_comes_back_serves_a_new_stream(make_loop: MakeLoop) -> None:
    bus = FakeBus()
    loop = make_loop(bus, command_timeout=0.05, retry_period=0.01)
    vanish(bus, loop)
    wait_for(lambda: loop.fault is None, 2.0)  # the old stream has ended
    assert not bus.torque[0]
    loop.command = command(0.0, lead=60.0)
    wait_for(lambda: bus.torque[0], 2.0)


def test_a_hardware_error_releases_and_is_named_once(make_loop: MakeLoop) -> None:
    bus, events = FakeBus(), []
    loop = make_loop(bus, events, command_timeout=10.0)
    loop.command = command(0.0)
    wait_for(lambda: bus.torque[0], 2.0)
    bus.errors = [int(HardwareError.OVERLOAD)]
    wait_for(lambda: not bus.torque[0] and loop.fault, 2.0)
    exchanges = len(bus.goals)
    wait_for(lambda: len(bus.goals) > exchanges + 5, 2.0)
    assert not bus.torque[0]
    assert len([line for line in events if "overload" in line]) == 1
    assert "free the shaft" in str(loop.fault)
    loop.reboot("joint")
    assert loop.fault is None


def test_a_crash_releases(make_loop: MakeLoop) -> None:
    bus, events = FakeBus(), []
    loop = make_loop(bus, events, command_timeout=10.0)
    loop.command = command(0.0)
    wait_for(lambda: bus.torque[0], 2.0)
    bus.failure = ZeroDivisionError("a bug")
    wait_for(lambda: not loop.running, 2.0)
    assert not bus.torque[0]
    assert "a bug" in str(loop.fault)


def test_stop_releases_and_may_be_repeated(make_loop: MakeLoop) -> None:
    bus = FakeBus()
    loop = make_loop(bus, command_timeout=10.0)
    loop.command = command(0.0)
    wait_for(lambda: bus.torque[0], 2.0)
    loop.stop()
    assert not bus.torque[0]
    loop.stop()
    with pytest.raises(BusError, match="not active"):
        loop.call(lambda: None)


def test_requests_run_between_exchanges_and_return_their_result(make_loop: MakeLoop) -> None:
    bus = FakeBus()
    loop = make_loop(bus)
    gains = Gains(kp=1.0, ki=0.0, kd=0.0)
    assert loop.call(lambda: bus.set_gains("joint", gains)) == gains
    with pytest.raises(ZeroDivisionError):
        loop.call(lambda: 1 // 0)


def test_a_rate_is_kept(make_loop: MakeLoop) -> None:
    bus = FakeBus(period=0.0)
    loop = make_loop(bus, rate=200.0)
    wait_for(lambda: len(bus.goals) >= 20, 2.0)
    loop.report()
    wait_for(lambda: len(bus.goals) >= 120, 2.0)
    report = loop.report()
    assert 150.0 < report.rate < 205.0
    assert report.jitter_p50 <= report.jitter_p99 <= report.jitter_max
    assert math.isfinite(report.jitter_max)
