# SPDX-License-Identifier: Apache-2.0
"""The layer that turns trajectories into duties, over buses: a made-up, a simulated and a virtual one."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import BamError, Conflict, Missing, UnknownName, Unsupported
from bam_core.feedforward import Follower, InverseDynamics, PidGains, Points
from bam_core.feedforward.follower import OffTrajectory
from bam_core.mujoco import compile_robot, load_robot
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import BusTimeout, Gains, ServoBus, ServoGoal, ServoIdentity
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.feedforward.bus import FeedForwardBus
from bam_ros.feedforward.settings import PID_FIRMWARE, FeedForwardSettings
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.settings import SimulationSettings
from bam_ros.text.feedforward_notices import TrajectoryRefused
from papers.dynaban.following import Following, following
from papers.dynaban.motions import Motion, through_keys
from test.ros.ros_helpers import CALM, PATIENCE, FakeBus, VirtualServos, wait_for

LOAD = PendulumBench(mass=0.3, length=0.12)
ROBOTS = Path(__file__).parents[3] / "config" / "robots"


class Motors(FakeBus):
    """Servos that stay where the test puts them and remember their duties."""

    def __init__(self, *names: str) -> None:
        super().__init__(names or ("hip", "knee"), period=0.0)
        self.servos = [ServoIdentity(servo="mx64_2", id=1)] * len(self.names)
        self.hardware = 0

    def exchange(self, goal: ServoGoal):
        place = list(self.position)
        sample = super().exchange(goal)
        self.position = place
        return replace(sample, position=tuple(place), velocity=(0.0,) * len(place))

    @property
    def duty(self) -> tuple[float, ...]:
        return self.goals[-1].setpoint


def settings(joints: int = 2, **changes) -> FeedForwardSettings:
    given = {"servos": [""] * joints, "limits": [(-10.0, 10.0)] * joints}
    return FeedForwardSettings(**{**given, **changes})


def on(joints: int = 2) -> ServoGoal:
    return ServoGoal(torque_enable=(True,) * joints, position=(0.0,) * joints)


@pytest.fixture
def motors() -> Motors:
    return Motors()


@pytest.fixture
def bus(motors: Motors) -> FeedForwardBus:
    found = FeedForwardBus(motors, settings())
    assert found.open() == "fake bus: ready; fed forward in PWM mode"
    return found


def to(*place: float, after: float = 0.5) -> Points:
    return Points(time=np.array([after]), position=np.array([place]))


def test_duties_begin_with_the_second_exchange_and_end_with_the_torque(
    bus: FeedForwardBus, motors: Motors
) -> None:
    motors.position = [0.2, -0.3]
    bus.exchange(ServoGoal.released(2))
    sample = bus.exchange(on())
    assert motors.duty == (0.0, 0.0)
    assert sample.goal_position == (0.2, -0.3)
    motors.position = [0.1, -0.3]
    bus.exchange(on())
    bus.exchange(on())
    assert motors.duty[0] > 0.1
    assert motors.duty[1] == 0.0
    sample = bus.exchange(ServoGoal.released(2))
    assert motors.duty == (0.0, 0.0)
    assert math.isnan(sample.goal_position[0])


def test_what_takes_long_at_first_is_done_before_servos_can_be_switched_on(
    motors: Motors, monkeypatch: pytest.MonkeyPatch
) -> None:
    torque: list[list[bool]] = []
    monkeypatch.setattr(Follower, "prepare", lambda follower: torque.append(list(motors.torque)))
    FeedForwardBus(motors, settings()).open()
    assert torque == [[False, False]]


def test_servos_follow_all_or_none(bus: FeedForwardBus, motors: Motors) -> None:
    bus.exchange(on())
    assert motors.torque == [True, True]
    bus.exchange(ServoGoal(torque_enable=(True, False), position=(0.0, 0.0)))
    assert motors.torque == [False, False]


def test_after_a_lost_sample_there_is_no_duty_until_the_next_one(bus: FeedForwardBus, motors: Motors) -> None:
    bus.exchange(on())
    motors.position = [0.1, 0.0]
    bus.exchange(on())
    bus.exchange(on())
    assert motors.duty[0] != 0.0
    motors.failure = BusTimeout("id 1", "no answer", advice="check it")
    with pytest.raises(BusTimeout):
        bus.exchange(on())
    motors.failure = None
    bus.exchange(on())
    assert motors.duty == (0.0, 0.0)
    bus.exchange(on())
    assert motors.duty[0] != 0.0


def test_a_joint_that_is_lost_is_named_as_a_fault_of_its_drive(bus: FeedForwardBus, motors: Motors) -> None:
    bus.exchange(on())
    motors.position = [0.0, 0.6]
    bus.exchange(on())
    sample = bus.exchange(on())
    assert motors.duty == (0.0, 0.0)
    assert sample.hardware_error == (0, HardwareError.DRIVE)
    (line,) = bus.describe_errors("knee", HardwareError.DRIVE)
    assert line == f"knee: {OffTrajectory(error=-0.6, limit=0.5)}"
    assert bus.describe_errors("hip", HardwareError.DRIVE) == ()
    assert bus.exchange(ServoGoal.released(2)).hardware_error == (0, 0)
    bus.exchange(on())
    assert bus.exchange(on()).hardware_error == (0, 0)


def test_refusals_are_warned_of_until_a_trajectory_is_taken_over(bus: FeedForwardBus) -> None:
    with pytest.raises(BamError, match="torque is off") as caught:
        bus.follow(to(0.1, 0.0), time.monotonic())
    assert bus.warnings == (TrajectoryRefused(reason=str(caught.value)),)
    bus.refuse("trajectory points: none")
    assert bus.warnings == (TrajectoryRefused(reason="trajectory points: none"),)
    bus.exchange(on())
    bus.follow(to(0.1, 0.0), time.monotonic())
    assert bus.warnings == ()
    figures = bus.figures
    assert (figures["trajectories accepted"], figures["trajectories refused"]) == ("1", "2")
    assert figures["model dropped"] == "nowhere"
    assert figures["delay [ms]"] == "unknown"


def test_where_the_pid_opposes_the_model_that_is_dropped_and_comes_back(
    bus: FeedForwardBus, motors: Motors
) -> None:
    bus.exchange(on())
    bus.follow(to(1.5, 0.0, after=2.0), time.monotonic())

    def moved(ahead: float) -> str:
        motors.position[0] = bus.exchange(on()).goal_position[0] + ahead
        return bus.figures["model dropped"]

    wait_for(lambda: moved(0.0) == "nowhere" and motors.position[0] > 0.3, 3.0)
    wait_for(lambda: moved(0.25) == "hip", 3.0)
    assert motors.duty[0] < 0.0
    wait_for(lambda: moved(0.0) == "nowhere", 3.0)
    assert bus.figures["model dropped so far"] == "1"


def test_a_stop_holds_where_it_is(bus: FeedForwardBus, motors: Motors) -> None:
    bus.exchange(on())
    bus.follow(to(1.0, 0.0, after=5.0), time.monotonic())
    bus.stop()
    held = bus.exchange(on()).goal_position
    for _ in range(100):
        assert bus.exchange(on()).goal_position == pytest.approx(held, abs=0.01)


def test_gains_are_those_of_the_pid_here_and_stay_when_the_bus_comes_back(
    bus: FeedForwardBus, motors: Motors
) -> None:
    wanted = Gains(kp=32.0, ki=0.0, kd=0.0)
    assert bus.set_gains("knee", wanted) == wanted
    assert not motors.gains
    bus.close()
    bus.open()
    bus.set_gains("hip", Gains(kp=16.0, ki=0.0, kd=0.0))
    bus.exchange(on())
    motors.position = [0.02, 0.02]
    bus.exchange(on())
    bus.exchange(on())
    assert motors.duty[1] == pytest.approx(2.0 * motors.duty[0])
    with pytest.raises(UnknownName) as caught:
        bus.set_gains("elbow", wanted)
    assert caught.value.valid == ("hip", "knee")
    with pytest.raises(BamError, match="PID p"):
        bus.set_gains("hip", Gains(kp=-1.0, ki=0.0, kd=0.0))


def test_limits_are_the_servos_own_unless_narrower_ones_are_given() -> None:
    found = FeedForwardBus(Motors(), settings(limits=[(-math.inf, 1.0), (-9.0, math.inf)], speed=2.0))
    found.open()
    assert found.position_limits == ((-math.pi, 1.0), (-math.pi, math.pi))
    found.exchange(on())
    with pytest.raises(BamError, match=r"joint 'hip': is .* to 1\.00\d rad"):
        found.follow(to(1.1, 0.0, after=9.0), time.monotonic())
    with pytest.raises(BamError, match="velocity of joint 'knee'"):
        found.follow(to(0.0, 1.0, after=0.5), time.monotonic())


def test_with_a_model_of_the_robot_a_load_is_held_without_an_error() -> None:
    duties = []
    for model in ("", str(ROBOTS / "bench.xml")):
        motors = Motors("joint")
        motors.position = [0.5]
        found = FeedForwardBus(motors, settings(1, model=model))
        found.open()
        found.exchange(on(1))
        found.exchange(on(1))
        duties += motors.duty
    servo = load_servo("mx64_2")
    bench = InverseDynamics(compile_robot(load_robot(ROBOTS / "bench.xml")), ["joint"])
    torque = bench.torque(*np.array([[[0.5]], [[0.0]], [[0.0]]]))[0, 0]
    assert torque > 0.1
    volts = servo.motor.resistance / servo.motor.torque_constant * torque
    assert duties == pytest.approx([0.0, volts / servo.nominal_voltage])


@pytest.mark.parametrize(
    ("changes", "kind", "named"),
    [
        ({"servos": ["mx64", "erob80_100"]}, Unsupported, "joint 'knee': "),
        ({"servos": ["mx64", "mx46"]}, BamError, "mx46"),
        ({"limits": [(4.0, 5.0), (-1.0, 1.0)]}, Conflict, "limits: "),
        ({"model": "nowhere.xml"}, BamError, "nowhere.xml"),
    ],
)
def test_what_cannot_be_fed_forward_is_named_and_the_bus_given_back(
    changes: dict, kind: type[BamError], named: str, motors: Motors
) -> None:
    closed: list[bool] = []
    motors.close = lambda: closed.append(True)
    with pytest.raises(kind, match=named):
        FeedForwardBus(motors, settings(**changes)).open()
    assert closed


def test_a_bus_that_does_not_know_its_servos_asks_for_them(motors: Motors) -> None:
    motors.servos = [ServoIdentity()] * 2
    with pytest.raises(Missing) as caught:
        FeedForwardBus(motors, settings()).open()
    assert caught.value.thing == "servo of joint 'hip'"


# over simulated and virtual servos


@pytest.fixture
def connect() -> Iterator[Callable[..., DynamixelBus]]:
    buses: list[DynamixelBus] = []

    def make(virtual: VirtualServos, **more) -> DynamixelBus:
        # Nobody is out of control here; a machine that stalls shall not look like it.
        buses.append(
            DynamixelBus(DynamixelSettings(port=virtual.path, baud_rate=1_000_000, **{**CALM, **more}))
        )
        return buses[-1]

    yield make
    for each in buses:
        each.close()


def swing() -> Motion:
    return through_keys([0.0, 0.5, 1.0, 1.5], [[0.0], [0.9], [-0.6], [0.0]])


def record(bus: ServoBus, exchange: Callable[[float], tuple[float, float]], duration: float) -> Following:
    """How a motion is followed, from goal and position at the times of an exchange, s on the bus's clock."""
    rows = []
    began = bus.now()
    while (now := bus.now() - began) < duration:
        rows.append((now, *exchange(now)))
    when, goal, seen = np.array(rows).T
    even = np.arange(0.0, when[-1], 2e-3)
    return following(np.interp(even, when, goal), np.interp(even, when, seen), 2e-3)


