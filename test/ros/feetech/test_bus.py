# SPDX-License-Identifier: Apache-2.0
"""The Feetech bus against emulated servos on a pseudo-terminal."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bam_core.errors import Conflict, Unavailable, Unsupported
from bam_core.mujoco.robot_file import load_robot
from bam_core.robot.joints import servos_by_joint
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import (
    BusCorrupt,
    BusGone,
    BusTimeout,
    Gains,
    ServoGoal,
    ServoIdentity,
    ServoSample,
)
from bam_ros.dynamixel.errors import NoMode
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.emulators.dynamixel.bench import Bench
from bam_ros.emulators.dynamixel.builder import BusSetup, build_arm_bus, build_servo
from bam_ros.emulators.feetech.catalog import FEETECH
from bam_ros.emulators.feetech.servo import FeetechServo
from bam_ros.feetech.bus import FeetechBus
from bam_ros.feetech.control_table import FAST_FACTOR, SLOW_UNIT
from bam_ros.feetech.discovery import is_driven
from test.core.refusals import refused
from test.ros.ros_helpers import CALM, VirtualServos, wait_for

MakeVirtual = Callable[..., VirtualServos]
MakeBus = Callable[..., FeetechBus]
ROBOTS = Path(__file__).parents[3] / "config" / "robots"
OFF = ServoGoal.released(1)


@pytest.fixture
def feetech_servos(virtual_servos: MakeVirtual) -> MakeVirtual:
    return lambda servo="sts3215", **setup: virtual_servos(catalog=FEETECH, servo=servo, **setup)


@pytest.fixture
def virtual_arm(virtual_servos: MakeVirtual) -> MakeVirtual:
    """Six servos on `config/robots/so101_like.xml`."""
    spec = load_robot(ROBOTS / "so101_like.xml")
    servos = servos_by_joint(spec, ["sts3215=sts3215"])
    return lambda **setup: virtual_servos(
        build=lambda setup, now: build_arm_bus(setup, spec, servos, now), catalog=FEETECH, **setup
    )


@pytest.fixture
def make_bus() -> Iterator[MakeBus]:
    buses = []

    def make(virtual: VirtualServos, **settings: Any) -> FeetechBus:
        bus = FeetechBus(DynamixelSettings(port=virtual.path, **{"baud_rate": 1_000_000, **CALM, **settings}))
        buses.append(bus)
        return bus

    yield make
    for bus in buses:
        bus.close()


def on(position: float) -> ServoGoal:
    return ServoGoal(torque_enable=(True,), position=(position,))


def follow(bus: FeetechBus, position: float, *, exchanges: int) -> None:
    for _ in range(exchanges):
        bus.exchange(on(position))


@pytest.mark.parametrize("servo", ["sts3215", "sts3250", "sm8512bl"])
def test_a_servo_at_rest_reads_as_it_is(servo: str, feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = feetech_servos(servo, ids=(3,))
    bus = make_bus(virtual, ids=(3,))
    assert f"id 3: {virtual.servo.table.title}; 1000000" in bus.open()
    assert bus.identities == (ServoIdentity(servo=servo, id=3),)
    assert bus.position_limits[0] == pytest.approx((-math.pi, math.pi), abs=0.01)
    sample = bus.exchange(OFF)
    assert (sample.position, sample.velocity, sample.torque_enabled) == ((0.0,), (0.0,), (False,))
    assert abs(sample.voltage[0] - virtual.servo.bench.hidden.supply_voltage) < 0.3
    assert math.isnan(sample.goal_position[0])


def test_registers_have_the_units_of_the_servo_that_they_are_read_from(
    feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    """The unit of its speeds depends on its register phase."""
    virtual = feetech_servos()
    table = virtual.servo.table
    for phase, factor in ((SLOW_UNIT | 0x08, 1), (0x08, FAST_FACTOR)):
        virtual.set("phase", phase)
        bus = make_bus(virtual)
        bus.open()
        (joint,) = bus.names
        virtual.set("goal_velocity", 20)
        held = bus.read_register(joint, "goal_velocity")
        assert (held.count, held.unit) == (20, "rad/s")
        assert held.value == pytest.approx(20 * factor * table["goal_velocity"].unit.scale)
        assert bus.read_register(joint, "present_input_voltage").unit == "V"
        bus.close()


def test_what_decides_about_the_law_is_not_written(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = feetech_servos()
    bus = make_bus(virtual)
    bus.open()
    (joint,) = bus.names
    writes = len(virtual.writes)
    for register in ("lock", "max_torque", "torque_limit", "goal_position", "start_torque", "operating_mode"):
        with refused(Unsupported, thing=f"register {register} of {joint}"):
            bus.write_register(joint, register, 0.0)
    assert len(virtual.writes) == writes
    assert bus.write_register(joint, "led_alarm_condition", 0.0)[1].count == 0


def test_torque_goes_on_where_the_servo_is_and_off_at_the_end(
    feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    bus = make_bus(virtual)
    bus.open()
    virtual.writes.clear()
    bus.exchange(on(0.0))
    changes = [name for change, _ in virtual.writes for name in change]
    assert changes == ["goal_position", "torque_enable"]
    samples: list[ServoSample] = []

    def arrived() -> bool:
        samples.append(bus.exchange(on(0.4)))
        return abs(samples[-1].position[0] - 0.4) < 0.05

    wait_for(arrived)
    assert max(sample.duty[0] for sample in samples) > 0.0
    assert max(sample.velocity[0] for sample in samples) > 0.0
    bus.close()
    assert virtual.get("torque_enable") == 0


def test_six_servos_are_read_at_once(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    ids, joints = (1, 2, 3, 4, 5, 6), tuple("abcdef")
    bus = make_bus(feetech_servos(ids=ids), ids=ids, joints=joints)
    bus.open()
    bus.exchange(ServoGoal(torque_enable=(True,) * 6, position=(0.0,) * 6))
    goals = tuple(0.1 * servo for servo in ids)
    sample = bus.exchange(ServoGoal(torque_enable=(True,) * 6, position=goals))
    assert sample.goal_position == pytest.approx(goals, abs=1e-3)


def test_six_servos_on_an_arm_like_an_so101_hold_it(make_bus: MakeBus, virtual_arm: MakeVirtual) -> None:
    ids, joints = (1, 2, 3, 4, 5, 6), tuple("abcdef")
    bus = make_bus(virtual_arm(ids=ids), ids=ids, joints=joints)
    bus.open()
    bus.exchange(ServoGoal(torque_enable=(True,) * 6, position=(0.0,) * 6))
    goals = (0.0, 0.3, 0.0, 0.0, 0.0, 0.0)

    def sags() -> bool:
        sample = bus.exchange(ServoGoal(torque_enable=(True,) * 6, position=goals))
        return sample.position[1] > 0.27 and abs(sample.velocity[1]) < 0.1 and sample.duty[1] != 0.0

    wait_for(sags)


def test_what_changes_the_law_is_off_meanwhile_and_restored(
    feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    before = {"goal_velocity": 500, "goal_acceleration": 20, "operating_mode": 1, "position_p_gain": 21}
    for register, count in before.items():
        virtual.set(register, count)
    bus = make_bus(virtual)
    bus.open()
    assert {name: virtual.get(name) for name in before} == {
        "goal_velocity": 0,
        "goal_acceleration": 0,
        "operating_mode": 0,
        "position_p_gain": 21,
    }
    assert bus.set_gains("joint", Gains(kp=16, ki=0, kd=0)) == Gains(kp=16, ki=0, kd=0)
    bus.close()
    assert {name: virtual.get(name) for name in before} == before


def test_nothing_that_the_driver_writes_survives_power_off(
    feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    virtual.set("lock", 0)
    bus = make_bus(virtual)
    bus.open()
    bus.set_gains("joint", Gains(kp=16, ki=0, kd=0))
    virtual.servo.power_on(virtual.servo.bench.time)
    assert virtual.get("position_p_gain") == 32


def test_where_speed_0_means_stop_the_fastest_is_written(
    feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    virtual.set("phase", 4)
    bus = make_bus(virtual)
    bus.open()
    assert virtual.get("goal_velocity") == 63 * 50


@pytest.mark.parametrize(
    ("register", "count"), [("dead_band_positive", 4), ("overload_torque", 25), ("protection_time", 50)]
)
def test_settings_that_the_law_does_not_have_are_named(
    register: str, count: int, feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    virtual.set(register, count)
    bus = make_bus(virtual)
    bus.open()
    (line,) = bus.warnings
    assert register in line
    assert register in bus.law_settings[0].unmodelled
    assert virtual.get(register) == count


@pytest.mark.parametrize(
    ("register", "count"), [("start_torque", 0), ("start_torque", 40), ("integral_limit", 50)]
)
def test_settings_whose_effect_is_not_documented_are_named_and_stay(
    register: str, count: int, feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    virtual.set(register, count)
    bus = make_bus(virtual)
    bus.open()
    (line,) = bus.warnings
    assert register in line
    assert bus.law_settings[0].unmodelled == ""  # it may be recorded
    bus.close()
    assert virtual.get(register) == count


def test_a_start_torque_as_servos_come_is_no_warning(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = feetech_servos()
    virtual.set("start_torque", 16)
    bus = make_bus(virtual)
    bus.open()
    assert bus.warnings == ()


def test_all_three_gains_are_set_read_back_and_restored(
    feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    virtual.set("position_i_gain", 2)
    bus = make_bus(virtual)
    bus.open()
    wanted = Gains(kp=16, ki=4, kd=8)
    assert bus.set_gains("joint", wanted) == wanted == bus.read_gains("joint")
    assert virtual.get("position_i_gain") == 4
    bus.close()
    assert virtual.get("position_i_gain") == 2


def test_a_torque_limit_limits_the_law(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = feetech_servos()
    virtual.set("torque_limit", 500)
    bus = make_bus(virtual)
    bus.open()
    assert bus.law_settings[0].demand_limit == 0.5


def test_a_servo_that_confirms_no_writes_is_set_to_do_so(
    feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    virtual.set("status_return_level", 0)
    make_bus(virtual).open()
    assert virtual.get("status_return_level") == 1


@pytest.mark.parametrize(
    ("fault", "error"), [("overheat", HardwareError.OVERHEATING), ("overload", HardwareError.OVERLOAD)]
)
def test_errors_of_the_servo_are_reported(
    fault: str, error: HardwareError, feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = feetech_servos()
    bus = make_bus(virtual)
    bus.open()
    virtual.servo.inject(fault)
    wait_for(lambda: bus.exchange(OFF).hardware_error[0] & error)


def test_an_overload_ends_with_a_reboot(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = feetech_servos()
    bus = make_bus(virtual)
    bus.open()
    virtual.servo.inject("overload")
    virtual.servo.repair()
    bus.reboot("joint")
    assert bus.exchange(OFF).hardware_error == (0,)


def test_a_baud_rate_that_nobody_told_is_found(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = feetech_servos(baud_rate=500_000)
    bus = make_bus(virtual, baud_rate=0, answer_timeout=0.2)
    assert bus.open().endswith("500000 baud")


def test_an_id_that_is_missing_is_named(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    bus = make_bus(feetech_servos(ids=(1,)), ids=(1, 4), joints=("a", "b"), answer_timeout=0.1)
    with pytest.raises(BusGone, match="id 4"):
        bus.open()


def test_another_id_is_named_where_nobody_answers(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    bus = make_bus(feetech_servos(ids=(5,)), ids=(1,), answer_timeout=0.05)
    with pytest.raises(Unavailable, match="id 5"):
        bus.open()


@pytest.mark.parametrize("model", ["sts3250", "sts3215"])
def test_two_servos_of_one_id_are_refused(model: str, feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    """Also two of one model that rest at one position: they measure other voltages or temperatures."""
    virtual = feetech_servos()
    other = BusSetup(catalog=FEETECH, servo=model, seed=1000)
    virtual.bus.double = build_servo(other, 0, virtual.servo.bench.time)
    with refused(Conflict, thing="id 1"):
        make_bus(virtual, answer_timeout=0.1).open()
    assert virtual.get("torque_enable") == 0


def test_two_servos_of_one_id_that_measure_the_same_are_found_once_they_move(
    feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    """No answer differs at rest. The first goals make them differ, and then every answer is damaged."""
    virtual = feetech_servos()
    alike = virtual.servo.bench.hidden
    stiffer = replace(alike, friction=alike.friction.scaled(no_load=1.5))
    now = virtual.servo.bench.time
    bench = Bench(stiffer, BusSetup(catalog=FEETECH).pendulum, now)
    double = FeetechServo(virtual.servo.table, bench, identifier=1, baud_rate=1_000_000, now=now)
    virtual.bus.double = double
    bus = make_bus(virtual, answer_timeout=0.1)
    bus.open()
    with pytest.raises((BusCorrupt, BusTimeout)):
        follow(bus, 0.5, exchanges=50)
    assert virtual.servo.torque_enabled
    bus.close()
    assert not virtual.servo.torque_enabled
    assert not double.torque_enabled


@pytest.mark.parametrize(("servo", "series"), [("scs0009", "SCS"), ("hls3930", "HLS")])
def test_a_servo_of_another_series_is_refused(
    servo: str, series: str, feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    with pytest.raises(Unsupported, match=f"{series} series"):
        make_bus(feetech_servos(servo)).open()


def test_several_turns_are_refused(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = feetech_servos()
    virtual.set("max_position_limit", 0)
    with pytest.raises(Conflict, match="position mode"):
        make_bus(virtual).open()


def test_a_driver_that_is_killed_leaves_the_servo_released(feetech_servos: MakeVirtual) -> None:
    virtual = feetech_servos()
    program = (
        "import os, sys; from bam_ros.feetech.bus import FeetechBus;"
        "from bam_ros.dynamixel.settings import DynamixelSettings;"
        "from bam_ros.driver.servo_bus import ServoGoal;"
        "bus = FeetechBus(DynamixelSettings(port=sys.argv[1], watchdog=2.5, answer_timeout=1.0)); bus.open();"
        "bus.exchange(ServoGoal(torque_enable=(True,), position=(0.0,))); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, virtual.path], check=False, timeout=60)
    assert any(change.get("torque_enable") == 1 for change, _ in virtual.writes)
    wait_for(lambda: virtual.get("torque_enable") == 0)


@pytest.mark.parametrize("servo", FEETECH.tables)
def test_every_series_is_driven_or_refused_as_its_table_is(
    servo: str, feetech_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    bus = make_bus(feetech_servos(servo))
    if not is_driven(FEETECH.tables[servo]):
        with pytest.raises(Unsupported):
            bus.open()
        return
    bus.open()
    here = bus.exchange(OFF).position
    assert bus.exchange(ServoGoal(torque_enable=(True,), position=here)).torque_enabled == (True,)
    assert bus.exchange(OFF).torque_enabled == (False,)


@pytest.mark.parametrize(
    ("kind", "mode", "register", "wanted", "count"),
    [
        (CommandKind.VELOCITY, 1, "goal_velocity", -0.767, 0x8000 | 500),
        (CommandKind.DUTY, 2, "goal_pwm", 0.2, 200),
    ],
)
def test_velocities_and_duties_have_modes_of_their_own(
    kind: CommandKind,
    mode: int,
    register: str,
    wanted: float,
    count: int,
    feetech_servos: MakeVirtual,
    make_bus: MakeBus,
) -> None:
    virtual = feetech_servos()
    bus = make_bus(virtual, command_kinds=(kind,))
    bus.open()
    assert virtual.get("operating_mode") == mode
    assert virtual.get(register) == 0
    assert bus.law_settings[0].unmodelled
    goals = [
        ServoGoal(torque_enable=(True,), position=(math.nan,), setpoint=(value,)) for value in (0.0, wanted)
    ]
    bus.exchange(goals[0])
    assert virtual.get(register) == 0

    def reached() -> bool:
        sample = bus.exchange(goals[1])
        assert sample.setpoint[0] == pytest.approx(wanted, abs=1e-3)
        assert math.isnan(sample.goal_position[0])
        measured = sample.velocity if kind is CommandKind.VELOCITY else sample.duty
        return bool(measured[0] == pytest.approx(wanted, abs=0.1))

    wait_for(reached)
    assert virtual.get(register) == count
    bus.close()
    assert virtual.get("operating_mode") == 0


def test_a_servo_without_current_mode_is_refused(feetech_servos: MakeVirtual, make_bus: MakeBus) -> None:
    with pytest.raises(NoMode):
        make_bus(feetech_servos(), command_kinds=(CommandKind.CURRENT,)).open()
