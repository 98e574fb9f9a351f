# SPDX-License-Identifier: Apache-2.0
"""The loop lets go of the servos whenever something is wrong, and of no others.

Most tests step the loop themselves, on the clock of the bus: nothing depends on how fast the machine is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from types import SimpleNamespace

import pytest

from bam_core.errors import Unavailable
from bam_ros.driver import servo_loop
from bam_ros.driver.fault_errors import FaultPersists, StillAsked
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.hardware_errors import HardwareError, describe_hardware_errors
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.safety_states import Fault
from bam_ros.driver.servo_bus import (
    BusCorrupt,
    BusGone,
    BusTimeout,
    Gains,
    OtherServos,
    ServoGoal,
    ServoSample,
)
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.text.torque_reasons import (
    AskedInFault,
    CommandsEnded,
    InterruptedWhileAsked,
    JointNotFollowing,
    OutsideLimits,
)
from test.ros.ros_helpers import PATIENCE, FakeBus, wait_for
from test.ros.stepped_bus import SteppedBus, SteppedLoop

ABSENT = Unavailable("port", "does not exist", advice="plug it in")
GONE = BusGone("port", "has gone", advice="plug it in again")
ON = {0: JointCommand(torque_enable=True, position=0.0)}
OFF = {0: JointCommand()}


def holding(bus: SteppedBus | None = None, **settings: object) -> SteppedLoop:
    """Return a loop whose first joint has torque and whose command is new."""
    stepped = SteppedLoop(bus or SteppedBus(), **settings)
    stepped.loop.take(ON)
    stepped.loop.step()
    stepped.loop.step()
    assert stepped.bus.torque[0]
    return stepped


# Streams of commands


def test_a_lost_command_stream_releases_and_its_return_ends_that() -> None:
    stepped = holding(command_timeout=0.05)
    stepped.run(0.04)
    assert stepped.bus.torque == [True]
    stepped.run(0.02)
    assert stepped.bus.torque == [False]
    assert stepped.loop.withheld == {"joint": CommandsEnded(timeout=0.05)}
    assert "command_timeout" in str(stepped.loop.fault)
    stepped.loop.take(ON)
    stepped.run(0.01)
    assert stepped.bus.torque == [True]
    assert stepped.loop.fault is None


def test_the_joint_of_a_client_that_died_lets_go_while_another_client_holds_its_own() -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee"), command_timeout=0.5)
    stepped.run(0.1, hip=0.3, knee=-0.3)
    assert stepped.bus.torque == [True, True]
    stepped.run(0.4, knee=-0.3)  # the client that commands the hip is gone
    assert stepped.bus.torque == [True, True]
    stepped.run(0.2, knee=-0.3)
    assert stepped.bus.torque == [False, True]
    assert dict(stepped.loop.withheld).keys() == {"hip"}
    assert len([line for line in stepped.events if line.startswith("hip: no servo_commands")]) == 1
    goals = stepped.run(10.0, knee=-0.3)
    assert {goal.torque_enable for goal in goals} == {(False, True)}


def test_joints_that_one_client_leaves_behind_are_named_in_one_line() -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee", "foot"), command_timeout=0.5)
    stepped.run(0.1, hip=0.3, knee=-0.3, foot=0.0)
    stepped.run(1.0, foot=0.0)
    assert [line.partition(":")[0] for line in stepped.events] == ["hip, knee"]
    assert str(stepped.loop.fault) == stepped.events[0]


def test_a_joint_that_was_let_go_is_taken_over_from_where_it_is() -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee"), command_timeout=0.5)
    stepped.run(0.5, hip=0.4, knee=0.0)
    stepped.run(1.0, knee=0.0)
    stepped.bus.position[0] = -0.2  # it sagged
    stepped.run(0.01, knee=0.0)
    goals = stepped.run(0.2, hip=math.nan, knee=0.0)  # another client, which asks to hold
    held = [goal.position[0] for goal in goals if goal.torque_enable[0]]
    assert set(held) == {-0.2}
    assert stepped.loop.fault is None


# What latches


@pytest.mark.parametrize("kind", [BusTimeout, BusCorrupt])
def test_single_lost_samples_are_counted_and_tolerated(kind: type[Unavailable]) -> None:
    stepped = holding(failures=1000)
    stepped.bus.failure = kind("id 1", "lost", advice="check it")
    stepped.run(0.02)
    report = stepped.loop.report()
    assert report.timeouts + report.corrupt == 10
    stepped.bus.failure = None
    stepped.run(0.02)
    assert stepped.loop.report().samples > report.samples
    assert stepped.loop.fault is None
    assert stepped.bus.torque == [True]


def lose(stepped: SteppedLoop, failure: Unavailable) -> None:
    """Take the bus away, and give it back."""
    stepped.bus.open_failure = ABSENT
    stepped.bus.failure = failure
    for _ in range(10):
        stepped.loop.step()
    assert str(failure) in str(stepped.loop.fault)
    assert stepped.bus.torque == [False]
    assert stepped.loop.bus_lost
    stepped.bus.failure = stepped.bus.open_failure = None


def test_a_lost_bus_is_released_reopened_and_stays_off_until_acknowledged() -> None:
    stepped = holding(failures=3, retry_period=0.0)
    lose(stepped, BusTimeout("id 1", "no answer", advice="check it"))
    stepped.run(0.1, joint=0.0)
    assert not stepped.loop.bus_lost
    assert stepped.bus.torque == [False]
    stepped.loop.take(OFF)
    stepped.run(0.01)
    assert stepped.loop.fault is None
    stepped.run(0.01, joint=0.0)
    assert stepped.bus.torque == [True]


def test_a_port_that_comes_back_moves_nothing_for_a_stream_that_never_ended() -> None:
    stepped = holding(command_timeout=0.05, retry_period=0.0)
    lose(stepped, GONE)
    stepped.run(1.0, joint=0.0)
    assert stepped.bus.torque == [False]
    assert stepped.loop._safety.fault == Fault(str(GONE), bus_is_back=True)
    assert stepped.events[0] == str(GONE)  # and not that torque is off, which nobody knows
    stepped.loop.take(OFF)
    stepped.run(0.01)
    assert stepped.loop.fault is None
    stepped.run(0.01, joint=0.0)
    assert stepped.bus.torque == [True]


def test_a_port_that_comes_back_serves_a_new_stream() -> None:
    stepped = holding(command_timeout=0.05, retry_period=0.0)
    lose(stepped, GONE)
    stepped.run(0.1)
    assert stepped.loop.fault is None  # the old stream has ended
    assert stepped.bus.torque == [False]
    stepped.run(0.01, joint=0.0)
    assert stepped.bus.torque == [True]


def test_a_bus_that_comes_back_with_other_servos_is_refused_until_the_former_ones_are_back() -> None:
    stepped = holding(retry_period=0.0)
    lose(stepped, GONE)
    stepped.bus.open_failure = OtherServos("bus", "has others", advice="put the former ones back")
    for _ in range(5):
        stepped.loop.take(OFF)
        stepped.loop.step()
        stepped.loop.take(ON)
        stepped.loop.step()
    assert stepped.loop.bus_lost
    assert stepped.bus.torque == [False]
    assert stepped.events.count(str(stepped.bus.open_failure)) == 1
    assert str(stepped.bus.open_failure) in str(stepped.loop.fault)
    stepped.bus.open_failure = None
    stepped.run(0.01)
    stepped.loop.take(OFF)
    stepped.run(0.01)
    assert stepped.loop.fault is None
    stepped.run(0.01, joint=0.0)
    assert stepped.bus.torque == [True]


def test_durations_on_the_clock_of_a_simulation_are_called_simulated() -> None:
    class Simulated(SteppedBus):
        @property
        def second(self) -> str:
            return "simulated s"

    stepped = holding(Simulated(), command_timeout=0.05)
    stepped.run(0.1)
    assert stepped.loop.withheld == {"joint": CommandsEnded(timeout=0.05, second="simulated s")}
    assert "0.05 simulated s" in str(stepped.loop.fault)
    bus = Simulated()
    bus.stuck = {"joint"}
    stepped = holding(bus, following_error=0.1, speed_limit=20.0, torque_on_speed=20.0)
    stepped.run(2.0, joint=1.0)
    assert stepped.loop.fault_reason.second == "simulated s"
    assert "0.5 simulated s" in str(stepped.loop.fault)


def test_a_hardware_error_releases_and_is_named_once() -> None:
    stepped = holding()
    stepped.bus.errors = [int(HardwareError.OVERLOAD)]
    stepped.run(0.1, joint=0.0)
    assert stepped.bus.torque == [False]
    assert len([line for line in stepped.events if "overload" in line]) == 1
    assert stepped.loop.fault_reason == describe_hardware_errors("joint", HardwareError.OVERLOAD)[0]


def test_a_fault_is_not_acknowledged_by_a_stream_that_only_ends() -> None:
    stepped = holding(command_timeout=0.05)
    stepped.bus.errors = [int(HardwareError.OVERLOAD)]
    stepped.run(0.1, joint=0.0)
    stepped.bus.errors = [0]
    stepped.run(0.1, joint=0.0)  # commands have come since, and none of them asked for torque off
    stepped.run(1.0)
    assert "overload" in str(stepped.loop.fault)
    stepped.loop.take(OFF)
    stepped.run(0.01)
    assert stepped.loop.fault is None


def test_a_fault_is_not_acknowledged_by_one_client_while_another_wants_torque() -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee"), command_timeout=0.05)
    stepped.run(0.1, hip=0.0, knee=0.0)
    stepped.bus.errors = [int(HardwareError.OVERLOAD), 0]
    stepped.run(0.1, hip=0.0, knee=0.0)
    stepped.bus.errors = [0, 0]
    stepped.command(0.0, on=False, joint=0)
    stepped.run(0.2, knee=0.0)
    assert "overload" in str(stepped.loop.fault)
    assert stepped.bus.torque == [False, False]
    stepped.command(0.0, on=False, joint=1)
    stepped.run(0.01)
    assert stepped.loop.fault is None


@pytest.mark.parametrize("cause", ["error", "following", "lost"])
def test_a_fault_ends_on_request_once_its_cause_has_passed_and_nobody_asks(cause: str) -> None:
    bus = SteppedBus()
    stepped = SteppedLoop(bus, command_timeout=0.05, following_error=0.3, retry_period=0.0)
    stepped.run(0.1, joint=0.0)
    if cause == "error":
        bus.errors = [int(HardwareError.OVERLOAD)]
    elif cause == "following":
        bus.stuck = {"joint"}
        stepped.run(1.0, joint=1.0)
    else:
        bus.failure = Unavailable("port", "is mute", advice="check it")
    stepped.run(0.01, joint=0.0)
    with pytest.raises(FaultPersists if cause == "lost" else StillAsked):
        stepped.loop.acknowledge() if cause == "lost" else stepped.loop.end_fault()
    if cause != "lost":
        stepped.run(0.1)  # the stream ends
    if cause == "error":
        with pytest.raises(FaultPersists, match="overload"):
            stepped.loop.end_fault()
        assert stepped.loop.latched
    bus.errors, bus.failure, bus.stuck = [0], None, set()
    for _ in range(2):
        stepped.loop.step()
    stepped.run(0.1)
    assert stepped.loop.latched
    assert stepped.loop.end_fault() == str(stepped.events[-1]).removeprefix("acknowledged: ")
    assert not stepped.loop.latched
    assert stepped.loop.end_fault() == ""
    stepped.run(0.1)
    assert bus.torque == [False]  # nothing comes on by itself
    stepped.run(0.02, joint=0.0)
    assert bus.torque == [True]


def test_a_fault_does_not_end_on_request_while_samples_are_lost() -> None:
    stepped = holding(command_timeout=0.05)
    stepped.bus.errors = [int(HardwareError.OVERLOAD)]
    stepped.run(0.1)
    stepped.bus.errors = [0]
    stepped.loop.step()
    stepped.bus.failure = BusTimeout("id 1", "no answer", advice="check it")
    stepped.loop.step()
    with pytest.raises(FaultPersists):
        stepped.loop.end_fault()


def test_a_fault_is_acknowledged_while_the_clock_of_the_bus_stands_still() -> None:
    stepped = holding()
    stepped.bus.step = 0.0  # a simulation that is paused
    stepped.bus.errors = [int(HardwareError.OVERLOAD)]
    stepped.loop.step()
    assert "overload" in str(stepped.loop.fault)
    stepped.bus.errors = [0]
    stepped.loop.step()
    stepped.loop.take(OFF)
    stepped.loop.step()
    assert stepped.loop.fault is None


@pytest.mark.parametrize(
    "cause", ["hardware error", "following error", "lost samples", "failure", "port gone"]
)
def test_torque_goes_off_in_the_very_exchange_in_which_a_fault_begins(cause: str) -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee"), following_error=0.3, failures=3)
    stepped.run(0.1, hip=0.0, knee=0.0)
    bus, loop = stepped.bus, stepped.loop
    assert bus.torque == [True, True]
    if cause == "hardware error":
        bus.errors = [0, int(HardwareError.OVERLOAD)]
    elif cause == "following error":
        bus.stuck = {"knee"}
    else:
        bus.failure = {
            "lost samples": BusTimeout("id 1", "no answer", advice="check it"),
            "failure": Unavailable("bus", "failed", advice="check it"),
            "port gone": GONE,
        }[cause]
    while not loop.latched:
        assert bus.torque == [True, True]
        stepped.command(0.0, joint=0)
        stepped.command(0.9, joint=1)
        loop.step()
    assert bus.torque == [False, False]


def test_faults_are_of_a_joint_of_any_place_on_the_bus() -> None:
    for index, name in enumerate(("hip", "knee", "foot")):
        stepped = SteppedLoop(SteppedBus("hip", "knee", "foot"))
        stepped.run(0.1, hip=0.0, knee=0.0, foot=0.0)
        stepped.bus.errors[index] = int(HardwareError.OVERLOAD)
        stepped.run(0.01, hip=0.0, knee=0.0, foot=0.0)
        assert str(stepped.loop.fault).startswith(f"{name}: hardware error overload")
        assert stepped.bus.torque == [False] * 3


def test_an_error_of_a_single_packet_is_no_fault() -> None:
    stepped = holding()
    stepped.bus.errors = [int(HardwareError.CHECKSUM | HardwareError.RANGE)]
    stepped.run(0.1, joint=0.0)
    assert stepped.loop.fault is None
    assert stepped.bus.torque == [True]


def test_a_fault_is_not_acknowledged_by_commands_of_before() -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee"), command_timeout=0.05)
    stepped.run(0.1, hip=0.0)
    stepped.command(0.0, on=False, joint=1)
    stepped.bus.errors = [int(HardwareError.OVERLOAD), 0]
    stepped.run(0.1, hip=0.0)
    stepped.command(0.0, on=False, joint=1)  # the servo still reports its error
    stepped.run(0.1)
    stepped.bus.errors = [0, 0]
    stepped.run(0.1)
    assert "overload" in str(stepped.loop.fault)
    stepped.command(0.0, on=False, joint=1)
    stepped.run(0.01)
    assert stepped.loop.fault is None


def test_a_torque_that_was_interrupted_begins_anew_where_the_joint_is() -> None:
    stepped = holding(command_timeout=0.05, torque_on_speed=0.5)
    stepped.run(2.0, joint=0.8)
    stepped.bus.errors = [int(HardwareError.OVERLOAD)]
    stepped.run(0.1, joint=0.8)
    stepped.bus.errors = [0]
    stepped.bus.position = [-0.4]  # it has sunk meanwhile
    stepped.loop.take(OFF)
    stepped.run(0.01)
    goals = stepped.run(0.1, joint=0.8)
    held = [goal.position[0] for goal in goals if goal.torque_enable[0]]
    assert held[0] == -0.4
    assert max(held) < -0.4 + 0.5 * 0.1 + 1e-9


# Following error and limits


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_joint_does_not_follow_on_either_side(side: float) -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee"), following_error=1.0)
    stepped.bus.stuck = {"hip"}
    stepped.run(2.0, hip=1.1 * side, knee=0.0)
    reason = stepped.loop.fault_reason
    assert isinstance(reason, JointNotFollowing)
    assert (reason.joint, reason.distance) == ("hip", pytest.approx(1.1))


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_a_joint_is_off_its_limits_on_either_side(side: float) -> None:
    stepped = SteppedLoop(SteppedBus(position=1.2 * side), limits=((-1.0, 1.0),))
    stepped.run(0.1, joint=0.0)
    assert stepped.bus.torque == [False]
    assert stepped.loop.withheld == {"joint": OutsideLimits(position=1.2 * side, low=-1.0, high=1.0)}


@pytest.mark.parametrize("step", [0.0005, 0.002, 0.1], ids=["2 kHz", "500 Hz", "10 Hz"])
def test_a_joint_that_does_not_follow_trips(step: float) -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee", step=step), following_error=1.0)
    stepped.bus.stuck = {"knee"}
    stepped.run(2.0, hip=0.5, knee=0.9)
    assert stepped.loop.fault is None
    stepped.run(2.0, hip=0.5, knee=1.1)
    assert stepped.bus.torque == [False, False]
    reason = stepped.loop.fault_reason
    assert isinstance(reason, JointNotFollowing)
    assert (reason.joint, reason.distance) == ("knee", pytest.approx(1.1))
    assert (reason.limit, reason.duration, reason.second) == (1.0, 0.5, "s")


def test_a_following_error_of_zero_is_none() -> None:
    stepped = SteppedLoop(SteppedBus(), following_error=0.0)
    stepped.bus.stuck = {"joint"}
    stepped.run(5.0, joint=3.0)
    assert stepped.bus.torque == [True]


def test_a_moment_too_far_from_the_goal_is_no_fault() -> None:
    stepped = SteppedLoop(SteppedBus(), following_error=1.0)
    stepped.run(1.0, joint=0.0)
    for _ in range(20):
        stepped.bus.stuck = {"joint"}
        stepped.run(0.3, joint=2.0)  # on the way
        stepped.bus.stuck = set()
        stepped.run(0.3, joint=2.0)  # there
        stepped.run(0.3, joint=0.0)
    assert stepped.loop.fault is None


def test_a_joint_outside_its_limits_is_not_switched_on_and_the_others_are() -> None:
    bus = SteppedBus("hip", "knee")
    bus.position = [0.0, 3.0]
    stepped = SteppedLoop(bus, limits=((-1.0, 1.0),))
    stepped.run(0.2, hip=0.5, knee=0.5)
    assert bus.torque == [True, False]
    assert stepped.loop.withheld == {"knee": OutsideLimits(position=3.0, low=-1.0, high=1.0)}
    bus.position[1] = 0.9  # turned back by hand, which torque must not surprise
    stepped.run(0.2, hip=0.5, knee=0.5)
    assert bus.torque == [True, False]
    stepped.command(0.5, on=False, joint=1)
    stepped.run(0.01, hip=0.5)
    stepped.run(0.01, hip=0.5, knee=0.5)
    assert bus.torque == [True, True]
    assert stepped.loop.fault is None


def test_a_joint_at_its_stop_is_switched_on_and_comes_back() -> None:
    bus = SteppedBus(position=1.05)
    stepped = SteppedLoop(bus, limits=((-1.0, 1.0),))
    stepped.run(1.0, joint=0.5)
    assert bus.position == [0.5]


# Reboots


def test_a_reboot_of_two_servos_reports_no_error_anew() -> None:
    bus = SteppedBus("hip", "knee")
    stepped = SteppedLoop(bus)
    stepped.run(0.1, hip=0.0, knee=0.0)
    bus.errors = [int(HardwareError.OVERLOAD), int(HardwareError.OVERHEATING)]
    stepped.run(0.1, hip=0.0, knee=0.0)
    said = len(stepped.events)
    with running(stepped.loop):
        stepped.loop.interrupt(lambda: [bus.reboot(name) for name in bus.names], "rebooted")
        wait_for(lambda: stepped.loop.sample and stepped.loop.fault is None, PATIENCE)
    assert not [line for line in stepped.events[said:] if "overheat" in line]
    assert bus.torque == [False, False]


def test_what_was_commanded_during_a_reboot_is_forgotten() -> None:
    stepped = holding()
    with running(stepped.loop):
        stepped.loop.interrupt(lambda: stepped.loop.take(ON), "rebooted")
        exchanges = len(stepped.bus.goals)
        wait_for(lambda: len(stepped.bus.goals) > exchanges + 5, PATIENCE)
        assert stepped.bus.torque == [False]


def test_a_stream_that_went_on_during_a_reboot_moves_nothing_and_a_new_one_does() -> None:
    stepped = holding(command_timeout=0.05)
    stepped.run(0.1, joint=0.0)
    request = stepped.loop._requests.put(stepped.loop._interruption(lambda: None, "rebooted"))
    stepped.run(0.2, joint=0.0)
    assert request.done()
    assert stepped.bus.torque == [False]
    assert stepped.loop.fault_reason == InterruptedWhileAsked(what="rebooted")
    stepped.run(0.1)  # the stream ends
    stepped.run(0.02, joint=0.0)
    assert stepped.bus.torque == [True]


def test_a_reboot_that_fails_brings_no_torque_back_to_a_stream_that_went_on() -> None:
    stepped = holding(command_timeout=0.05)
    stepped.run(0.1, joint=0.0)

    def fail() -> None:
        raise Unavailable("joint", "not back 3 s after a reboot", advice="cycle its power")

    request = stepped.loop._requests.put(stepped.loop._interruption(fail, "rebooted"))
    goals = stepped.run(0.2, joint=0.0)
    assert "not back" in str(request.exception())
    assert {goal.torque_enable for goal in goals} == {(False,)}


def test_a_fault_is_the_only_thing_said_of_a_joint_while_it_lasts() -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee"), command_timeout=0.05, following_error=0.3)
    stepped.bus.stuck = {"hip"}
    stepped.run(2.0, hip=0.8, knee=0.0)
    assert stepped.loop.fault_reason.joint == "hip"
    said = len(stepped.events)
    stepped.run(0.2, knee=0.0)
    assert stepped.loop.withheld == {"knee": AskedInFault()}
    assert ": knee)" in str(stepped.loop.fault)
    stepped.run(0.2, hip=0.0, knee=0.0)
    stepped.run(0.2)
    assert stepped.events[said:] == []
    stepped.command(0.0, on=False)
    stepped.run(0.01)
    assert len(stepped.events) == said + 1
    assert stepped.loop.fault is None


def test_a_joint_outside_its_limits_whose_client_dies_never_had_torque() -> None:
    stepped = SteppedLoop(SteppedBus("hip", "knee", position=2.0), limits=((-1.0, 1.0), (-3.0, 3.0)))
    stepped.run(0.2, hip=0.5, knee=2.0)
    assert str(OutsideLimits(position=2.0, low=-1.0, high=1.0)) in stepped.events[-1]
    stepped.run(2.0, knee=2.0)
    assert not [line for line in stepped.events if "no servo_commands" in line]


# The thread


class running:  # noqa: N801
    """Runs a loop's thread."""

    def __init__(self, loop: ServoLoop) -> None:
        self._loop = loop

    def __enter__(self) -> ServoLoop:
        self._loop.start()
        return self._loop

    def __exit__(self, *_: object) -> None:
        self._loop.stop()


