# SPDX-License-Identifier: Apache-2.0
"""What every driver of several joints promises: two clients on one bus, limits, the clock of the servos.

The loop is stepped on the real bus of each driver, over its real protocol where it has one.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bam_core.errors import UnknownName
from bam_core.recordings.joint_path import PathPoint
from bam_core.servo.model import load_servo
from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.joint_command import JointCommandTopic
from bam_ros.driver.joint_limits import HALF_TURN
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.servo_bus import Gains, ServoBus, ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.trajectory_follower import TrajectoryFollower
from bam_ros.driver.trajectory_goal import (
    Ending,
    FollowerSettings,
    Outcome,
    ToleranceRequest,
    TrajectoryGoal,
)
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.settings import ErobSettings
from bam_ros.feedforward.bus import FeedForwardBus
from bam_ros.feedforward.settings import FeedForwardSettings
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.pacer import Pacer
from bam_ros.simulator.settings import SimulationSettings
from bam_ros.text.torque_reasons import OutsideLimits
from test.missing import raw_frames
from test.ros.exchanged_time import ExchangedTime, timed_dynamixels
from test.ros.ros_helpers import EROB_LATE, PATIENCE
from test.ros.simulator_time import FakeTime

POSITIONS = ("dynamixel 1", "dynamixel 2", pytest.param("erob", marks=pytest.mark.long), "simulator")
"""Drivers whose joints are commanded by position, each on its own."""
TIMEOUT = 2.0  # s without commands until a joint lets go; longer than a busy machine stands still
OWN_TIME = ("erob", "simulator")  # time passes by itself, or with every exchange
STEP = 5e-3  # s that one exchange takes, where the test lets time pass
JOINTS = ("hip", "knee")

ARM = """
<mujoco>
  <worldbody>
    <body>
      <joint name="hip" axis="0 1 0"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="1.0"/>
      <body pos="0 0 -0.17">
        <joint name="knee" axis="0 1 0"/>
        <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="1.0"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@contextlib.contextmanager
def erob() -> Iterator[ErobBus]:
    with VirtualSegmentProcess(2) as segment:
        yield ErobBus(
            ErobSettings(
                interface=segment.interface,
                joints=JOINTS,
                positions=(1, 2),
                **EROB_LATE,
            )
        )


@contextlib.contextmanager
def simulator(directory: Path, pacer: Pacer | None = None, **changes: object) -> Iterator[MujocoBus]:
    model = directory / "arm.xml"
    model.write_text(ARM)
    servo = load_servo("mx106")
    settings = {"servos": dict.fromkeys(JOINTS, servo), "model": str(model), "real_time_factor": 0.0}
    yield MujocoBus(SimulationSettings(**{**settings, **changes}), pacer=pacer)  # type: ignore[arg-type]


@contextlib.contextmanager
def feed_forward(time: ExchangedTime) -> Iterator[FeedForwardBus]:
    with timed_dynamixels("mx106_2", JOINTS, time, command_kinds=(CommandKind.DUTY,) * len(JOINTS)) as bus:
        yield FeedForwardBus(bus, FeedForwardSettings(servos=["", ""], limits=[HALF_TURN] * 2))


Open = Callable[..., "Driven"]


