# SPDX-License-Identifier: Apache-2.0
"""Recorders hold the gains of a driver: one at a time, as long as they live."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from rclpy.client import Client
from rclpy.task import Future

from bam_core.errors import BamError
from bam_ros.driver.gains_hold import HOLD_TIME, GainsHeld, GainsHold
from bam_ros.driver.servo_bus import Gains
from bam_ros.recorder.driver_client import DriverClient
from bam_ros.recorder.waits import Waits
from test.ros.recorder_bench import Bench
from test.ros.ros_helpers import PATIENCE, wait_for

pytestmark = pytest.mark.ros

KP8, KP32 = ({"joint": Gains(kp=kp, ki=0.0, kd=0.0)} for kp in (8.0, 32.0))


class ClockedHold(GainsHold):
    """A hold on a clock that the test moves, which counts how often it was begun or renewed."""

    def __init__(self) -> None:
        self.now, self.begun = 0.0, 0
        super().__init__(lambda: self.now)

    def begin(self, holder: str) -> None:
        super().begin(holder)
        self.begun += 1


@pytest.fixture
def bench(ros_domain: int) -> Iterator[Bench]:
    bench = Bench()
    yield bench
    bench.close()


@pytest.fixture
def hold(bench: Bench) -> ClockedHold:
    hold = bench.driver._servo_services.gains_hold = ClockedHold()
    return hold


def client_of(bench: Bench, **waits: float) -> DriverClient:
    return DriverClient(bench.node, "driver", waits=Waits(**{"renewal": 0.02, "free": 0.2, **waits}))


def nothing() -> None:
    """Tick that never ends a wait."""


def die(client: DriverClient) -> None:
    """Do no more, as a process that was killed."""
    client._holds_gains = False


def test_a_hold_lasts_as_long_as_its_recorder_says_so(bench: Bench, hold: ClockedHold) -> None:
    client = client_of(bench)
    client.hold_gains(KP8, nothing)
    for _ in range(3):
        hold.now += 0.9 * HOLD_TIME
        before = hold.begun
        wait_for(lambda before=before: hold.begun > before + 1, what="renewals")
        assert hold.holder.startswith("/test_recorder ")
    client.free_gains()
    wait_for(lambda: not hold.holder, what="end of the hold")


def test_a_request_whose_answer_is_lost_is_asked_again(
    bench: Bench, hold: ClockedHold, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = client_of(bench, ask_again=0.2)
    asked: list[Client] = []

    def call_async(service: Client, request: object) -> Future:
        """Lose the first answer of each service: servers drop answers to clients that they have not found."""
        lost = service not in asked
        asked.append(service)
        return Future() if lost else Client.call_async(service, request)

    for service in (client._hold, client._gains):
        monkeypatch.setattr(service, "call_async", partial(call_async, service))
    client.hold_gains(KP8, nothing)
    assert hold.holder.startswith("/test_recorder ")
    assert {service: asked.count(service) > 1 for service in asked} == {
        client._hold: True,
        client._gains: True,
    }


def test_of_two_recorders_the_second_is_refused(bench: Bench, hold: ClockedHold) -> None:
    first, second = (client_of(bench) for _ in range(2))  # of one name
    first.hold_gains(KP8, nothing)
    for _ in range(2):
        with pytest.raises(BamError) as refused:
            second.hold_gains(KP32, nothing)
        assert refused.value.place == ("driver driver",)
        assert str(GainsHeld(first._holder, second._holder, HOLD_TIME)) in str(refused.value)
        second.free_gains()
    assert first.gains_problem(KP8, nothing) == ""
    assert bench.bus.gains["joint"] == Gains(kp=8.0, ki=0.0, kd=0.0)
    first.free_gains()
    wait_for(lambda: not hold.holder, what="end of the hold")
    second.hold_gains(KP32, nothing)
    assert bench.bus.gains["joint"] == Gains(kp=32.0, ki=0.0, kd=0.0)
    assert first.gains_problem(KP8, nothing) == str(GainsHeld(second._holder, first._holder, HOLD_TIME))


def test_all_gains_of_a_run_are_set_and_held(bench: Bench, hold: ClockedHold) -> None:
    client = client_of(bench)
    gains = {"joint": Gains(kp=8.0, ki=2.0, kd=4.0)}
    client.hold_gains(gains, nothing)
    assert bench.bus.gains == gains
    assert client.gains_problem(gains, nothing) == ""
    assert client.gains_problem(KP8, nothing) != ""


def test_a_recorder_that_was_killed_holds_nothing_for_long(bench: Bench, hold: ClockedHold) -> None:
    first, second = (client_of(bench) for _ in range(2))
    first.hold_gains(KP8, nothing)
    die(first)
    with pytest.raises(BamError):
        second.hold_gains(KP32, nothing)
    hold.now += 1.1 * HOLD_TIME
    wait_for(lambda: not hold.holder, what="end of the hold")
    second.hold_gains(KP32, nothing)
    assert hold.holder


def test_a_recorder_waits_for_the_end_of_the_hold_of_one_that_was_killed(
    bench: Bench, hold: ClockedHold
) -> None:
    first, second = (client_of(bench, free=PATIENCE) for _ in range(2))
    first.hold_gains(KP8, nothing)
    die(first)

    def tick() -> None:
        hold.now += 0.3 * HOLD_TIME

    second.hold_gains(KP32, tick)
    assert bench.bus.gains["joint"] == Gains(kp=32.0, ki=0.0, kd=0.0)