def simulated(name: str, load: PendulumBench, *, pwm: bool, kp: float = 0.0) -> MujocoBus:
    settings = {"bench": load, "real_time_factor": 0.0, "pwm": pwm, "kp": kp}
    return MujocoBus(SimulationSettings(servos={"joint": load_servo(name)}, **settings))


@pytest.mark.parametrize(
    ("name", "load"), [("mx64_2", LOAD), ("xl330", PendulumBench(mass=0.06, length=0.07))]
)
def test_a_motion_is_followed_better_than_by_the_servos_own_pid(name: str, load: PendulumBench) -> None:
    motion, begins, duration = swing(), 0.4, 2.4
    # P = 16 of Protocol 1.0, as in the paper, in units of this firmware.
    kp = load_servo(name).firmware.kp_for(float(FIRMWARES[PID_FIRMWARE].gains(16.0)[0]))
    own = simulated(name, load, pwm=False, kp=kp)
    own.open()

    def by_position(now: float) -> tuple[float, float]:
        sent = float(motion([math.floor(100.0 * (now - begins)) / 100.0])[0][0, 0])  # at 100 Hz
        sample = own.exchange(ServoGoal(torque_enable=(True,), position=(sent,)))
        return float(motion([own.now() - begins])[0][0, 0]), sample.position[0]

    late = record(own, by_position, duration)
    fed = FeedForwardBus(simulated(name, load, pwm=True), settings(1, gains=PidGains()))
    fed.open()
    fed.exchange(on(1))
    times = np.linspace(0.0, 1.5, 31)
    place, rate, bend = motion(times)
    fed.follow(
        Points(
            time=times,
            position=place,
            velocity=rate,
            acceleration=bend,
            torque=load.inertia * bend + load.gravity_torque * np.sin(place),
        ),
        fed.now() + begins,
    )

    def by_feed_forward(now: float) -> tuple[float, float]:
        sample = fed.exchange(on(1))
        return sample.goal_position[0], sample.position[0]

    prompt = record(fed, by_feed_forward, duration)
    assert late.delay > 0.03
    assert abs(prompt.delay) < 0.1 * late.delay
    assert prompt.error < 0.1 * late.error


