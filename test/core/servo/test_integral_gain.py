# SPDX-License-Identifier: Apache-2.0
"""An integral gain: alike in every executor, it removes errors, is limited, and is refused where unknown."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from bam_core.errors import OutOfRange, Unsupported
from bam_core.exchange.training.array_law import Joint, begin, motor_torque, servo_arrays
from bam_core.exchange.training.linear_drive import DriveGains
from bam_core.gears.rollout import GEAR_PARAMETERS, GearRollout
from bam_core.mujoco import BenchCommands, replay, simulate_recording
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware_library import FIRMWARES, firmware_fields, firmware_from_fields
from bam_core.servo.friction import Friction
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.run_start import initial_integral
from test.core.physics_cases import law, random_run, reference_positions, run, servo
from test.core.refusals import refused
from test.core.servo.test_current_law import erob, random_erob_run

STS = dataclasses.replace(servo(), firmware=dataclasses.replace(FIRMWARES["feetech-sts"], ki_scale=4.0))
CASES = {
    "plain": servo(),
    "shaped, slewed and protected": dataclasses.replace(
        STS, firmware=dataclasses.replace(STS.firmware, dead_band=0.01)
    ),
    "in counts, late": dataclasses.replace(
        STS, servo_effects=ServoEffects(encoder_quantisation=1.0, sensor_delay=0.002, firmware_gain=0.2)
    ),
    "weak": dataclasses.replace(servo(), servo_effects=ServoEffects(limit_shortfall=0.8, firmware_gain=-0.3)),
    "current": dataclasses.replace(
        erob(law("m6")), firmware=dataclasses.replace(erob().firmware, ki_scale=20.0, damping=0.5)
    ),
}
FREE = servo(Friction(), model="m1")
LOAD = PendulumBench(mass=0.5, length=0.15)


def with_ki(model: ServoModel, seed: int, ki: float = 30.0) -> Recording:
    make = random_erob_run if model.firmware.regulates_current else random_run
    return dataclasses.replace(make(seed, 2e-3), ki=ki, kd=0.0)


def positions(model: ServoModel, recording: Recording, settings: RolloutSettings | None = None) -> np.ndarray:
    rollout = Rollout([recording], model.firmware, settings or RolloutSettings(restart=math.inf))
    return rollout.positions(parameter_vector(model))[0]


def held(
    goal: float, seconds: float, *, ki: float, kp: float = 8.0, bench: PendulumBench = LOAD
) -> Recording:
    time = np.arange(round(seconds / 2e-3)) * 2e-3
    return dataclasses.replace(run(time, goal, position=goal, kp=kp, bench=bench), ki=ki)


def test_the_integral_is_the_sum_of_errors_in_the_maker_s_units() -> None:
    """K_p = kp/8 and K_i = ki·1000/2048 on one error (manual of MX), 32/8 and 8·1000/2048 here."""
    firmware = FIRMWARES["mx-protocol1"]
    rate = firmware.integral_rate(32.0, 8.0)
    assert rate == pytest.approx((8.0 * 1000.0 / 2048.0) / (32.0 / 8.0))
    integral = 0.0
    for _ in range(100):
        integral = firmware.integrated(integral, 0.02, kp=32.0, rate=rate, time=1e-3)
    assert integral == pytest.approx(rate * 0.02 * 0.1)
    assert firmware.demand(32.0, 0.02, integral=integral) == pytest.approx(0.158 * 32.0 * (0.02 + integral))
    # K_P = kp/128, and K_I = ki/65536 per period (manual of X)
    assert FIRMWARES["mx-protocol2"].integral_rate(128.0, 65536.0) == pytest.approx(1.0 / 1e-3)


def test_the_integral_stays_below_what_the_largest_demand_needs() -> None:
    firmware, integral = FIRMWARES["mx-protocol1"], 0.0
    for _ in range(10_000):
        integral = firmware.integrated(integral, 1.0, kp=32.0, rate=5.0, time=1e-3)
    assert firmware.demand(32.0, 0.0, integral=integral) == pytest.approx(firmware.duty_limit)
    assert firmware.integrated(integral, -1e-3, kp=32.0, rate=5.0, time=1e-3) < integral
    banded = dataclasses.replace(firmware, dead_band=0.01)
    assert banded.integrated(0.0, 0.01, kp=32.0, rate=5.0, time=1e-3) == 0.0


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("case", CASES)
def test_the_kernel_is_the_reference(case: str, integrator: str) -> None:
    model = dataclasses.replace(CASES[case], integrator=integrator)
    recordings = [with_ki(model, seed) for seed in range(3)]
    rollout = Rollout.for_servo(recordings, model, dt=2e-3, substeps=4, restart=math.inf)
    bench_effects = BenchEffects(zero_offset=0.03)
    simulated = rollout.positions(parameter_vector(model, bench_effects))
    for index, (recording, ours) in enumerate(zip(recordings, simulated, strict=True)):
        expected = reference_positions(rollout, model, recording, index, 4, bench_effects)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


@pytest.mark.parametrize("case", ["plain", "shaped, slewed and protected"])
def test_mujoco_moves_like_the_kernel(case: str) -> None:
    model = CASES[case]
    recording = with_ki(model, 1)
    recording = dataclasses.replace(recording, goal_position=0.6 * np.sin(6.0 * recording.time))
    kernel = positions(model, recording)
    effect = np.abs(positions(model, dataclasses.replace(recording, ki=0.0)) - kernel).mean()
    assert effect > 1e-3
    assert np.abs(simulate_recording(model, recording, dt=2.5e-4) - kernel).mean() < 0.05 * effect


def test_mujoco_s_motion_under_a_current_law_comes_to_the_kernel_s_with_shorter_steps() -> None:
    model = CASES["current"]
    recording = with_ki(model, 1)
    kernel = positions(model, recording)
    errors = [np.abs(simulate_recording(model, recording, dt=dt) - kernel).mean() for dt in (1e-3, 2.5e-4)]
    assert errors[1] < 0.4 * errors[0]


def test_a_gear_rollout_has_it_too() -> None:
    """A gear whose sides are alike and lossless is the kernel with friction that knows no load."""
    model = servo(law("m1"), model="m1")
    recording = with_ki(model, 2)
    vector = parameter_vector(model)
    plain = [vector[PARAMETERS.index(name)] for name in GEAR_PARAMETERS[:8]]
    geared = np.array([*plain, *np.zeros(len(GEAR_PARAMETERS) - 8)])
    gears, kernel = {}, {}
    for ki in (0.0, 30.0):
        of = dataclasses.replace(recording, ki=ki)
        gears[ki] = GearRollout([of], firmware=model.firmware).errors(geared)[0]
        kernel[ki] = Rollout.for_servo([of], model).errors(vector)[0]
    change = kernel[30.0] - kernel[0.0]
    assert abs(change) > 1e-3
    assert gears[30.0] - gears[0.0] == pytest.approx(change, rel=0.1)


def test_the_law_of_arrays_sums_and_limits_as_the_specification() -> None:
    model = load_servo("xm430_w350")
    gains = DriveGains(kp=800.0, ki=400.0)
    arrays, firmware = servo_arrays("xm430_w350", gains), model.firmware
    rate = firmware.integral_rate(gains.kp, gains.ki)
    state, integral = begin(np.zeros(2)), np.zeros(2)
    goals = np.array([0.02, 1.0])
    for k in range(400):
        goals = -goals if k == 300 else goals
        joint = Joint(position=np.zeros(2), velocity=np.zeros(2), external_torque=0.0, inertia=1e-2)
        state, torque = motor_torque(arrays, state, goals, np.array([True, True]), joint, 5e-3)
        integral = np.array(
            [
                firmware.integrated(before, goal, kp=gains.kp, rate=rate, time=5e-3)
                for before, goal in zip(integral, goals, strict=True)
            ]
        )
        duty = firmware.demand(gains.kp, goals, integral=integral)
        np.testing.assert_allclose(torque, model.motor.torque(duty * arrays.supply, 0.0), atol=1e-12)
    off, _ = motor_torque(arrays, state, goals, np.array([False, True]), joint, 5e-3)
    assert off.integral[0] == 0.0 != off.integral[1]


@pytest.mark.parametrize("name", ["xm430_w350", "mx106"])
def test_a_constant_load_leaves_no_error(name: str) -> None:
    """Without friction, the integral alone balances gravity at the end."""
    model = dataclasses.replace(load_servo(name), friction_model="m1", friction=Friction())
    kp = model.firmware.factory_kp
    load = PendulumBench(mass=0.1 * model.stall_torque() / (9.81 * 0.15), length=0.15)
    ki = 2.0 * kp / (model.firmware.ki_scale or 0.0)  # 1/T_i = 2/s
    left = {
        gain: positions(model, held(1.2, 8.0, ki=gain, kp=kp, bench=load))[-1] - 1.2 for gain in (0.0, ki)
    }
    sag = load.gravity_torque * math.sin(1.2 + left[0.0]) / _stiffness(model, kp)
    assert abs(left[0.0]) == pytest.approx(sag, rel=0.02)
    assert abs(left[ki]) < 1e-4 * abs(left[0.0])


def _stiffness(model: ServoModel, kp: float) -> float:
    duty_per_rad = float(model.firmware.gains(kp)[0])
    return duty_per_rad * 15.0 * model.motor.torque_constant / model.motor.resistance


@pytest.mark.parametrize("share", [0.5, 0.9, 1.1, 1.5])
def test_an_integral_gain_is_stable_up_to_where_routh_s_criterion_has_it(share: float) -> None:
    """Without load and friction J·s³ + b·s² + K·s + K/T_i is stable for 1/T_i < b/J, b = k_t²/R."""
    bench, kp = PendulumBench(mass=1e-3, length=0.02), 4.0  # 0.2 mN·m
    inertia = bench.inertia + FREE.motor.armature
    damping = FREE.motor.torque_constant**2 / FREE.motor.resistance
    rate = share * damping / inertia
    stiffness = _stiffness(FREE, kp)
    growth = max(np.roots([inertia, damping, stiffness, stiffness * rate]).real)
    assert (growth < 0.0) == (share < 1.0)
    swing = run(np.arange(1500) * 2e-3, 0.0, position=1e-3, kp=kp, bench=bench)
    swing = dataclasses.replace(swing, ki=rate * kp / (FREE.firmware.ki_scale or 0.0))
    motion = np.abs(positions(FREE, swing, RolloutSettings(dt=1e-3, substeps=4, restart=math.inf)))
    before, after = motion[500:700].max(), motion[1200:1400].max()  # 1.4 s apart
    assert math.log(after / before) == pytest.approx(1.4 * growth, rel=0.15, abs=0.1)


def test_saturation_does_not_wind_it_up() -> None:
    """A goal out of reach for long: behind it, the integral unwinds in the time that a full one needs."""
    heavy = PendulumBench(mass=3.0, length=0.3)  # 8.8 N·m: more than 20 % of the duty can lift
    time = np.arange(4000) * 2e-3

    def undershoot(wait: float) -> float:
        goal = np.where((time > 0.5) & (time < 0.5 + wait), 1.5, 0.0)
        recording = dataclasses.replace(
            run(time, goal, position=0.0, kp=16.0, bench=heavy), ki=40.0, demand_limit=0.2
        )
        after = time > 0.5 + wait
        return float(np.abs(positions(FREE, recording)[after][:1000]).mean())

    assert undershoot(4.0) == pytest.approx(undershoot(2.0), rel=0.05)


def test_torque_off_clears_it() -> None:
    time = np.arange(3000) * 2e-3
    enabled = (time < 3.0) | (time > 3.5)
    recording = dataclasses.replace(
        run(time, 1.0, position=1.0, enabled=enabled, kp=8.0, bench=LOAD), ki=16.0
    )
    fresh = held(1.0, 2.5, ki=16.0)
    for simulate in (positions, simulate_recording):
        moved = simulate(FREE, recording)
        again = moved[time > 3.5]
        assert abs(moved[np.flatnonzero(time < 3.0)[-1]] - 1.0) < 1e-3
        # It sags again as a servo whose integral is 0, where the arm has come back from the fall.
        sag = np.abs(simulate(FREE, fresh) - 1.0).max()
        assert np.abs(again[200:] - 1.0).max() > 0.8 * sag


def test_pieces_of_a_simulation_start_with_the_integral_of_the_measured_errors() -> None:
    truth = CASES["plain"]
    recording = held(1.0, 6.0, ki=16.0)
    recording = dataclasses.replace(recording, position=positions(truth, recording))
    whole = positions(truth, recording)
    pieces = positions(truth, recording, RolloutSettings(restart=0.5))
    np.testing.assert_allclose(pieces, whole, atol=2e-3)
    forgetful = positions(truth, dataclasses.replace(recording, ki=0.0), RolloutSettings(restart=0.5))
    assert np.abs(forgetful - whole)[len(whole) // 2 :].max() > 5e-3


def test_a_recording_that_begins_under_torque_starts_with_the_integral_that_its_duty_shows() -> None:
    recording = held(1.2, 6.0, ki=16.0)
    moved = positions(FREE, recording)
    late = slice(2500, None)
    firmware, kp = FREE.firmware, recording.kp
    integrals = firmware.integrals(
        recording.goal_position - moved,
        np.ones(len(moved)),
        kp=kp,
        rate=firmware.integral_rate(kp, recording.ki),
        time=2e-3,
    )
    duty = firmware.demand(kp, recording.goal_position - moved, integral=integrals)
    signals = {
        name: getattr(recording, name)[late]
        for name in ("velocity", "goal_position", "torque_enabled", "voltage", "temperature")
    }
    known = dataclasses.replace(
        recording, time=recording.time[: 3000 - 2500], position=moved[late], duty=duty[late], **signals
    )
    assert initial_integral(known, firmware) == pytest.approx(integrals[2500], rel=1e-2)
    for simulate in (positions, simulate_recording):
        np.testing.assert_allclose(simulate(FREE, known), known.position, atol=1e-3)
        unknown = dataclasses.replace(known, duty=np.full(len(known), np.nan))
        assert np.abs(simulate(FREE, unknown) - unknown.position).max() > 1e-2
    off = dataclasses.replace(known, torque_enabled=np.zeros(len(known), dtype=bool))
    assert initial_integral(off, firmware) == 0.0


def test_zero_is_bit_for_bit_the_law_without_it() -> None:
    for model in (servo(), STS):
        bare = dataclasses.replace(model, firmware=dataclasses.replace(model.firmware, ki_scale=None))
        recording = random_run(5, 2e-3)
        for simulate in (positions, simulate_recording):
            assert np.array_equal(simulate(model, recording), simulate(bare, recording))


def test_a_firmware_whose_integral_gain_nobody_knows_refuses_one_in_every_executor() -> None:
    for name in ("xl330", "sts3215"):
        model = load_servo(name)
        recording = dataclasses.replace(random_run(0, 2e-3), ki=4.0)
        commands = BenchCommands(
            goal_position=np.zeros(2), torque_enabled=np.ones(2), supply_voltage=5.0, ki=4.0
        )
        for simulate in (
            lambda of=recording, one=model: Rollout.for_servo([of], one),
            lambda of=recording, one=model: simulate_recording(one, of),
            lambda of=recording, one=model: GearRollout([of], firmware=one.firmware),
            lambda one=model, given=commands: replay(one, LOAD, given, dt=1e-3, kp=16.0),
            lambda one=name: servo_arrays(one, DriveGains(kp=16.0, ki=4.0)),
            lambda one=model: one.firmware.integral_rate(16.0, 4.0),
        ):
            with pytest.raises(Unsupported, match="ki"):
                simulate()


def test_an_integral_gain_without_a_position_gain_is_refused() -> None:
    with refused(Unsupported, thing="ki"):
        FIRMWARES["mx-protocol1"].integral_rate(0.0, 4.0)
    assert FIRMWARES["mx-protocol1"].integral_rate(0.0, 0.0) == 0.0


def test_a_servo_file_keeps_it() -> None:
    firmware = FIRMWARES["mx-protocol2"]
    assert firmware_from_fields("x", firmware_fields(firmware)).ki_scale == firmware.ki_scale
    assert "ki_scale" not in firmware_fields(FIRMWARES["feetech-sts"])
    with refused(OutOfRange, thing="firmware 'mx-protocol2' ki_scale"):
        dataclasses.replace(firmware, ki_scale=-1.0)
    with refused(OutOfRange, thing="ki"):
        dataclasses.replace(random_run(0, 2e-3), ki=-1.0)
