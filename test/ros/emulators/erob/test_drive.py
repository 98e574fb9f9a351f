# SPDX-License-Identifier: Apache-2.0
"""The drive: power states, modes, limits, faults and their physics, on an explicit clock."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import UnknownName
from bam_core.servo.pendulum import PendulumBench
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.erob.bench import Bench
from bam_ros.emulators.erob.drive import (
    DRIVE_FAULTS,
    FOLLOWING_FAULT,
    LASTING_FAULTS,
    MOMENTARY_FAULTS,
    Drive,
)
from bam_ros.emulators.erob.drive_objects import CSP, CST, CSV
from bam_ros.emulators.erob.hidden_drive import SERVOS, draw_hidden_drive, typical_drive
from bam_ros.emulators.erob.object_dictionary import Abort, ObjectDictionary, SdoAbort
from bam_ros.emulators.erob.power_state import PowerState, drives, next_state
from bam_ros.erob.objects import COUNTS_PER_TURN, Object
from test.ros.virtual_wire import HEAVY, MS

S = PowerState
SHUTDOWN, SWITCH_ON, ENABLE, QUICK_STOP, DISABLE_VOLTAGE, RESET = 0x06, 0x07, 0x0F, 0x02, 0x00, 0x80
LIGHT = PendulumBench(mass=2.0, length=0.3)


class MountedDrive:
    """A drive in OP, its clock, and objects by index."""

    def __init__(self, load: PendulumBench = LIGHT, servo: str = "erob80_100", seed: int = 0) -> None:
        self.bench = Bench(draw_hidden_drive(servo, seed), load)
        self.objects = ObjectDictionary()
        self.drive = Drive(self.objects, servo, self.bench)
        self.faults: list[int] = []
        self.drive.on_fault = lambda code, register: self.faults.append(code)
        self.drive.enter_op()
        self.now = 0

    def __getitem__(self, index: int) -> int:
        return self.objects.entry(index).value

    def __setitem__(self, index: int, value: int) -> None:
        self.objects.entry(index).value = value

    def run(self, seconds: float, each: Callable[[], None] | None = None) -> None:
        for _ in range(round(seconds * 1000)):
            self.now += MS
            self.drive.sample(self.now)
            if each is not None:
                each()
            self.drive.execute()
        self.drive.sample(self.now)

    def command(self, word: int) -> PowerState:
        self[Object.CONTROLWORD] = word
        self.run(0.002)
        return self.drive.state

    def enable(self, mode: int = CST) -> None:
        self[Object.MODE_OF_OPERATION] = mode
        self[Object.TARGET_POSITION] = self[Object.ACTUAL_POSITION]
        assert [self.command(word) for word in (SHUTDOWN, SWITCH_ON, ENABLE)] == [
            S.READY_TO_SWITCH_ON, S.SWITCHED_ON, S.OPERATION_ENABLED,
        ]  # fmt: skip


@pytest.mark.parametrize(
    ("state", "word", "after"),
    [
        (S.SWITCH_ON_DISABLED, SHUTDOWN, S.READY_TO_SWITCH_ON),
        (S.SWITCH_ON_DISABLED, SWITCH_ON, S.SWITCH_ON_DISABLED),
        (S.SWITCH_ON_DISABLED, ENABLE, S.SWITCH_ON_DISABLED),
        (S.READY_TO_SWITCH_ON, SWITCH_ON, S.SWITCHED_ON),
        (S.READY_TO_SWITCH_ON, ENABLE, S.SWITCHED_ON),
        (S.READY_TO_SWITCH_ON, QUICK_STOP, S.SWITCH_ON_DISABLED),
        (S.READY_TO_SWITCH_ON, DISABLE_VOLTAGE, S.SWITCH_ON_DISABLED),
        (S.SWITCHED_ON, ENABLE, S.OPERATION_ENABLED),
        (S.SWITCHED_ON, SHUTDOWN, S.READY_TO_SWITCH_ON),
        (S.SWITCHED_ON, QUICK_STOP, S.SWITCH_ON_DISABLED),
        (S.OPERATION_ENABLED, SWITCH_ON, S.SWITCHED_ON),
        (S.OPERATION_ENABLED, SHUTDOWN, S.READY_TO_SWITCH_ON),
        (S.OPERATION_ENABLED, QUICK_STOP, S.QUICK_STOP_ACTIVE),
        (S.OPERATION_ENABLED, DISABLE_VOLTAGE, S.SWITCH_ON_DISABLED),
        (S.QUICK_STOP_ACTIVE, DISABLE_VOLTAGE, S.SWITCH_ON_DISABLED),
        (S.QUICK_STOP_ACTIVE, ENABLE, S.QUICK_STOP_ACTIVE),
        (S.FAULT, ENABLE, S.FAULT),
        (S.FAULT, RESET, S.SWITCH_ON_DISABLED),
        (S.FAULT_REACTION_ACTIVE, RESET, S.FAULT_REACTION_ACTIVE),
    ],
)
def test_a_control_word_leads_where_cia_402_says(state, word, after):
    assert next_state(state, word, 0) is after


def test_a_fault_is_reset_by_the_rising_edge_only():
    assert next_state(S.FAULT, RESET, RESET) is S.FAULT
    assert next_state(S.FAULT, RESET | ENABLE, ENABLE) is S.SWITCH_ON_DISABLED


@given(st.lists(st.integers(0, 0xFFFF), max_size=40))
def test_no_words_lead_to_power_without_shutdown_and_switch_on_before(words):
    state, before, seen = S.SWITCH_ON_DISABLED, 0, []
    for word in words:
        after = next_state(state, word, before)
        if drives(after) and not drives(state):
            assert state is S.SWITCHED_ON
        seen.append(after)
        state, before = after, word


def test_the_status_word_tells_the_state():
    mounted = MountedDrive()
    mounted.run(0.01)
    assert mounted[Object.STATUSWORD] & 0x6F == 0x40
    mounted.enable()
    assert mounted[Object.STATUSWORD] & 0x6F == 0x27
    assert mounted[Object.STATUSWORD] & 0x0200  # remote


def test_torque_follows_the_target_in_per_mille():
    mounted = MountedDrive()
    mounted.enable(CST)
    mounted[Object.TARGET_TORQUE] = 100
    mounted.run(0.02)
    assert float(mounted.bench.state[physics.CURRENT]) == pytest.approx(0.6)
    assert mounted[Object.ACTUAL_TORQUE] == mounted[Object.ACTUAL_CURRENT] == 100


def test_maximum_torque_bounds_the_current_and_is_shown():
    mounted = MountedDrive(HEAVY)
    mounted[Object.MAXIMUM_TORQUE] = 50
    mounted.enable(CST)
    mounted[Object.TARGET_TORQUE] = 800
    mounted.run(0.05)
    assert float(mounted.bench.state[physics.CURRENT]) == pytest.approx(0.3)
    assert mounted[Object.STATUSWORD] & 0x0800


def test_position_mode_goes_there_and_stays():
    mounted = MountedDrive(PendulumBench(mass=4.0, arm_mass=1.0, length=0.4))
    mounted.enable(CSP)
    goal = COUNTS_PER_TURN // 8
    step = goal // 1000
    target = [0]

    def ramp() -> None:
        target[0] = min(target[0] + step, goal)
        mounted[Object.TARGET_POSITION] = target[0]

    mounted.run(1.2, ramp)
    mounted.run(1.5)
    assert mounted[Object.ACTUAL_POSITION] == pytest.approx(goal, abs=COUNTS_PER_TURN / 720)
    assert mounted.drive.state is S.OPERATION_ENABLED


def test_velocity_mode_keeps_the_speed():
    mounted = MountedDrive()
    mounted.enable(CSV)
    mounted[Object.TARGET_VELOCITY] = COUNTS_PER_TURN // 20
    mounted.run(2.0)
    assert mounted[Object.ACTUAL_VELOCITY] == pytest.approx(COUNTS_PER_TURN / 20, rel=0.1)


def test_the_mode_is_shown_before_and_after_power_and_unknown_ones_are_not_taken():
    mounted = MountedDrive()
    for mode in (CST, CSV, CSP):
        mounted[Object.MODE_OF_OPERATION] = mode
        mounted.run(0.002)
        assert mounted[Object.MODE_OF_OPERATION_DISPLAY] == mode
    mounted.enable(CST)
    assert mounted[Object.MODE_OF_OPERATION_DISPLAY] == CST
    mounted[Object.MODE_OF_OPERATION] = 0
    mounted.run(0.002)
    assert mounted[Object.MODE_OF_OPERATION_DISPLAY] == CST


def test_software_limits_stop_torque_outwards_and_clip_positions():
    mounted = MountedDrive(PendulumBench(mass=0.0, length=0.3))
    limit = COUNTS_PER_TURN // 50
    mounted.objects.entry(Object.SOFTWARE_POSITION_LIMIT, 1).value = -limit
    mounted.objects.entry(Object.SOFTWARE_POSITION_LIMIT, 2).value = limit
    mounted.enable(CST)
    mounted[Object.TARGET_TORQUE] = 400
    mounted.run(1.0)
    assert mounted[Object.ACTUAL_TORQUE] == 0
    assert mounted[Object.STATUSWORD] & 0x0800
    assert mounted[Object.ACTUAL_POSITION] >= limit
    mounted[Object.TARGET_TORQUE] = -400
    mounted.run(0.05)
    assert mounted[Object.ACTUAL_TORQUE] == -400


def test_the_home_offset_moves_the_zero_and_not_while_torque_is_on():
    mounted = MountedDrive()
    mounted.objects.write(Object.HOME_OFFSET, 0, (1000).to_bytes(4, "little"))
    mounted.run(0.002)
    assert mounted[Object.ACTUAL_POSITION] == -1000
    mounted.enable(CST)
    with pytest.raises(SdoAbort) as caught:
        mounted.objects.write(Object.HOME_OFFSET, 0, bytes(4))
    assert caught.value.code is Abort.WRONG_STATE


def test_quick_stop_brakes_then_lets_go():
    mounted = MountedDrive()
    mounted.enable(CSV)
    mounted[Object.TARGET_VELOCITY] = COUNTS_PER_TURN // 4
    mounted.run(1.0)
    assert mounted.command(QUICK_STOP) is S.QUICK_STOP_ACTIVE
    assert drives(mounted.drive.state)
    mounted.run(1.0)
    assert mounted.drive.state is S.SWITCH_ON_DISABLED
    assert float(mounted.bench.state[physics.CURRENT]) == 0.0


def test_quick_stop_may_hold_and_be_left_again():
    mounted = MountedDrive()
    mounted[Object.QUICK_STOP_OPTION] = 6
    mounted.enable(CSV)
    mounted.command(QUICK_STOP)
    mounted.run(0.5)
    assert mounted.drive.state is S.QUICK_STOP_ACTIVE
    assert mounted.command(ENABLE) is S.OPERATION_ENABLED


@pytest.mark.parametrize("fault", [*DRIVE_FAULTS, 0x7121])
def test_a_fault_takes_torque_off_and_has_its_code(fault):
    mounted = MountedDrive()
    mounted.enable(CST)
    mounted[Object.TARGET_TORQUE] = 200
    mounted.run(0.01)
    mounted.drive.inject(fault)
    mounted.run(0.001)
    code = fault if isinstance(fault, int) else {**MOMENTARY_FAULTS, **LASTING_FAULTS}[fault]
    assert (mounted.drive.state, mounted[Object.ERROR_CODE]) == (S.FAULT, code)
    assert mounted[Object.STATUSWORD] & 0x4F == 0x08
    assert float(mounted.bench.state[physics.CURRENT]) == 0.0
    assert mounted.faults == [code]


@pytest.mark.parametrize("fault", MOMENTARY_FAULTS)
def test_an_event_is_over_after_a_reset(fault):
    mounted = MountedDrive()
    mounted.drive.inject(fault)
    assert mounted.command(RESET) is S.SWITCH_ON_DISABLED
    assert mounted[Object.ERROR_CODE] == 0
    mounted.enable()


@pytest.mark.parametrize("fault", LASTING_FAULTS)
def test_a_cause_is_back_after_a_reset_until_it_is_repaired(fault):
    mounted = MountedDrive()
    mounted.drive.inject(fault)
    assert mounted.command(RESET) is S.FAULT
    assert mounted[Object.ERROR_CODE] == LASTING_FAULTS[fault]
    mounted.command(0)
    mounted.drive.repair()
    assert mounted.drive.state is S.FAULT
    assert mounted.command(RESET) is S.SWITCH_ON_DISABLED


def test_an_unknown_fault_is_refused_by_name():
    with pytest.raises(UnknownName):
        MountedDrive().drive.inject("gremlins")


def test_a_goal_out_of_reach_is_a_following_error():
    mounted = MountedDrive(HEAVY)
    mounted[Object.MAXIMUM_TORQUE] = 200
    mounted.enable(CSP)
    mounted[Object.TARGET_POSITION] = COUNTS_PER_TURN
    mounted.run(0.2)
    assert mounted.drive.state is S.OPERATION_ENABLED
    mounted.run(0.3)
    assert mounted[Object.ERROR_CODE] == FOLLOWING_FAULT


def test_a_broken_encoder_keeps_showing_its_last_position():
    mounted = MountedDrive(HEAVY)
    mounted.bench.place(0.4)
    mounted.run(0.002)
    mounted.drive.inject("encoder")
    shown = mounted[Object.ACTUAL_POSITION]
    mounted.run(0.5)
    assert mounted[Object.ACTUAL_POSITION] == shown
    assert abs(mounted.bench.count - shown) > 1000


def test_leaving_op_by_the_watchdog_is_a_fault_and_otherwise_is_not():
    mounted = MountedDrive()
    mounted.enable(CST)
    mounted.drive.leave_op(watchdog=False)
    assert (mounted.drive.state, mounted[Object.ERROR_CODE]) == (S.SWITCH_ON_DISABLED, 0)
    mounted = MountedDrive()
    mounted.enable(CST)
    mounted.drive.leave_op(watchdog=True)
    assert (mounted.drive.state, mounted[Object.ERROR_CODE]) == (S.FAULT, 0x8180)
    assert not mounted.drive.torque_enabled


def test_control_words_outside_op_do_not_switch_power_on():
    mounted = MountedDrive()
    mounted.drive.leave_op(watchdog=False)
    for word in (SHUTDOWN, SWITCH_ON, ENABLE, ENABLE):
        mounted.command(word)
    assert not drives(mounted.drive.state)


# bench


def test_the_kernel_gets_every_parameter_in_its_place():
    hidden = typical_drive("erob80_100")
    parameters = Bench(hidden, HEAVY)._parameters
    assert len(parameters) == physics.PARAMETER_SIZE
    assert parameters[physics.TORQUE_CONSTANT] == hidden.motor.torque_constant
    for name, value in hidden.friction.coefficients().items():
        assert parameters[getattr(physics, name.upper())] == value, name
    assert parameters[physics.THERMAL_TIME] == hidden.thermal_time
    for motor, load, speed in ((5.0, -40.0, 0.3), (60.0, -40.0, 0.0), (30.0, 40.0, 1.0), (0.0, 0.0, 2.0)):
        expected = float(hidden.friction.budget(motor, load, speed))
        assert physics.budget(parameters, motor, load, speed) == pytest.approx(expected)


@pytest.mark.parametrize("servo", SERVOS)
def test_a_released_arm_loses_energy_and_never_gains_any(servo):
    bench = Bench(typical_drive(servo), HEAVY)
    bench.place(2.0)
    last = bench.energy
    for i in range(1, 300):
        bench.advance_to(i * 10 * MS)
        assert bench.energy <= last + 1e-9
        last = bench.energy


def test_a_held_arm_needs_the_current_that_gravity_and_friction_allow():
    load = PendulumBench(mass=12.0, length=0.5)
    mounted = MountedDrive(load)
    mounted.bench.place(math.pi / 2)
    mounted.run(0.001)
    mounted.enable(CSP)
    mounted.run(3.0)
    motor = mounted.bench.hidden.motor.torque_constant * float(mounted.bench.state[physics.CURRENT])
    gravity = load.gravity_torque * math.sin(float(mounted.bench.state[physics.POSITION]))
    assert abs(float(mounted.bench.state[physics.VELOCITY])) < 1e-6
    assert gravity > 0.9 * load.gravity_torque
    friction = physics.budget(mounted.bench._parameters, motor, -gravity, 0.0)
    assert abs(motor - gravity) <= friction + 1e-6


def test_the_supply_sags_under_load_and_bounds_the_current():
    mounted = MountedDrive()
    mounted.enable(CST)
    mounted[Object.TARGET_TORQUE] = 2000
    voltage = mounted[Object.DC_LINK_VOLTAGE]
    mounted.run(1.0)
    assert mounted[Object.DC_LINK_VOLTAGE] < voltage - 100
    state, motor = mounted.bench.state, mounted.bench.hidden.motor
    emf = motor.torque_constant * float(state[physics.VELOCITY])
    assert float(state[physics.CURRENT]) * motor.resistance + emf <= float(state[physics.SUPPLY]) + 0.5


def test_current_warms_the_drive():
    mounted = MountedDrive(HEAVY)
    before = mounted.bench.temperature
    mounted.enable(CST)
    mounted[Object.TARGET_TORQUE] = 1200
    mounted.run(5.0)
    assert mounted.bench.temperature > before + 0.1


def test_a_seed_draws_the_same_drive_and_another_one_another():
    assert draw_hidden_drive("erob80_100", 3) == draw_hidden_drive("erob80_100", 3)
    assert draw_hidden_drive("erob80_100", 3) != draw_hidden_drive("erob80_100", 4)
    typical = typical_drive("erob80_100")
    drawn = draw_hidden_drive("erob80_100", 3)
    assert abs(drawn.motor.torque_constant / typical.motor.torque_constant - 1.0) <= 0.18
    with pytest.raises(UnknownName):
        draw_hidden_drive("mx106", 0)


def test_the_bench_makes_up_for_two_seconds_at_most():
    bench = Bench(typical_drive("erob80_100"), HEAVY)
    bench.advance_to(100_000 * MS)
    assert bench.time == 100_000 * MS


def test_the_encoder_has_its_counts():
    bench = Bench(typical_drive("erob80_100"), LIGHT)
    bench.place(math.pi)
    assert bench.count == COUNTS_PER_TURN // 2