def test_a_motor_that_is_held_loses_its_torque_before_it_winds_up(
    virtual_servos: Callable[..., VirtualServos], connect: Callable[..., DynamixelBus]
) -> None:
    virtual = virtual_servos(servo="mx64_2", pendulum=PendulumBench(mass=20.0, length=0.3))
    bus = FeedForwardBus(
        connect(virtual, command_kinds=(CommandKind.DUTY,)), settings(1, error=0.2, duty=0.3)
    )
    bus.open()
    bus.exchange(on(1))
    bus.follow(to(1.0, after=0.8), time.monotonic())
    samples = []

    def faulty() -> bool:
        samples.append(bus.exchange(on(1)))
        return bool(samples[-1].hardware_error[0] & HardwareError.DRIVE)

    wait_for(faulty, PATIENCE)
    assert max(abs(sample.duty[0]) for sample in samples) <= 0.3 + 2e-3
    assert len(bus.describe_errors("joint", HardwareError.DRIVE)) == 1
    assert isinstance(bus._follower.fault[1], OffTrajectory)
    bus.exchange(ServoGoal.released(1))
    assert virtual.get("torque_enable") == 0


def test_a_servo_without_pwm_mode_ends_the_start(
    virtual_servos: Callable[..., VirtualServos], connect: Callable[..., DynamixelBus]
) -> None:
    bus = FeedForwardBus(
        connect(virtual_servos(servo="mx64"), command_kinds=(CommandKind.DUTY,)), settings(1)
    )
    with pytest.raises(Unsupported):
        bus.open()