@pytest.fixture
def make_loop() -> Iterator[Callable[..., ServoLoop]]:
    loops: list[ServoLoop] = []

    def make(bus: FakeBus, **settings: float) -> ServoLoop:
        loop = ServoLoop(bus, LoopSettings(**settings), lambda *_: None, lambda *_: None)  # type: ignore[arg-type]
        loops.append(loop)
        loop.start()
        loop.take(ON)
        wait_for(lambda: bus.torque[0], PATIENCE)
        return loop

    yield make
    for loop in loops:
        loop.stop()


def test_a_crash_releases(make_loop: Callable[..., ServoLoop]) -> None:
    bus = FakeBus()
    loop = make_loop(bus, command_timeout=1e9)
    bus.failure = ZeroDivisionError("a bug")
    wait_for(lambda: not loop.running, PATIENCE)
    assert not bus.torque[0]
    assert "a bug" in str(loop.fault)


def test_periods_are_counted_from_each_other_and_begin_anew_where_one_was_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, slept = [0.0], []

    def sleep(seconds: float) -> None:
        slept.append(round(seconds, 6))
        clock[0] += seconds

    monkeypatch.setattr(servo_loop, "time", SimpleNamespace(monotonic=lambda: clock[0], sleep=sleep))
    busy = iter([0.001, 0.002, 0.020, 0.001, 0.001])
    bus = SteppedBus()
    exchange = bus.exchange

    def take_time(goal: ServoGoal) -> ServoSample:
        spent = next(busy, None)
        if spent is None:
            raise RuntimeError("enough")
        clock[0] += spent
        return exchange(goal)

    monkeypatch.setattr(bus, "exchange", take_time)
    loop = ServoLoop(bus, LoopSettings(rate=200.0), lambda *_: None, lambda *_: None)
    loop._run()
    assert slept == [0.004, 0.003, 0.004, 0.004]


def test_stop_releases_and_may_be_repeated(make_loop: Callable[..., ServoLoop]) -> None:
    bus = FakeBus()
    loop = make_loop(bus, command_timeout=1e9)
    loop.stop()
    assert not bus.torque[0]
    loop.stop()
    with pytest.raises(Unavailable):
        loop.call(lambda: None)


def test_nothing_is_switched_on_once_the_loop_is_to_stop() -> None:
    stepped = SteppedLoop(SteppedBus())
    stepped.loop.take(ON)
    future = stepped.loop._requests.put(stepped.loop.stop)  # it comes while a request is served
    goals = len(stepped.bus.goals)
    stepped.loop.step()
    assert future.done()
    assert len(stepped.bus.goals) == goals
    assert stepped.bus.torque == [False]


def test_requests_run_between_exchanges_and_return_their_result(make_loop: Callable[..., ServoLoop]) -> None:
    bus = FakeBus()
    loop = make_loop(bus, command_timeout=1e9)
    gains = Gains(kp=1.0, ki=0.0, kd=0.0)
    assert loop.call(lambda: bus.set_gains("joint", gains), PATIENCE) == gains
    with pytest.raises(ZeroDivisionError):
        loop.call(lambda: 1 // 0, PATIENCE)
