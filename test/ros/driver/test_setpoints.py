# SPDX-License-Identifier: Apache-2.0
"""Velocities, currents and duties on real buses: emulated Dynamixel and Feetech servos, and the simulator.

The loop is stepped over the real protocol; laws of the simulator are compared with those of the emulator.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from bam_core.errors import Unsupported
from bam_core.servo.effects import ServoEffects
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.loop_settings import LoopSettings
from bam_ros.driver.servo_bus import ServoBus, ServoGoal, ServoSample
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.dynamixel.errors import NoMode
from bam_ros.emulators.dynamixel.hidden_servo import draw_hidden_servo
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.setpoint_law import SetpointLaw
from bam_ros.simulator.settings import SimulationSettings
from test.ros.exchanged_time import ExchangedTime, timed_dynamixels
from test.ros.virtual_helpers import LOAD, Clock, make

POSITION, VELOCITY, CURRENT, DUTY = CommandKind
STEP = 5e-3  # s of an exchange
DRIVERS = pytest.mark.parametrize("driver", ["dynamixel", "simulator"])
WHEEL = ((-math.inf, math.inf),)
GOALS = {VELOCITY: 2.0, CURRENT: 0.3, DUTY: 0.15}


def simulation(kind: CommandKind, servo: ServoModel | None = None, bench: PendulumBench = LOAD) -> MujocoBus:
    servo = servo or load_servo("mx106_2")
    return MujocoBus(
        SimulationSettings(
            servos={"joint": servo},
            bench=bench,
            real_time_factor=0.0,
            period=STEP,
            command_kinds={"joint": kind},
        )
    )


class Driven:
    """A loop on an open bus with one joint, stepped by the test as by a client that keeps commanding."""

    def __init__(self, bus: ServoBus, time: ExchangedTime | None, **settings: object) -> None:
        self.bus, self._time = bus, time
        self.samples: list[ServoSample] = []
        self.events: list[str] = []
        self.loop = ServoLoop(
            bus,
            LoopSettings(**{"failures": 1000, "limits": WHEEL, **settings}),  # type: ignore[arg-type]
            lambda sample, _: self.samples.append(sample),
            lambda _, line: self.events.append(line),
        )

    def run(self, seconds: float, setpoint: float | None) -> ServoSample:
        """Command for some time of the servos (None: be silent); return the last sample."""
        for _ in range(round(seconds / STEP)):
            if setpoint is not None:
                self.loop.take({0: JointCommand(torque_enable=True, setpoint=setpoint)})
            self.loop.step()
            if self._time is not None:
                self._time.advance(STEP)
        return self.samples[-1]


@pytest.fixture
def drive() -> Iterator[Callable[..., Driven]]:
    with contextlib.ExitStack() as stack:

        def make_driven(driver: str, kind: CommandKind, **settings: object) -> Driven:
            time = ExchangedTime()
            if driver == "simulator":
                bus: ServoBus = simulation(kind)
            else:
                opened = timed_dynamixels("mx106_2", ("joint",), time, command_kinds=(kind,))
                bus = stack.enter_context(opened)
            bus.open()
            stack.callback(bus.close)
            return Driven(bus, None if driver == "simulator" else time, **settings)

        yield make_driven


@DRIVERS
@pytest.mark.parametrize("kind", GOALS)
def test_a_setpoint_is_reached_and_reported(
    driver: str, kind: CommandKind, drive: Callable[..., Driven]
) -> None:
    driven = drive(driver, kind)
    sample = driven.run(1.2 if kind is VELOCITY else 0.15, GOALS[kind])
    assert sample.torque_enabled == (True,)
    assert math.isnan(sample.goal_position[0])
    assert sample.setpoint[0] == pytest.approx(GOALS[kind], abs=0.013)  # a count of the register
    measured = {VELOCITY: sample.velocity, CURRENT: sample.current, DUTY: sample.duty}[kind][0]
    assert measured == pytest.approx(GOALS[kind], abs=0.2 if kind is VELOCITY else 0.02)


@DRIVERS
@pytest.mark.parametrize("kind", GOALS)
def test_a_client_that_goes_silent_leaves_no_motion_then_no_torque(
    driver: str, kind: CommandKind, drive: Callable[..., Driven]
) -> None:
    driven = drive(driver, kind, command_timeout=0.5)
    driven.run(0.5, GOALS[kind])
    assert driven.run(0.3, None).setpoint[0] == 0.0
    assert driven.samples[-1].torque_enabled == (True,)
    assert driven.run(0.3, None).torque_enabled == (False,)
    assert math.isnan(driven.samples[-1].setpoint[0])
    assert list(driven.loop.withheld) == ["joint"]


@DRIVERS
def test_a_joint_that_is_commanded_by_velocity_stops_at_its_limit(
    driver: str, drive: Callable[..., Driven]
) -> None:
    driven = drive(driver, VELOCITY, limits=((-1.0, 0.8),))
    sample = driven.run(2.0, 1.5)
    assert sample.position[0] == pytest.approx(0.8, abs=0.05)
    assert max(sample.position[0] for sample in driven.samples) < 0.85
    assert driven.run(0.6, -1.5).position[0] < 0.3


@DRIVERS
def test_a_velocity_that_a_servo_does_not_reach_is_a_fault(driver: str, drive: Callable[..., Driven]) -> None:
    driven = drive(driver, VELOCITY, velocity_error=0.5)
    driven.run(3.0, 20.0)  # cut off at the register velocity_limit, which its motor does not reach
    assert driven.loop.latched
    assert driven.samples[-1].torque_enabled == (False,)


@pytest.mark.parametrize(("kind", "mode"), [(VELOCITY, 1), (CURRENT, 0), (DUTY, 16)])
def test_the_operating_mode_is_set_and_restored(kind: CommandKind, mode: int) -> None:
    time = ExchangedTime()
    with timed_dynamixels("mx106_2", ("joint",), time, command_kinds=(kind,)) as bus:
        bus.open()
        servo = bus._servos[0]
        assert servo.read("operating_mode") == mode
        assert bus.law_settings[0].unmodelled
        link = servo.link
        for setpoint in (0.0, 0.1):
            bus.exchange(ServoGoal(torque_enable=(True,), position=(math.nan,), setpoint=(setpoint,)))
        servo.release()
        servo.restore()
        assert link.read(1, servo.table["operating_mode"]) == 3
        bus.close()


def test_joints_of_one_bus_may_be_commanded_by_different_goals() -> None:
    time, kinds = ExchangedTime(), (POSITION, VELOCITY, CURRENT)
    with timed_dynamixels("mx106_2", ("hip", "wheel", "hand"), time, command_kinds=kinds) as bus:
        bus.open()
        assert bus.command_kinds == kinds
        assert bus.position_limits[1] == (-math.inf, math.inf)
        goal = ServoGoal(
            torque_enable=(True,) * 3, position=(0.1, math.nan, math.nan), setpoint=(math.nan, 1.5, 0.2)
        )
        for _ in range(200):
            sample = bus.exchange(goal)
            time.advance(STEP)
        assert sample.goal_position[0] == pytest.approx(0.1, abs=2e-3)
        assert sample.velocity[1] == pytest.approx(1.5, abs=0.2)
        assert sample.current[2] == pytest.approx(0.2, abs=0.02)
        bus.close()


@pytest.mark.parametrize(
    ("servo", "kind"), [("mx106", VELOCITY), ("mx28_2", CURRENT), ("xl320", VELOCITY), ("ax12a", DUTY)]
)
def test_a_servo_without_the_mode_is_refused(servo: str, kind: CommandKind) -> None:
    opened = timed_dynamixels(servo, ("joint",), ExchangedTime(), command_kinds=(kind,))
    with opened as bus, pytest.raises(NoMode):
        bus.open()


@pytest.mark.parametrize(
    ("servo", "kind"),
    [("mx106", VELOCITY), ("sts3215", CURRENT), ("erob80_100", VELOCITY), ("erob80_100", DUTY)],
)
def test_the_simulator_refuses_what_the_servo_does_not_do(servo: str, kind: CommandKind) -> None:
    with pytest.raises(Unsupported):
        SetpointLaw("joint", kind, load_servo(servo))


REGISTERS = {VELOCITY: (1, "goal_velocity"), CURRENT: (0, "goal_current"), DUTY: (16, "goal_pwm")}


@pytest.mark.parametrize("name", ["mx106_2", "xl330"])
@pytest.mark.parametrize("kind", GOALS)
def test_simulator_and_emulated_servo_move_alike(name: str, kind: CommandKind) -> None:
    """The emulator has a law and physics of its own; here both have the same motor, friction and supply."""
    bench = LOAD if name == "mx106_2" else PendulumBench(mass=0.02, length=0.06)
    hidden = draw_hidden_servo(name, 0)
    servo = replace(
        load_servo(name),
        motor=hidden.motor,
        friction=hidden.friction,
        nominal_voltage=hidden.supply_voltage,
        friction_model="m6",
        servo_effects=ServoEffects(),
    )
    emulated = Clock(make(name, load=bench))
    mode, register = REGISTERS[kind]
    emulated.write(operating_mode=mode)
    emulated.write(torque_enable=1)
    row = emulated.servo.table[register]
    goal = row.to_si(row.from_si(GOALS[kind] if name == "mx106_2" else 0.5 * GOALS[kind]))
    bus = simulation(kind, servo, bench)
    bus.open()
    bus.exchange(ServoGoal(torque_enable=(True,), position=(math.nan,), setpoint=(0.0,)))
    bus.exchange(ServoGoal(torque_enable=(True,), position=(math.nan,), setpoint=(goal,)))
    emulated.write(**{register: row.from_si(goal)})
    scale = emulated.servo.table["present_position"].unit.scale
    start = emulated.read("present_position")
    for _ in range(60):
        emulated.run(STEP)
        sample = bus.exchange(ServoGoal(torque_enable=(True,), position=(math.nan,), setpoint=(goal,)))
    moved = (emulated.read("present_position") - start) * scale
    assert abs(moved) > 0.1
    assert sample.position[0] == pytest.approx(moved, rel=0.05, abs=0.01)