class Driven:
    """A loop on an open bus, stepped by the test as by two clients.

    Attributes:
        sample: the newest one.
        events: what the loop said.
        times: after each step, s.

    Args:
        bus: open.
        time: of bus and servos where the test advances it; None: it passes by itself.
        settings: of the loop.
    """

    def __init__(self, bus: ServoBus, time: ExchangedTime | None = None, **settings: object) -> None:
        self.bus = bus
        self._time = time
        self.events: list[str] = []
        self.sample: ServoSample | None = None
        self.samples: list[ServoSample] = []
        self.times: list[float] = []
        self.loop = ServoLoop(
            bus,
            LoopSettings(**{"command_timeout": TIMEOUT, "failures": 1000, **settings}),  # type: ignore[arg-type]
            lambda sample, _: self.samples.append(sample),
            lambda _, line: self.events.append(line),
        )

    def until(self, predicate: Callable[[ServoSample], object], **streams: float) -> ServoSample:
        """Step until a sample is as it shall be; each stream is a client that keeps commanding its joint."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            self.step(**streams)
            if self.samples and predicate(self.samples[-1]):
                return self.samples[-1]
        pytest.fail(f"not within {PATIENCE:g} s; {self.samples[-1:]} {self.events}")

    def step(self, **streams: float) -> None:
        for name, position in streams.items():
            self.loop.take({JOINTS.index(name): JointCommand(torque_enable=True, position=position)})
        self.loop.step()
        if self._time is not None:
            self._time.advance(STEP)
        self.times.append(self.bus.now())

    def check_duration(self, began: float, expected: float) -> None:
        """What ended with the last step took so long, s, as far as steps tell."""
        assert self.times[-2] - began < expected + 0.02
        assert self.times[-1] - began > expected - 0.02


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Open]:
    with contextlib.ExitStack() as stack:

        def make(kind: str, **settings: object) -> Driven:
            time = ExchangedTime()
            buses: dict[str, Callable[[], contextlib.AbstractContextManager[ServoBus]]] = {
                "dynamixel 1": lambda: timed_dynamixels("mx106", JOINTS, time),
                "dynamixel 2": lambda: timed_dynamixels("mx106_2", JOINTS, time),
                "erob": erob,
                "simulator": lambda: simulator(tmp_path),
                "feedforward": lambda: feed_forward(time),
            }
            with raw_frames():
                bus = stack.enter_context(buses[kind]())
            bus.open()
            stack.callback(bus.close)
            return Driven(bus, None if kind in OWN_TIME else time, **settings)

        yield make


@pytest.mark.parametrize("kind", POSITIONS)
def test_a_dead_client_s_joint_lets_go_and_the_other_client_s_joint_is_held(kind: str, drive: Open) -> None:
    driven = drive(kind)
    driven.until(lambda sample: sample.torque_enabled == (True, True), hip=0.1, knee=-0.1)
    released = driven.until(lambda sample: sample.torque_enabled == (False, True), knee=-0.1)
    assert math.isnan(released.goal_position[0])
    assert list(driven.loop.withheld) == ["hip"]
    for _ in range(20):
        driven.step(knee=-0.1)
    assert driven.samples[-1].torque_enabled == (False, True)
    driven.until(lambda sample: sample.torque_enabled == (True, True), hip=0.1, knee=-0.1)
    assert driven.loop.fault is None


def test_servos_that_are_fed_forward_let_go_together_where_one_is_commanded_no_more(drive: Open) -> None:
    """They follow all or none; the node refuses messages that name some of them."""
    driven = drive("feedforward")
    driven.until(lambda sample: sample.torque_enabled == (True, True), hip=math.nan, knee=math.nan)
    driven.until(lambda sample: sample.torque_enabled == (False, False), knee=math.nan)


@pytest.mark.parametrize("kind", POSITIONS)
def test_a_goal_that_jumps_is_approached_with_the_limit_of_speed(kind: str, drive: Open) -> None:
    driven = drive(kind, speed_limit=1.0, torque_on_speed=1.0)
    driven.until(lambda sample: sample.torque_enabled == (True, True), hip=0.0, knee=0.0)
    before = driven.bus.now()
    driven.until(lambda sample: abs(sample.goal_position[0] - 0.6) < 2e-3, hip=0.6, knee=0.0)
    assert driven.bus.now() - before > 0.9 * 0.6  # s, on the clock of the servos


@pytest.mark.parametrize("kind", [*POSITIONS, "feedforward"])
def test_a_joint_outside_its_limits_gets_no_torque(kind: str, drive: Open) -> None:
    driven = drive(kind, limits=((0.5, 1.0), HALF_TURN))
    driven.until(lambda sample: "hip: at" in str(driven.loop.fault), hip=math.nan, knee=math.nan)
    driven.until(lambda sample: sample.torque_enabled[0] is False, hip=math.nan, knee=math.nan)
    reason = driven.loop.withheld["hip"]
    assert isinstance(reason, OutsideLimits)
    assert (reason.low, reason.high) == (0.5, 1.0)


@pytest.mark.parametrize("kind", POSITIONS)
def test_a_joint_that_does_not_follow_lets_go(kind: str, drive: Open) -> None:
    driven = drive(kind, following_error=0.3)
    for name in JOINTS:
        driven.bus.set_gains(name, Gains(kp=1.0, ki=0.0, kd=0.0))  # too little to lift the load
    driven.until(lambda sample: sample.torque_enabled == (True, True), hip=0.0, knee=0.0)
    driven.until(lambda sample: "from its goal for 0.5 s" in str(driven.loop.fault), hip=1.5, knee=1.5)
    driven.until(lambda sample: sample.torque_enabled == (False, False), hip=1.5, knee=1.5)


@pytest.mark.parametrize("kind", [*POSITIONS, "feedforward"])
def test_gains_are_read_as_they_are(kind: str, drive: Open) -> None:
    bus = drive(kind).bus
    before = bus.read_gains("knee")
    wanted = Gains(kp=before.kp + 1.0, ki=0.0, kd=0.0)
    assert bus.set_gains("hip", wanted) == wanted
    assert bus.read_gains("hip") == wanted
    assert bus.read_gains("knee") == before
    with pytest.raises(UnknownName):
        bus.read_gains("elbow")


# Other inputs than servo_commands

LIMITS = (HALF_TURN, HALF_TURN)


@pytest.mark.parametrize("kind", POSITIONS)
def test_joint_command_moves_joints_until_servo_commands_switch_one_off(kind: str, drive: Open) -> None:
    driven = drive(kind)
    inputs = CommandInputs(driven.loop, driven.bus.now, len(JOINTS), TIMEOUT)
    warnings: list[str] = []
    topic = JointCommandTopic(driven.bus.names, inputs, warnings.append)

    def streaming(
        reached: Callable[[ServoSample], bool], **positions: float
    ) -> Callable[[ServoSample], bool]:
        def step(sample: ServoSample) -> bool:
            topic.take(list(positions), list(positions.values()), LIMITS)
            return reached(sample)

        return step

    def there(sample: ServoSample) -> bool:
        return abs(sample.goal_position[0] - 0.2) < 2e-3 and abs(sample.goal_position[1] + 0.1) < 2e-3

    driven.until(streaming(there, hip=0.2, knee=-0.1))
    inputs.take(CommandInput.SERVO_COMMANDS, {0: JointCommand()})
    both = {"hip": 0.2, "knee": -0.1}
    driven.until(streaming(lambda sample: sample.torque_enabled == (False, True), **both))
    since = driven.bus.now()
    driven.until(streaming(lambda _: driven.bus.now() - since > 1.2 * TIMEOUT, **both))
    assert driven.samples[-1].torque_enabled == (False, True)  # it went on, and must pause first
    assert len(warnings) == 1
    since = driven.bus.now()
    driven.until(streaming(lambda _: driven.bus.now() - since > 1.2 * TIMEOUT, knee=-0.1))
    driven.until(streaming(lambda sample: sample.torque_enabled == (True, True), **both))


@pytest.mark.parametrize("kind", POSITIONS)
def test_a_trajectory_is_followed_and_held(kind: str, drive: Open) -> None:
    driven = drive(kind)
    inputs = CommandInputs(driven.loop, driven.bus.now, len(JOINTS), TIMEOUT)
    follower = TrajectoryFollower(
        driven.bus, driven.loop, inputs, lambda: LIMITS, FollowerSettings(timeout=TIMEOUT)
    )

    def step(reached: Callable[[ServoSample], bool]) -> Callable[[ServoSample], bool]:
        def follow(sample: ServoSample) -> bool:
            follower.step(sample)
            return reached(sample)

        return follow

    driven.until(step(lambda sample: True))
    outcomes: list[Outcome] = []
    goal = TrajectoryGoal(
        joints=("knee", "hip"),
        points=(PathPoint(time=0.5, position=(-0.2, 0.2)), PathPoint(time=1.0, position=(0.1, -0.1))),
        goal={name: ToleranceRequest(position=0.3) for name in JOINTS},
        goal_time=PATIENCE,
    )
    follower.start(goal, outcomes.append)
    driven.until(step(lambda sample: bool(outcomes)))
    assert [outcome.ending for outcome in outcomes] == [Ending.SUCCEEDED], outcomes
    highest = max(sample.goal_position[0] for sample in driven.samples if sample.torque_enabled[0])
    assert highest == pytest.approx(0.2, abs=0.1)
    since = driven.bus.now()
    driven.until(step(lambda sample: driven.bus.now() - since > 1.5 * TIMEOUT))
    sample = driven.samples[-1]
    assert sample.torque_enabled == (True, True), driven.events
    assert sample.goal_position == pytest.approx((-0.1, 0.1), abs=2e-3)
    inputs.take(CommandInput.SERVO_COMMANDS, {0: JointCommand(), 1: JointCommand()})
    driven.until(step(lambda sample: sample.torque_enabled == (False, False)))
    since = driven.bus.now()
    driven.until(step(lambda sample: driven.bus.now() - since > 1.5 * TIMEOUT))
    assert driven.samples[-1].torque_enabled == (False, False)


# The clock of a simulation


@pytest.fixture
def simulation(tmp_path: Path) -> Iterator[Callable[..., Driven]]:
    with contextlib.ExitStack() as stack:

        def make(factor: float, **settings: object) -> Driven:
            pacer = FakeTime().pacer(factor)
            bus = stack.enter_context(simulator(tmp_path, pacer, real_time_factor=factor, period=2e-3))
            bus.open()
            return Driven(bus, **settings)

        yield make


@pytest.mark.parametrize("factor", [0.0, 0.1, 1.0])
def test_ramps_and_timeouts_take_simulated_time(factor: float, simulation: Callable[..., Driven]) -> None:
    driven = simulation(factor, torque_on_speed=2.0, command_timeout=0.3)
    driven.until(lambda sample: all(sample.torque_enabled), hip=0.4, knee=0.0)
    began = driven.bus.now()
    driven.until(lambda sample: sample.goal_position[0] == 0.4, hip=0.4, knee=0.0)
    driven.check_duration(began, 0.4 / 2.0)
    silent = driven.bus.now()
    driven.until(lambda sample: not any(sample.torque_enabled))
    driven.check_duration(silent, 0.3)


def test_a_simulation_that_is_paused_neither_times_out_nor_lets_its_goals_run_on(
    simulation: Callable[..., Driven],
) -> None:
    driven = simulation(0.0, torque_on_speed=0.5, command_timeout=0.1)
    driven.until(lambda sample: sample.goal_position[0] > 0.1, hip=1.0, knee=0.0)
    goal = driven.samples[-1].goal_position[0]
    driven.bus.paused = True  # type: ignore[attr-defined]
    driven.step()
    held = driven.samples[-1].goal_position[0]
    for _ in range(1000):  # and nobody commands anything
        driven.step()
    assert driven.samples[-1].torque_enabled == (True, True)
    assert driven.samples[-1].goal_position[0] == held == pytest.approx(goal, abs=0.005)
    driven.bus.paused = False  # type: ignore[attr-defined]
    first = len(driven.samples)
    driven.until(lambda sample: sample.goal_position[0] > 0.2, hip=1.0, knee=0.0)
    goals = [held, *(sample.goal_position[0] for sample in driven.samples[first:])]
    assert max(b - a for a, b in itertools.pairwise(goals)) < 0.5 * 2.5e-3


def test_a_simulation_that_is_stepped_by_hand_times_out_after_so_many_steps(
    simulation: Callable[..., Driven],
) -> None:
    driven = simulation(0.0, command_timeout=0.1)
    driven.until(lambda sample: all(sample.torque_enabled), hip=0.2, knee=0.0)
    driven.bus.paused = True  # type: ignore[attr-defined]
    driven.step(hip=0.2, knee=0.0)
    steps = 0
    while all(driven.samples[-1].torque_enabled):
        driven.bus.step()  # type: ignore[attr-defined]
        driven.step()
        steps += 1
        assert steps < 1000
    timestep = driven.bus.world.actuation.model.opt.timestep  # type: ignore[attr-defined]
    assert steps * timestep == pytest.approx(0.1, abs=3 * timestep)
