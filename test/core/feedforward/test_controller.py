# SPDX-License-Identifier: Apache-2.0
"""PID and feed-forward in parallel, delays and deformations, and robots that perform."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BadData, OutOfRange, Unsupported, WrongShape
from bam_core.feedforward import (
    FeedForwardController,
    FeedForwardLaw,
    InverseDynamics,
    Limits,
    Opposition,
    Pid,
    PidGains,
    PieceBuffer,
    pieces_from_dynamics,
)
from bam_core.mujoco import compile_robot
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.model import load_servo
from papers.dynaban.following import following, following_in_space
from papers.dynaban.performance import Stage, Timing, detuned, perform_by_feed_forward, perform_by_position
from papers.dynaban.stand import FOOT
from test.core.feedforward_cases import MODEL, buffer, line
from test.core.leg_cases import KICK_DURATION, LEG_JOINTS, kick, leg_spec
from test.core.refusals import refused

MX = FIRMWARES["mx-protocol1"]
DT = 2.5e-3


def controller(**opposition: float) -> FeedForwardController:
    found = buffer()
    found.offer(line(0.0, 2.0, [0.0, 0.0], [0.8, 0.0]), 0.0)
    return FeedForwardController(
        found, [MODEL.law] * 2, MX, PidGains(p=16.0, i=0.0), Opposition(**opposition)
    )


def test_without_error_the_duty_is_the_models_alone() -> None:
    control = controller()
    duty = control.duty(0.5, [0.4, 0.0], 12.0, DT)
    law = MODEL.law
    assert duty == pytest.approx([float(law.voltage(0.8, 0.8, DT, 0.0)) / 12.0, 0.0], abs=1e-9)


def test_the_model_is_dropped_with_hysteresis_where_the_pid_opposes_it() -> None:
    control = controller(drop=0.35, resume=0.15)
    gain = MX.duty_per_kp_rad * 16.0
    seen = []
    for against in (0.0, 0.3, 0.4, 0.3, 0.2, 0.1, 0.3):
        duty = control.duty(0.5, [0.4 + against / gain, 0.0], 12.0, DT)
        seen.append(bool(control.model_on[0]))
        model = control.model_duty[0] if seen[-1] else 0.0
        assert duty[0] == pytest.approx(model - against, abs=1e-9)
    assert seen == [True, True, False, False, False, True, True]
    assert control.model_on[1]


def test_a_pid_that_helps_never_drops_the_model() -> None:
    control = controller()
    control.duty(0.5, [-2.0, 0.0], 12.0, DT)
    assert control.model_on.all()


@given(st.floats(-10.0, 10.0), st.floats(0.0, 3.0), st.floats(6.0, 15.0))
@settings(max_examples=60, deadline=None)
def test_duty_stays_within_the_firmwares_limit(position, time, supply) -> None:
    duty = controller().duty(time, [position, -position], supply, DT)
    assert np.all(np.abs(duty) <= MX.duty_limit)


def test_the_integral_stops_at_the_limit_and_comes_back_at_once() -> None:
    pid = Pid(PidGains(p=16.0, i=32.0), MX, 1)
    for _ in range(2000):
        assert abs(pid.duty(np.array([1.0]), DT)[0]) <= MX.duty_limit
    assert pid.duty(np.array([-0.1]), DT)[0] < 0.0
    pid.reset(0.2)
    assert pid.integral == pytest.approx([0.2])


def test_integral_and_derivative_are_in_the_firmwares_units() -> None:
    pid = Pid(PidGains(p=0.0, i=8.0, d=0.0), MX, 1)
    duty = sum(pid.duty(np.array([0.01]), DT)[0] for _ in [0])
    assert duty == pytest.approx(MX.duty_per_kp_rad * 8.0 * 8000.0 / 2048.0 * 0.01 * DT)
    slope = Pid(PidGains(p=0.0, i=0.0, d=8.0), MX, 1)
    slope.duty(np.array([0.0]), DT)
    assert slope.duty(np.array([0.01]), DT)[0] == pytest.approx(MX.duty_per_kp_rad * 8.0 * 0.032 * 0.01 / DT)


def test_settings_that_make_no_sense_are_refused() -> None:
    with refused(OutOfRange, thing="opposition resume", value=0.2):
        Opposition(drop=0.1, resume=0.2)
    with refused(OutOfRange, thing="PID p", value=-1.0):
        PidGains(p=-1.0)
    with refused(WrongShape, thing="controller laws", value=1):
        FeedForwardController(buffer(), [MODEL.law], MX)


def signal(time: np.ndarray) -> np.ndarray:
    return np.exp(-((time - 1.0) ** 2) / 0.05) + 0.5 * np.exp(-((time - 1.5) ** 2) / 0.02)


@given(st.floats(-0.15, 0.15), st.floats(0.5, 1.5), st.floats(-1.0, 1.0))
@settings(max_examples=40, deadline=None)
def test_a_motion_that_is_only_late_has_its_delay_and_no_deformation(delay, scale, offset) -> None:
    time = np.arange(0.0, 2.5, 2e-3)
    found = following(signal(time), signal(time - delay), 2e-3)
    assert found.delay == pytest.approx(delay, abs=3e-4)
    assert found.deformation < 2e-3
    moved = following(signal(time), offset + scale * signal(time - delay), 2e-3)
    assert moved.delay == pytest.approx(delay, abs=3e-4)


def test_in_space_the_delay_is_where_the_distance_is_least() -> None:
    time = np.arange(0.0, 2.5, 2e-3)
    goal = np.stack((signal(time), np.cos(3.0 * time), 0.1 * time), axis=1)
    late = np.stack((signal(time - 0.05), np.cos(3.0 * (time - 0.05)), 0.1 * (time - 0.05)), axis=1)
    found = following_in_space(goal, late, 2e-3)
    assert found.delay == pytest.approx(0.05, abs=3e-4)
    assert found.deformation < 1e-3 < found.error


@pytest.mark.parametrize(
    ("goal", "measured", "kind", "thing"),
    [
        (np.zeros(1000), np.ones(1000), BadData, "following goal"),
        (np.arange(1000.0), np.arange(999.0), WrongShape, "following measured, shape"),
        (np.arange(100.0), np.arange(100.0), BadData, "following"),
        (np.arange(1000.0), np.full(1000, np.nan), BadData, "following"),
    ],
)
def test_motions_that_cannot_be_compared_are_named(goal, measured, kind, thing) -> None:
    with refused(kind, thing=thing):
        following(goal, measured, 1e-3)


@pytest.fixture(scope="module")
def stage() -> Stage:
    rng = np.random.default_rng(1)
    servos = tuple(detuned(load_servo("mx64"), 0.1, rng) for _ in LEG_JOINTS)
    return Stage(
        spec=leg_spec, joints=LEG_JOINTS, servos=servos, site=FOOT, supply_voltage=11.8, settling=0.3
    )


@pytest.mark.long
def test_feed_forward_takes_the_delay_out_of_a_kick_of_servos_that_are_off(stage) -> None:
    laws = [FeedForwardLaw.from_servo(load_servo("mx64"))] * 6
    late = perform_by_position(stage, kick(), KICK_DURATION)
    prompt = perform_by_feed_forward(stage, kick(), KICK_DURATION, laws, timing=Timing(phase=0.3))
    found = [
        [following(run.goal[:, j], run.position[:, j], 1e-3) for j in range(6)] for run in (late, prompt)
    ]
    delays, deformations = (
        np.array([[getattr(each, kind) for each in row] for row in found])
        for kind in ("delay", "deformation")
    )
    assert delays[0].mean() > 0.05
    assert abs(delays[1].mean()) < 0.005
    assert deformations[1].mean() < 0.3 * deformations[0].mean()
    space = [following_in_space(run.goal_place, run.place, 1e-3) for run in (late, prompt)]
    assert abs(space[1].delay) < 0.005 < 0.05 < space[0].delay
    assert prompt.model_share > 0.99
    assert late.model_share == 0.0


@pytest.mark.parametrize("cut", np.arange(1, 14) * KICK_DURATION / 14)
def test_wherever_the_stream_ends_the_leg_stops_and_stays(stage, cut) -> None:
    laws = [MODEL.law] * 6
    run = perform_by_feed_forward(stage, kick(), KICK_DURATION, laws, cut=cut - 0.01)
    low, high = run.goal.min(axis=0) - np.radians(3.0), run.goal.max(axis=0) + np.radians(3.0)
    assert np.all(run.position >= low)
    assert np.all(run.position <= high)
    still = run.time > cut + 0.5
    assert np.all(np.ptp(run.position[still], axis=0) < np.radians(2.0))
    assert np.all(np.abs(run.duty[still]) < 0.5)


@pytest.mark.long
@given(st.floats(0.0, KICK_DURATION))
@settings(max_examples=60, deadline=None)
def test_after_a_stop_at_any_moment_the_reference_rests_within_limits(when) -> None:
    dynamics = InverseDynamics(compile_robot(leg_spec()), LEG_JOINTS)
    wide = np.full(6, 2.0)
    limits = Limits(low=-wide, high=wide, speed=4.0 * wide, torque=2.0 * wide)
    found = PieceBuffer(kick()(np.zeros(1))[0][0], limits)
    for piece in pieces_from_dynamics(dynamics, kick(), KICK_DURATION):
        if piece.start <= when:
            found.offer(piece, max(piece.start - 0.01, 0.0))
    before, now = found.at(when - 1e-4), found.at(when)
    found.stop(when)
    assert found.at(when).position == pytest.approx(now.position, abs=1e-9)
    assert found.at(when).velocity == pytest.approx(now.velocity, abs=1e-9)
    assert np.all(np.abs(found.at(when + 1e-4).position - before.position) < 2e-3)
    rest = found.at(when + 0.3)
    assert np.all(rest.velocity == 0.0)
    assert np.all(np.abs(rest.position - now.position) <= 0.051 * np.abs(now.velocity) + 1e-9)
    assert np.array_equal(rest.position, found.at(when + 100.0).position)


def test_the_same_run_is_the_same_and_a_servo_of_current_is_refused(stage) -> None:
    once, again = (perform_by_position(stage, kick(0.2), KICK_DURATION) for _ in range(2))
    assert np.array_equal(once.position, again.position)
    wrong = replace(stage, servos=(load_servo("erob80_100"),) * 6)
    with refused(Unsupported, thing="servo 'erob80_100'"):
        perform_by_position(wrong, kick(), KICK_DURATION)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_at_the_limit_the_integral_grows_no_further_and_goes_back_where_the_error_turns(sign: float) -> None:
    pid = Pid(PidGains(p=0.0, i=32.0), MX, 1)
    pid.reset(0.3 * sign)
    other = sign * MX.duty_limit  # what feed-forward adds: the sum is beyond the limit
    pid.duty(np.array([0.1 * sign]), DT, other)
    assert pid.integral == pytest.approx([0.3 * sign], abs=1e-12)
    pid.duty(np.array([-0.1 * sign]), DT, other)
    assert pid.integral[0] * sign < 0.3


def test_within_the_limit_the_integral_grows_with_the_error_of_its_own_joint() -> None:
    pid = Pid([PidGains(p=0.0, i=32.0), PidGains(p=0.0, i=16.0)], MX, 2)
    pid.duty(np.array([0.01, -0.02]), DT)
    unit = MX.duty_per_kp_rad * 8000.0 / 2048.0 * DT
    assert pid.integral == pytest.approx([0.32 * unit, -0.32 * unit])
