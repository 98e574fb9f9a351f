# SPDX-License-Identifier: Apache-2.0
"""The Dynamixel bus against virtual servos of both protocols."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from bam_core.errors import BamError, Conflict, OutOfRange, UnknownName, Unsupported, WrongShape, WrongValue
from bam_core.servo.model import load_servo
from bam_ros.driver.command_kind import CommandKind
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import BusCorrupt, BusTimeout, Gains, OtherServos, ServoGoal, ServoIdentity
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.control_table import control_table
from bam_ros.dynamixel.servo import SETPOINT_WATCHDOG, WATCHDOG
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.packets import Instruction, Reply
from bam_ros.emulators.dynamixel.protocol2 import Parser
from test.ros.ros_helpers import CALM, VirtualServos, wait_for

MakeVirtual = Callable[..., VirtualServos]
SERVOS = ("mx106", "mx106_2", "xl330")
OFF = ServoGoal.released(1)


@pytest.fixture
def make_bus(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., DynamixelBus]]:
    # The SDK waits for an answer for twice this many ms; emulated servos wait for their turn on a processor.
    monkeypatch.setattr("dynamixel_sdk.port_handler.LATENCY_TIMER", 300)
    buses = []

    def make(virtual: VirtualServos, **settings: object) -> DynamixelBus:
        """The watchdog waits for long: the machine may stand still for a second."""
        patient = {**CALM, "answer_timeout": 0.0, **settings}
        bus = DynamixelBus(DynamixelSettings(port=virtual.path, baud_rate=1_000_000, **patient))
        buses.append(bus)
        return bus

    yield make
    for bus in buses:
        bus.close()


MakeBus = Callable[..., DynamixelBus]


def wait_for_error(bus: DynamixelBus, text: str) -> None:
    messages: list[str] = []

    def failed() -> bool:
        try:
            bus.exchange(on(0.0))
        except BamError as error:
            messages.append(str(error))
        return bool(messages)

    wait_for(failed)
    assert text in messages[0]


def on(position: float) -> ServoGoal:
    return ServoGoal(torque_enable=(True,), position=(position,))


def duty(value: float) -> ServoGoal:
    return ServoGoal(torque_enable=(True,), position=(0.0,), setpoint=(value,))


@pytest.mark.parametrize("servo", SERVOS)
def test_what_was_found_stays_known_while_the_port_is_away(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    bus = make_bus(virtual_servos(servo=servo, ids=(3,)), ids=(3,))
    assert bus.identities == (ServoIdentity(),)
    assert bus.position_limits == ((-math.inf, math.inf),)
    bus.open()
    limits = bus.position_limits
    assert limits[0] == pytest.approx((-math.pi, math.pi), abs=0.01)
    bus.close()
    assert bus.position_limits == limits
    assert bus.identities == (ServoIdentity(servo=servo, id=3),)


@pytest.mark.parametrize("servo", SERVOS)
def test_a_servo_at_rest_reads_as_it_is(servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    assert virtual.servo.table.title in bus.open()
    sample = bus.exchange(OFF)
    assert sample.position == (0.0,)
    assert sample.velocity == (0.0,)
    assert sample.torque_enabled == (False,)
    assert sample.hardware_error == (0,)
    assert 15.0 < sample.temperature[0] < 40.0
    assert abs(sample.voltage[0] - virtual.servo.bench.hidden.supply_voltage) < 0.3
    assert math.isnan(sample.current[0]) == (virtual.servo.table.protocol == 1)
    assert math.isnan(sample.goal_position[0])


@pytest.mark.parametrize(("servo", "library"), [("xl330", "xl330"), ("mx64_2", "mx64_2"), ("xm540_w270", "")])
def test_effort_is_the_current_times_the_torque_constant_where_the_library_has_it(
    servo: str, library: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    assert bus.device == virtual.path
    bus.exchange(on(0.0))
    for _ in range(200):
        sample = bus.exchange(on(0.4))
        if sample.current[0] > 0.05:  # it accelerates
            break
    assert sample.current[0] > 0.05
    if library:
        constant = load_servo(library).motor.torque_constant
        assert sample.effort[0] == pytest.approx(constant * sample.current[0])
    else:
        assert math.isnan(sample.effort[0])


def test_both_protocols_are_driven_on_one_line(virtual_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = virtual_servos(servo="xl330,mx106,mx64_2", ids=(1, 2, 3))
    bus = make_bus(virtual, ids=(1, 2, 3), joints=("a", "b", "c"))
    bus.open()
    goals = (0.3, -0.2, 0.1)
    start = bus.exchange(ServoGoal(torque_enable=(True,) * 3, position=(0.0,) * 3))
    assert start.torque_enabled == (True,) * 3
    held = bus.exchange(ServoGoal(torque_enable=(True,) * 3, position=goals))
    assert held.goal_position == pytest.approx(goals, abs=2e-3)
    assert [math.isnan(current) for current in held.current] == [False, True, False]
    registers = [servo.registers for servo in virtual.bus.servos]
    assert [servo.law.to_count(servo.registers.get("goal_position")) for servo in virtual.bus.servos] == (
        pytest.approx([goal * k.COUNTS_PER_RAD for goal in goals], abs=1.0)
    )
    partly = bus.exchange(ServoGoal(torque_enable=(True, False, True), position=(math.nan,) * 3))
    assert partly.torque_enabled == (True, False, True)
    assert [file.get("torque_enable") for file in registers] == [1, 0, 1]
    bus.close()
    assert [file.get("torque_enable") for file in registers] == [0, 0, 0]


def test_servos_that_are_read_one_after_the_other_have_times_of_their_own(
    virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo="mx106,xl330,ax12a", ids=(1, 2, 3))
    bus = make_bus(virtual, ids=(1, 2, 3), joints=("a", "b", "c"))
    bus.open()
    before = time.time_ns()
    sample = bus.exchange(ServoGoal.released(3))
    assert min(sample.read_after) == 0.0
    assert len(set(sample.read_after)) == 3  # an AX-12 answers no bulk read
    last = sample.stamp + round(1e9 * max(sample.read_after))
    assert before < sample.stamp < last < time.time_ns()


def test_a_goal_and_the_read_behind_it_reach_the_servos_in_one_go(
    virtual_servos: MakeVirtual, make_bus: MakeBus, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual = virtual_servos(servo="xl330", ids=(1, 2))
    bus = make_bus(virtual, ids=(1, 2), joints=("a", "b"))
    bus.open()
    goal = ServoGoal(torque_enable=(True,) * 2, position=(0.0,) * 2)
    sample = bus.exchange(goal)
    assert sample.read_after == ()
    heard: list[bytes] = []
    receive = virtual.bus.receive

    def listen(data: bytes, now: float, baud_rate: int | None = None) -> list[Reply]:
        heard.append(data)
        return receive(data, now, baud_rate)

    monkeypatch.setattr(virtual.bus, "receive", listen)
    bus.exchange(replace(goal, position=(0.1, 0.2)))
    packets = Parser().feed(heard[0])
    assert [packet.instruction for packet in packets] == [Instruction.SYNC_WRITE, Instruction.FAST_SYNC_READ]


def test_the_guardian_releases_servos_of_both_protocols(
    virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo="mx106,xl330", ids=(1, 2))
    bus = make_bus(virtual, ids=(1, 2), joints=("a", "b"), guardian_silence=0.3)
    bus.open()
    wait_for(
        lambda: all(bus.exchange(ServoGoal(torque_enable=(True,) * 2, position=(0.0,) * 2)).torque_enabled)
    )
    wait_for(lambda: not any(servo.registers.get("torque_enable") for servo in virtual.bus.servos))


def test_a_sample_was_taken_when_it_was_however_late_it_is_looked_at(
    virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    bus = make_bus(virtual_servos())
    bus.open()
    before = bus.now()
    sample = bus.exchange(OFF)
    acquired = bus.acquired(sample)
    assert before < acquired < bus.now()
    time.sleep(0.1)
    assert bus.acquired(sample) == acquired


@pytest.mark.parametrize("servo", SERVOS)
def test_opening_releases_and_prepares(servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = virtual_servos(servo=servo)
    profile = "goal_acceleration" if virtual.servo.table.protocol == 1 else "profile_acceleration"
    virtual.set("torque_enable", 1)
    virtual.set(profile, 10)
    make_bus(virtual).open()
    assert virtual.get("torque_enable") == 0
    assert virtual.get(profile) == 0
    assert virtual.get("return_delay_time") == 0
    assert virtual.get("status_return_level") == 2


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("servo", SERVOS)
def test_a_servo_that_answers_pings_or_reads_only_is_made_to_answer(
    servo: str, level: int, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    virtual.set("torque_enable", 1)
    virtual.set("status_return_level", level)
    bus = make_bus(virtual)
    bus.open()
    assert virtual.get("status_return_level") == 2
    assert virtual.get("torque_enable") == 0
    assert bus.exchange(OFF).torque_enabled == (False,)


@pytest.mark.parametrize("servo", ["mx106_2", "xl330"])
@pytest.mark.parametrize(
    ("ids", "secondary", "said"),
    [
        ((1, 2), 2, "also accepts what is sent to b"),
        ((1,), 2, "also accepts what is sent to another servo with id 2"),
        ((1, 2), 1, None),  # its own
        ((1, 2), 7, None),  # of nobody
        ((1, 2), 253, None),
    ],
)
def test_a_servo_that_accepts_another_id_is_refused_before_anything_is_written(
    servo: str,
    ids: tuple[int, ...],
    secondary: int,
    said: str | None,
    virtual_servos: MakeVirtual,
    make_bus: MakeBus,
) -> None:
    virtual = virtual_servos(servo=servo, ids=(1, 2))
    virtual.set("secondary_id", secondary)
    bus = make_bus(virtual, ids=ids, joints=("a", "b")[: len(ids)])
    if said is None:
        bus.open()
        return
    with pytest.raises(Conflict) as caught:
        bus.open()
    assert caught.value.thing == "a"
    assert said in caught.value.problem
    assert "register 12" in str(caught.value)
    let_go = ({"torque_enable": 0}, {"bus_watchdog": 0})
    assert [changes for changes, _ in virtual.writes if changes not in let_go] == []


@pytest.mark.parametrize("servo", SERVOS)
def test_a_prepared_servo_is_not_written_again(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    bus.close()
    virtual.writes.clear()
    bus.open()
    written = {name for changes, _ in virtual.writes for name in changes}
    assert not {name for name in written if virtual.servo.table[name].eeprom}


@pytest.mark.parametrize("servo", SERVOS)
def test_torque_goes_on_with_the_goal_where_the_servo_is(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    for _ in range(5):
        sample = bus.exchange(OFF)
    assert not virtual.written("goal_position")  # a goal would switch torque on by itself on some servos
    virtual.writes.clear()
    bus.exchange(on(sample.position[0]))
    goal_first = [name for changes, _ in virtual.writes for name in changes]
    assert goal_first.index("goal_position") < goal_first.index("torque_enable")
    changes, position = next(entry for entry in virtual.writes if "goal_position" in entry[0])
    assert changes["goal_position"] == position
    assert virtual.get("torque_enable") == 1


@pytest.mark.parametrize("servo", SERVOS)
def test_goals_are_written_when_they_change_and_once_more(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    bus.exchange(on(0.0))
    virtual.writes.clear()
    for goal in (0.0, 0.1, 0.1, math.nan, 0.1, 0.2):
        sample = bus.exchange(on(goal))
    count = virtual.servo.table["goal_position"].from_si
    assert virtual.written("goal_position") == [count(0.1), count(0.1), count(0.2)]
    assert sample.goal_position[0] == pytest.approx(0.2, abs=math.pi / 4096)


@pytest.mark.parametrize("servo", SERVOS)
@pytest.mark.parametrize("way_out", ["goal", "release", "reboot"])
def test_no_goal_outlives_its_torque(
    way_out: str, servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    bus = make_bus(virtual_servos(servo=servo))
    bus.open()
    start = bus.exchange(OFF).position[0]
    assert math.isfinite(bus.exchange(on(start)).goal_position[0])
    if way_out == "goal":
        bus.exchange(OFF)
    elif way_out == "release":
        bus.release()
    else:
        bus.reboot("joint")
    sample = bus.exchange(OFF)
    assert sample.torque_enabled == (False,)
    assert math.isnan(sample.goal_position[0])


@pytest.mark.parametrize("servo", SERVOS)
def test_pi_is_a_goal_although_the_last_count_is_short_of_it(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    last = virtual.get("max_position_limit")
    bus = make_bus(virtual)
    bus.open()
    ((low, high),) = bus.position_limits
    assert low <= -math.pi < math.pi <= high
    bus.exchange(on(0.0))
    assert bus.exchange(on(math.pi)).goal_position[0] == virtual.servo.table["goal_position"].to_si(last)
    assert virtual.get("goal_position") == last
    bus.exchange(on(low))
    assert virtual.get("goal_position") == virtual.get("min_position_limit")


@pytest.mark.parametrize("servo", SERVOS)
def test_release_and_close_turn_torque_off(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    for way_out in (lambda: bus.exchange(OFF), bus.release, bus.close):
        if virtual.written("torque_enable")[-1:] == [0]:
            bus.exchange(on(0.0))
        assert virtual.get("torque_enable") == 1
        way_out()
        assert virtual.get("torque_enable") == 0
    bus.close()
    bus.release()


def test_release_gets_through_a_bad_line(virtual_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = virtual_servos(servo="mx106")
    bus = make_bus(virtual)
    bus.open()
    bus.exchange(on(0.0))
    assert bus.unreleased == ("joint",)
    virtual.bus.faults.drop = 1.0  # of answers: what is written arrives
    bus.release()
    assert virtual.get("torque_enable") == 0
    assert bus.unreleased == ("joint",)  # nothing has confirmed it
    virtual.bus.faults.drop = 0.0
    bus.release()
    assert bus.unreleased == ()


@pytest.mark.parametrize("servo", ["mx106_2", "xl330"])
def test_the_watchdog_watches_while_torque_is_on(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo, patient=False)
    bus = make_bus(virtual, watchdog=0.0)
    bus.open()
    bus.exchange(on(0.0))
    assert 0.0 < virtual.written("bus_watchdog")[-1] * 20e-3 <= WATCHDOG + 20e-3
    bus.exchange(OFF)
    assert virtual.written("bus_watchdog")[-1] == 0
    bus.exchange(on(0.0))
    wait_for(lambda: virtual.get("bus_watchdog") < 0)  # nobody talks
    wait_for_error(bus, "silent")
    bus.close()
    bus.open()
    bus.exchange(on(0.0))
    assert virtual.written("bus_watchdog")[-1] > 0
    assert virtual.get("goal_pwm") == virtual.get("pwm_limit")


@pytest.mark.parametrize("servo", SERVOS)
def test_torque_that_went_off_by_itself_is_noticed(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    bus.exchange(on(0.0))
    virtual.set("torque_enable", 0)
    wait_for_error(bus, "by itself")


@pytest.mark.parametrize("servo", SERVOS)
def test_torque_that_went_off_with_an_error_is_the_servo_s_and_not_the_bus_s(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    bus.exchange(on(0.0))
    virtual.inject("overload")
    virtual.set("torque_enable", 0)
    for _ in range(5):
        bus._next_check = 0.0
        assert HardwareError(bus.exchange(on(0.0)).hardware_error[0]) == HardwareError.OVERLOAD


@pytest.mark.parametrize("servo", SERVOS)
@pytest.mark.parametrize(
    ("fault", "bit"),
    [
        ("overload", HardwareError.OVERLOAD),
        ("overheat", HardwareError.OVERHEATING),
        ("undervoltage", HardwareError.INPUT_VOLTAGE),
    ],
)
def test_hardware_errors_are_named_and_reboot_clears_them(
    servo: str, fault: str, bit: HardwareError, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    virtual.inject(fault)
    wait_for(lambda: HardwareError(bus.exchange(OFF).hardware_error[0]) == bit)
    virtual.repair()
    bus.reboot("joint")
    wait_for(lambda: bus.exchange(OFF).hardware_error[0] == 0)
    bus.exchange(on(bus.exchange(OFF).position[0]))
    assert virtual.get("torque_enable") == 1


@pytest.mark.parametrize(("servo", "gain"), [("mx106", 255), ("xl330", 20_000)])
def test_gains_are_read_back_and_checked(
    servo: str, gain: int, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    wanted = Gains(kp=20.0, ki=1.0, kd=2.0)
    assert bus.set_gains("joint", wanted) == wanted
    assert virtual.get("position_p_gain") == 20
    with pytest.raises(OutOfRange) as caught:
        bus.set_gains("joint", Gains(kp=gain, ki=0.0, kd=0.0))
    assert (caught.value.thing, caught.value.value) == ("position_p_gain of joint", gain)
    with pytest.raises(UnknownName) as unknown:
        bus.set_gains("elbow", wanted)
    assert (unknown.value.name, unknown.value.valid) == ("elbow", ("joint",))
    with pytest.raises(OutOfRange, match="whole"):
        bus.set_gains("joint", Gains(kp=7.0, ki=0.0, kd=2.5))
    assert bus.read_gains("joint") == wanted  # all or none
    virtual.set("position_p_gain", 9)  # as after a dip of the supply
    writes = len(virtual.writes)
    assert bus.read_gains("joint") == replace(wanted, kp=9.0)
    assert len(virtual.writes) == writes


@pytest.mark.parametrize(("servo", "other"), [("mx106", "mx64"), ("mx106_2", "mx64_2")])
def test_other_servos_than_before_are_refused_and_nothing_is_written_to_them(
    servo: str, other: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    bus.exchange(on(0.0))
    bus.close()
    own = virtual.get("model_number")
    virtual.set("model_number", control_table(other).model_number)
    writes = len(virtual.writes)
    with pytest.raises(OtherServos, match=f"{re.escape(control_table(other).title)}, before"):
        bus.open()
    assert len(virtual.writes) == writes
    assert virtual.get("torque_enable") == 0
    anew = make_bus(virtual)
    anew.open()
    assert anew.identities[0].servo == other
    anew.close()
    virtual.set("model_number", own)
    bus.open()


@pytest.mark.parametrize("servo", SERVOS)
def test_lost_and_damaged_answers_are_told_apart_and_survived(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual)
    bus.open()
    virtual.bus.faults.drop = 1.0
    with pytest.raises(BusTimeout):
        bus.exchange(OFF)
    virtual.bus.faults.drop = 0.0
    virtual.bus.faults.corrupt = 1.0
    kinds = set()
    for _ in range(5):
        with pytest.raises((BusCorrupt, BusTimeout)) as caught:
            bus.exchange(OFF)
        kinds.add(caught.type)
    assert BusCorrupt in kinds
    virtual.bus.faults.corrupt = 0.0
    assert bus.exchange(OFF).position == (0.0,)


@pytest.mark.parametrize("servo", ["mx64", "xl330"])
def test_several_servos_are_read_and_driven_together(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo, ids=(3, 7, 5))
    bus = make_bus(virtual, joints=("a", "b", "c"), ids=(7, 5, 3))
    bus.open()
    start = bus.exchange(ServoGoal.released(3))
    goal = ServoGoal(torque_enable=(True, False, True), position=start.position)
    bus.exchange(goal)
    goal = ServoGoal(torque_enable=(True, False, True), position=(0.1, 0.1, -0.1))
    wait_for(lambda: bus.exchange(goal).position[0] > 0.02 and bus.exchange(goal).position[2] < -0.02)
    assert [s.torque_enabled for s in virtual.bus.servos] == [True, True, False]
    bus.release()
    assert not any(s.torque_enabled for s in virtual.bus.servos)


def test_a_servo_beyond_its_limits_is_not_switched_on(virtual_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = virtual_servos(servo="mx106")
    virtual.set("min_position_limit", 2500)
    bus = make_bus(virtual)
    bus.open()
    with pytest.raises(OutOfRange) as caught:
        bus.exchange(on(0.0))
    assert caught.value.thing == "position of joint"
    assert virtual.get("torque_enable") == 0


@pytest.mark.parametrize("servo", ["mx64_2", "mx106_2", "xl330"])
def test_in_pwm_mode_duties_are_applied_from_none_on_and_written_every_time(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo)
    bus = make_bus(virtual, command_kinds=(CommandKind.DUTY,))
    bus.open()
    assert virtual.get("operating_mode") == 16
    virtual.writes.clear()
    bus.exchange(duty(0.5))
    assert [name for changes, _ in virtual.writes for name in changes] == [
        "goal_pwm",
        "bus_watchdog",
        "torque_enable",
    ]
    assert virtual.get("goal_pwm") == 0
    assert 0.0 < virtual.get("bus_watchdog") * 20e-3 <= CALM["watchdog"]
    virtual.writes.clear()
    for wanted in (0.1, 0.1, -0.2):
        sample = bus.exchange(duty(wanted))
    assert virtual.written("goal_pwm") == [round(885 * wanted) for wanted in (0.1, 0.1, -0.2)]
    assert math.isnan(sample.goal_position[0])
    wait_for(lambda: bus.exchange(duty(-0.2)).duty[0] == pytest.approx(-0.2, abs=1e-3), 2.0)
    bus.exchange(duty(0.0))
    bus.exchange(OFF)
    assert virtual.get("torque_enable") == 0


def test_a_duty_is_held_to_the_servos_own_limit(virtual_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = virtual_servos(servo="mx64_2")
    virtual.set("pwm_limit", 300)
    bus = make_bus(virtual, command_kinds=(CommandKind.DUTY,))
    bus.open()
    bus.exchange(duty(0.0))
    for wanted, count in ((1.0, 300), (-5.0, -300)):
        bus.exchange(duty(wanted))
        assert virtual.get("goal_pwm") == count


def test_a_servo_without_pwm_mode_is_named_and_left_released(
    virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo="mx106")
    virtual.set("torque_enable", 1)
    with pytest.raises(Unsupported) as caught:
        make_bus(virtual, command_kinds=(CommandKind.DUTY,)).open()
    assert caught.value.thing == "joint"
    assert virtual.get("torque_enable") == 0


@pytest.mark.parametrize("servo", ["mx64_2", "xl330"])
def test_a_client_that_stops_sending_duties_leaves_a_servo_that_stops(
    servo: str, virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo=servo, patient=False)
    bus = make_bus(virtual, command_kinds=(CommandKind.DUTY,), watchdog=0.0)
    bus.open()
    bus.exchange(duty(0.0))
    bus.exchange(duty(0.3))
    wait_for(lambda: virtual.get("bus_watchdog") < 0)  # nobody talks
    wait_for(lambda: virtual.servo.bench.state[k.DUTY] == 0.0)
    wait_for_error(bus, "silent for 0.2 s")
    bus.close()
    bus.open()
    bus.exchange(duty(0.0))
    assert 0.0 < virtual.written("bus_watchdog")[-1] * 20e-3 <= SETPOINT_WATCHDOG
    assert virtual.get("goal_pwm") == 0


def test_pwm_mode_is_left_by_the_next_driver_that_commands_positions(
    virtual_servos: MakeVirtual, make_bus: MakeBus
) -> None:
    virtual = virtual_servos(servo="mx64_2")
    for kind, mode, goal in ((CommandKind.DUTY, 16, 0), (CommandKind.POSITION, 3, 885)):
        bus = make_bus(virtual, command_kinds=(kind,))
        bus.open()
        assert (virtual.get("operating_mode"), virtual.get("goal_pwm")) == (mode, goal)
        bus.close()
        assert virtual.get("operating_mode") == 3


def test_a_wheel_is_no_joint(virtual_servos: MakeVirtual, make_bus: MakeBus) -> None:
    virtual = virtual_servos(servo="mx106")
    virtual.set("max_position_limit", 0)
    with pytest.raises(Conflict) as caught:
        make_bus(virtual).open()
    assert caught.value.thing == "joint"


@pytest.mark.parametrize(
    ("settings", "kind", "thing"),
    [
        ({"ids": (1, 1), "joints": ("a", "b")}, WrongShape, "ids"),
        ({"ids": ()}, WrongShape, "ids"),
        ({"ids": (1, 2)}, WrongShape, "ids"),
        ({"ids": (254,)}, OutOfRange, "ids"),
        ({"protocol": 3}, OutOfRange, "protocol"),
        ({"answer_timeout": -0.1}, OutOfRange, "answer_timeout"),
        ({"answer_timeout": 0.3}, OutOfRange, "answer_timeout"),  # the watchdog's
    ],
)
def test_impossible_settings_are_refused(
    settings: dict[str, object], kind: type[WrongValue], thing: str
) -> None:
    with pytest.raises(kind) as caught:
        DynamixelSettings(**settings)
    assert caught.value.thing == thing
