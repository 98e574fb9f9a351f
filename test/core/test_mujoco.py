# SPDX-License-Identifier: Apache-2.0
"""Servos in MuJoCo: friction that holds and never drives, and trajectories of the reference."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad

from bam_core.effects import Quirks, Rig
from bam_core.errors import BamError
from bam_core.friction import FRICTION_PARAMETERS, QUADRATIC_RULES, Friction
from bam_core.motor import COPPER_COEFFICIENT, WINDING_COOLING_TIME, DcMotor
from bam_core.mujoco import (
    BENCH_JOINT,
    ServoActuation,
    SimulationError,
    _law,
    bench_spec,
    bench_urdf,
    compile_robot,
    equip,
    load_robot,
    replay,
    replay_recording,
    simulate_recording,
)
from bam_core.pendulum import GRAVITY, PendulumBench
from bam_core.recording import Recording
from bam_core.reference import ReferenceSimulation
from bam_core.rollout import Rollout, parameter_vector
from bam_core.servo_model import MOTOR_EFFECTS, QUIRKS, ServoModel, load_servo
from bam_core.synthetic import synthesize
from bam_core.trajectories import SCRIPTS

Array = NDArray[np.float64]

BENCH = PendulumBench(mass=0.5, length=0.15)
SERVO = load_servo("mx106")
FREE = dataclasses.replace(
    SERVO, friction=Friction(), motor=DcMotor(torque_constant=2.0, resistance=2.0, armature=0.01)
)


ENCODER_NOISE = 2.0 * np.pi / 4096 / np.sqrt(12.0)
"""rad, 0.44e-3; what rounding to the counts of an XL330's or MX's encoder puts on a recording."""

EFFECT_CASES = {
    "torque_saturation": {"torque_saturation": 0.3},
    "winding_heating": {"winding_heating": 16.0},
    "zero_offset": {"zero_offset": 0.03},
    # The rollout spreads a release over the firmware's period that it falls into: here it falls near an end.
    "command_delay": {"command_delay": 0.0039},
    "negative_command_delay": {"command_delay": -0.001},
    "arm_compliance": {"arm_compliance": 0.3},
    "arm_backlash": {"arm_compliance": 0.1, "arm_backlash": 0.03},
    "bridge_coasting": {"bridge_coasting": 0.7},
    "firmware_gain": {"firmware_gain": -0.1},
    "limit_shortfall": {"limit_shortfall": 0.7},
    "sensor_delay": {"sensor_delay": 0.004},
    "arm_mass": {"arm_mass": 0.02},
    "all": {
        "torque_saturation": 0.3,
        "winding_heating": 8.0,
        "zero_offset": -0.03,
        "command_delay": 0.0039,
        "arm_compliance": 0.3,
        "arm_backlash": 0.03,
    },
}
SOFT = Rig(arm_compliance=0.3, arm_backlash=0.03)


def affected(servo: ServoModel, **effects: float) -> ServoModel:
    def of(names: tuple[str, ...]) -> dict[str, float]:
        return {name: effects.pop(name) for name in names if name in effects}

    motor = dataclasses.replace(servo.motor, **of(MOTOR_EFFECTS))
    return dataclasses.replace(servo, motor=motor, quirks=Quirks(**of(QUIRKS)), rig=Rig(**effects))


def on_bench(
    servo: ServoModel, bench: PendulumBench = BENCH, *, position: float = 0.0, dt: float = 1e-3
) -> ServoActuation:
    spec = bench_spec(bench, timestep=dt)
    equip(spec, {BENCH_JOINT: servo})
    model = compile_robot(spec)
    data = mujoco.MjData(model)
    data.qpos[0] = position
    return ServoActuation(model, data, {BENCH_JOINT: servo})


def at_full_duty(servo: ServoModel) -> ServoActuation:
    """Return a servo on the bench whose duty is at its limit and stays there."""
    actuation = on_bench(servo)
    actuation.torque_enabled[0], actuation.goal_position[0] = 1.0, 1000.0
    actuation.step()
    return actuation


def walker(seed: int = 0, servo: ServoModel | None = None) -> ServoActuation:
    """Three legs of two servos each below a floating base, over a floor."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec()
    spec.option.timestep = 1e-3
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    base = spec.worldbody.add_body(pos=[0, 0, 0.36])
    base.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1, 0.1, 0.03], mass=1.0)
    base.add_freejoint()
    servos = {}
    for leg in range(3):
        body, position = base, [0.12 * np.cos(2.1 * leg), 0.12 * np.sin(2.1 * leg), 0.0]
        for segment in range(2):
            body = body.add_body(pos=position)
            name = f"leg{leg}_{segment}"
            body.add_joint(name=name, axis=rng.normal(size=3), damping=[0.1, 0, 0])
            actuator = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.set_to_position(kp=10.0)
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_CAPSULE,
                size=[0.02, 0, 0],
                fromto=[0, 0, 0, 0, 0, -0.15],
                mass=0.2,
            )
            position = [0, 0, -0.17]
            servos[name] = servo or load_servo("mx64")
    equip(spec, servos)
    model = compile_robot(spec)
    return ServoActuation(model, mujoco.MjData(model), servos)


@pytest.mark.parametrize("share", [0.5, 0.9])
@pytest.mark.parametrize("name", ["mx106", "mx64", "xl330"])
def test_a_joint_held_by_friction_does_not_drift(name: str, share: float) -> None:
    servo = load_servo(name)
    mass = 0.0  # such that gravity at 1 rad takes this share of the friction budget that it causes
    for _ in range(50):
        bench = PendulumBench(mass=mass, length=0.1)
        gravity = float(bench.external_torque(1.0))
        wanted = share * float(servo.friction.budget(0.0, gravity, 0.0))
        mass = wanted / (0.1 * 9.80665 * np.sin(1.0))
    actuation = on_bench(servo, PendulumBench(mass=mass, length=0.1), position=1.0)
    for _ in range(10_000):
        actuation.step()
    assert -actuation.external_torque[0] == pytest.approx(share * actuation.friction_budget[0], rel=1e-6)
    assert abs(actuation.position[0] - 1.0) < 1e-9


def test_a_joint_slides_once_gravity_exceeds_the_budget() -> None:
    servo = dataclasses.replace(SERVO, friction_model="m1", friction=Friction(coulomb=0.3))
    actuation = on_bench(servo, position=1.0)
    for _ in range(3000):
        actuation.step()
    final = actuation.position[0]
    assert actuation.velocity[0] == pytest.approx(0.0, abs=1e-12)
    assert abs(float(BENCH.external_torque(final))) < 0.3 < abs(float(BENCH.external_torque(1.0)))


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    position=st.floats(-3.0, 3.0),
    velocity=st.floats(-20.0, 20.0),
)
def test_friction_never_adds_energy_to_the_bench(seed: int, position: float, velocity: float) -> None:
    coefficients = np.random.default_rng(seed).uniform(0.0, 0.3, len(FRICTION_PARAMETERS))
    friction = Friction(
        **{
            **dict(zip(FRICTION_PARAMETERS, coefficients, strict=True)),
            "stribeck_velocity": 1.0,
            "stribeck_exponent": 1.2,
        }
    )
    actuation = on_bench(dataclasses.replace(SERVO, friction=friction), position=position, dt=2e-4)
    actuation.data.qvel[0] = velocity
    for _ in range(100):
        before = actuation.velocity[0]
        actuation.step()
        without = before + 2e-4 * actuation.data.qacc_smooth[0]
        assert abs(actuation.velocity[0]) <= abs(without) + 1e-9
        assert actuation.friction_torque[0] * actuation.velocity[0] <= 1e-8


@pytest.mark.parametrize("effects", [{}, EFFECT_CASES["all"]], ids=["plain", "all effects"])
def test_friction_never_drives_a_walking_robot(effects: dict[str, float]) -> None:
    actuation = walker(servo=affected(load_servo("mx64"), **effects))
    actuation.torque_enabled[:] = 1.0
    steps_in_contact = 0
    for k in range(2000):
        actuation.goal_position[:] = 0.3 * np.sin(6e-3 * k)
        actuation.step()
        steps_in_contact += actuation.data.ncon > 0
        assert (actuation.friction_torque * actuation.velocity).max() <= 1e-8
        assert (np.abs(actuation.friction_torque) <= actuation.friction_budget * (1.0 + 1e-9)).all()
    assert steps_in_contact > 500


def test_a_bench_without_friction_keeps_its_amplitude() -> None:
    run = replay(
        FREE,
        BENCH,
        dt=5e-3,
        goal_position=np.zeros(1200),
        torque_enabled=np.zeros(1200, dtype=bool),
        kp=32.0,
        supply_voltage=15.0,
        position=1.0,
    )
    peaks = np.abs(run.position[-200:])
    assert peaks.max() == pytest.approx(1.0, abs=1e-3)


def test_a_free_swing_converges_with_second_order() -> None:
    def final(dt: float) -> float:
        steps = round(1.0 / dt) + 1
        free = np.zeros(steps, dtype=bool)
        run = replay(
            FREE,
            BENCH,
            dt=dt,
            goal_position=np.zeros(steps),
            torque_enabled=free,
            kp=32.0,
            supply_voltage=15.0,
            position=1.0,
            velocity=2.0,
        )
        return float(run.position[-1])

    exact = final(6.25e-5)
    coarse, fine = abs(final(4e-3) - exact), abs(final(2e-3) - exact)
    assert coarse / fine == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("script", SCRIPTS)
@pytest.mark.parametrize(
    ("name", "mass", "length", "kp"),
    [("mx106", 0.5, 0.15, 16), ("xl330", 0.1, 0.1, 400), ("xl330_bam", 0.1, 0.1, 400)],
)
def test_it_is_closer_to_the_converged_reference_than_algorithm_1(
    name: str, mass: float, length: float, kp: float, script: str
) -> None:
    servo = load_servo(name)
    # The rollout spreads a release over the firmware's period that it falls into: here it falls between two.
    delay = round(servo.rig.command_delay / servo.firmware.period) * servo.firmware.period
    servo = dataclasses.replace(servo, rig=dataclasses.replace(servo.rig, command_delay=delay))
    run = synthesize(servo, PendulumBench(mass=mass, length=length), script, kp, sample_period=1e-3)
    (truth,) = converged(servo, [run])
    for dt in (1e-3, 2e-3):
        algorithm1 = Rollout(
            [run],
            firmware=servo.firmware,
            dt=dt,
            integrator="algorithm1",
            quadratic_rule=servo.friction.quadratic_rule,
        ).positions(parameter_vector(servo))[0]
        ours = simulate_recording(servo, run, dt=dt)
        error, allowed = distances([ours, algorithm1], [truth, truth])
        assert error < 0.5 * allowed
        # The arm's link rings at 10 Hz and is of second order: twice the step, four times the error.
        growth = (dt / 1e-3) ** 2 if servo.rig.arm_compliance else 1.0
        assert error < ENCODER_NOISE * growth


@pytest.mark.parametrize("enabled", [0.25, 0.5, 0.9])
def test_a_release_within_a_step_starts_the_fall_when_it_was_given(enabled: float) -> None:
    """The arm, held up by friction and motor, gets as fast as if it had been released at that time."""
    servo = dataclasses.replace(
        SERVO, friction_model="m6", friction=Friction(coulomb=0.02, load_motor=0.4, load_external=0.2)
    )
    dt, release, steps = 2e-3, 50, 60
    torque = np.where(np.arange(steps) < release, 1.0, 0.0)
    torque[release] = enabled
    run = replay(
        servo,
        BENCH,
        dt=dt,
        goal_position=np.full(steps, 1.005),
        torque_enabled=torque,
        kp=32.0,
        supply_voltage=15.0,
        position=1.0,
    )
    assert np.ptp(run.position[10:release]) < 1e-9
    gravity = float(BENCH.gravity_torque * np.sin(1.0))
    falls = gravity - float(servo.friction.budget(0.0, -gravity, 0.0))
    since = 2.5 - enabled  # steps; velocities belong to the middle of steps
    expected = -falls / (BENCH.inertia + servo.motor.armature) * since * dt
    assert run.velocity[release + 3] == pytest.approx(expected, rel=1e-3)


@pytest.fixture(scope="module")
def runs() -> list[Recording]:
    servo = load_servo("xl330")
    return [synthesize(servo, PendulumBench(mass=0.1, length=0.1), script, 400.0) for script in SCRIPTS]


def converged(servo: ServoModel, runs: list[Recording]) -> list[Array]:
    """Return what a rollout with very small steps makes of recorded commands, rad."""
    rollout = Rollout(
        runs,
        firmware=servo.firmware,
        dt=servo.firmware.period,
        substeps=50,
        quadratic_rule=servo.friction.quadratic_rule,
    )
    return rollout.positions(parameter_vector(servo))


def distances(simulated: list[Array], expected: list[Array]) -> list[float]:
    """Return the root mean square difference of each run, rad."""
    return [float(np.sqrt(np.mean((x - y) ** 2))) for x, y in zip(simulated, expected, strict=True)]


@pytest.mark.parametrize("case", EFFECT_CASES)
def test_effects_are_those_of_the_converged_rollout(case: str, runs: list[Recording]) -> None:
    plain = load_servo("xl330")
    servo = affected(plain, **EFFECT_CASES[case])
    expected = converged(servo, runs)
    assert max(distances([simulate_recording(servo, run) for run in runs], expected)) < ENCODER_NOISE
    assert max(distances(converged(plain, runs), expected)) > 3e-3


@pytest.mark.parametrize("case", ["winding_heating", "all"])
def test_a_servo_that_was_warm_when_recorded_is_that_of_the_converged_rollout(
    case: str, runs: list[Recording]
) -> None:
    servo = affected(load_servo("xl330"), **EFFECT_CASES[case])
    warm = [dataclasses.replace(run, temperature=np.full(len(run), 60.0)) for run in runs]
    expected = converged(servo, warm)
    assert max(distances([simulate_recording(servo, run) for run in warm], expected)) < ENCODER_NOISE
    assert max(distances(converged(servo, runs), expected)) > 3e-3


def test_friction_of_a_warm_servo_is_that_of_the_converged_rollout(runs: list[Recording]) -> None:
    servo = affected(load_servo("xl330"), friction_temperature=0.03)
    warm = [dataclasses.replace(run, temperature=np.full(len(run), 60.0)) for run in runs]
    expected = converged(servo, warm)
    assert max(distances([simulate_recording(servo, run) for run in warm], expected)) < ENCODER_NOISE
    assert max(distances(converged(servo, runs), expected)) > 2e-3


def test_a_supply_that_ripples_is_that_of_the_converged_rollout(runs: list[Recording]) -> None:
    servo = affected(load_servo("xl330"), supply_ripple=0.8)
    rippling = [dataclasses.replace(run, voltage=7.5 + 2.0 * np.sin(5.0 * run.time)) for run in runs]
    expected = converged(servo, rippling)
    assert max(distances([simulate_recording(servo, run) for run in rippling], expected)) < ENCODER_NOISE
    assert max(distances(converged(load_servo("xl330"), rippling), expected)) > 3e-3


def test_whole_counts_are_those_of_the_converged_rollout(runs: list[Recording]) -> None:
    xl330 = load_servo("xl330")
    coarse = dataclasses.replace(xl330, firmware=dataclasses.replace(xl330.firmware, counts_per_turn=256))
    zero = 0.4 * coarse.firmware.resolution
    servo = affected(coarse, encoder_quantisation=1.0, zero_offset=zero)
    expected = converged(servo, runs)
    assert max(distances([simulate_recording(servo, run) for run in runs], expected)) < ENCODER_NOISE
    assert max(distances(converged(affected(coarse, zero_offset=zero), runs), expected)) > 2e-3


def test_an_arm_that_is_held_hangs_still_behind_its_link() -> None:
    held = dataclasses.replace(SERVO, friction_model="m1", friction=Friction(coulomb=100.0))
    run = replay(
        held,
        BENCH,
        dt=1e-4,
        goal_position=np.zeros(5000),
        torque_enabled=np.zeros(5000, dtype=bool),
        kp=32.0,
        supply_voltage=15.0,
        position=1.0,
        rig=SOFT,
    )
    link = ReferenceSimulation(
        firmware=held.firmware, motor=held.motor, friction=held.friction, bench=BENCH, kp=32.0, rig=SOFT
    )
    arm = link.at_rest(1.0, dt=1e-4).arm_position
    assert 0.75 < arm < 0.9
    assert np.abs(run.position - 1.0).max() < 1e-9
    # The link's formula weakens the spring a little, the less the shorter the step.
    np.testing.assert_allclose(run.friction_torque, BENCH.gravity_torque * np.sin(arm), rtol=5e-4)


def test_the_goal_of_a_replay_is_the_one_in_force() -> None:
    servo = affected(SERVO, zero_offset=0.05, command_delay=0.0025)
    run = synthesize(SERVO, BENCH, "sin_sin", 16.0)
    plain, late = replay_recording(SERVO, run), replay_recording(servo, run)
    middle = 0.5 * (plain.goal_position[:-3] + plain.goal_position[1:-2])
    np.testing.assert_allclose(late.goal_position[3:], middle, atol=1e-12)
    assert late.position[0] == pytest.approx(plain.position[0], abs=1e-12)


def test_the_rig_stays_out_of_robots() -> None:
    positions = []
    plain = load_servo("mx64")
    rig = Rig(zero_offset=0.3, command_delay=0.05, arm_compliance=0.3, arm_backlash=0.03)
    for servo in (plain, dataclasses.replace(plain, rig=rig)):
        actuation = walker(servo=servo)
        actuation.torque_enabled[:] = 1.0
        for k in range(300):
            actuation.goal_position[:] = 0.3 * np.sin(6e-3 * k)
            actuation.step()
        positions.append(actuation.data.qpos.copy())
    assert (positions[0] == positions[1]).all()


@pytest.mark.parametrize("saturation", [0.0, 0.4])
def test_a_stalled_motor_warms_and_weakens_and_cools_again(saturation: float) -> None:
    stuck = Friction(coulomb=100.0)
    servo = dataclasses.replace(SERVO, friction_model="m1", friction=stuck)
    servo = affected(servo, torque_saturation=saturation, winding_heating=0.5)
    motor, actuation = servo.motor, on_bench(servo)
    actuation.torque_enabled[0], actuation.goal_position[0] = 1.0, 3.0  # as much duty as there is
    for _ in range(8000):
        actuation.step()
    warming = actuation.winding_warming[0]
    voltage = servo.firmware.duty_limit * servo.nominal_voltage

    def seconds_per_kelvin(warmed: float) -> float:
        gained = motor.winding_heating * voltage**2 / (motor.resistance * (1.0 + COPPER_COEFFICIENT * warmed))
        return 1.0 / (gained - warmed / WINDING_COOLING_TIME)

    assert warming > 50.0
    assert quad(seconds_per_kelvin, 0.0, warming)[0] == pytest.approx(8.0, rel=1e-4)
    current = voltage / (motor.resistance * (1.0 + COPPER_COEFFICIENT * warming))
    torque = motor.torque_constant * current / (1.0 + saturation * current)
    assert actuation.current[0] == pytest.approx(current, rel=1e-4)
    assert actuation.motor_torque[0] == pytest.approx(torque, rel=1e-4)

    actuation.torque_enabled[0] = 0.0
    actuation.step()  # the switch falls into the middle of this step
    warming = actuation.winding_warming[0]
    for _ in range(3000):
        actuation.step()
    assert actuation.winding_warming[0] == pytest.approx(
        warming * np.exp(-3.0 / WINDING_COOLING_TIME), rel=1e-4
    )
    actuation.reset()
    assert actuation.winding_warming[0] == 0.0


def test_windings_start_as_warm_as_their_case_and_cool_down_to_it() -> None:
    actuation = on_bench(affected(SERVO, winding_heating=0.5))
    actuation.case_warming[0] = 35.0
    actuation.reset()
    assert actuation.winding_warming[0] == 35.0
    actuation.winding_warming[0] = 100.0
    for _ in range(3000):
        actuation.step()
    cooled = 35.0 + 65.0 * np.exp(-3.0 / WINDING_COOLING_TIME)
    assert actuation.winding_warming[0] == pytest.approx(cooled, rel=1e-5)


def test_a_winding_that_does_not_heat_up_ignores_its_case() -> None:
    actuation = at_full_duty(affected(SERVO, torque_saturation=0.3))
    actuation.case_warming[0] = 35.0
    actuation.reset()
    for _ in range(100):
        actuation.step()
    assert actuation.winding_warming[0] == 0.0


@pytest.mark.parametrize("case", ["torque_saturation", "winding_heating", "all"])
def test_a_short_circuited_motor_only_takes_energy(case: str) -> None:
    dt, steps = 5e-4, 4000
    servo = affected(FREE, **EFFECT_CASES[case])
    run = replay(
        servo,
        BENCH,
        dt=dt,
        goal_position=np.zeros(steps),
        torque_enabled=np.ones(steps, dtype=bool),
        kp=32.0,
        supply_voltage=0.0,
        position=2.5,
    )
    velocity = (run.position[2:] - run.position[:-2]) / (2.0 * dt)
    position, torque = run.position[1:-1], run.motor_torque[1:-1]
    assert (torque * velocity).max() < 1e-9
    inertia = BENCH.inertia + servo.motor.armature
    energy = 0.5 * inertia * velocity**2 - BENCH.mass * GRAVITY * BENCH.length * np.cos(position)
    taken = np.cumsum((torque * velocity)[:-1]) * dt
    assert taken[-1] < -0.3
    np.testing.assert_allclose(energy[1:] - energy[0], taken, atol=1e-4)


@given(
    saturation=st.floats(0.0, 3.0),
    heating=st.floats(0.0, 20.0),
    warming=st.floats(0.0, 200.0),
    case=st.floats(-30.0, 60.0),
    velocity=st.floats(-10.0, 10.0),
    supply=st.floats(-20.0, 20.0),
)
@settings(deadline=None, max_examples=50)
def test_the_compiled_motor_is_that_of_dc_motor(
    saturation: float, heating: float, warming: float, case: float, velocity: float, supply: float
) -> None:
    servo = affected(SERVO, torque_saturation=saturation, winding_heating=heating)
    motor, actuation = servo.motor, at_full_duty(servo)
    actuation.data.qvel[0] = velocity - 0.5e-3 * actuation.data.qacc[0]
    actuation.winding_warming[0], actuation.supply_voltage[0] = warming, supply
    actuation.case_warming[0] = case
    actuation.step()
    voltage = servo.firmware.duty_limit * supply
    current = float(motor.current(voltage, velocity, True, warming))
    warmed = warming + 1e-3 * float(motor.warming_rate(current, warming, case if heating else 0.0))
    assert actuation.current[0] == pytest.approx(current, rel=1e-9, abs=1e-9)
    assert actuation.motor_torque[0] == pytest.approx(
        float(motor.torque(voltage, velocity, True, warming)), rel=1e-9, abs=1e-9
    )
    assert actuation.winding_warming[0] == pytest.approx(warmed, rel=1e-9, abs=1e-9)


def test_without_effects_the_motor_is_equation_13_to_the_last_digit() -> None:
    actuation, motor = at_full_duty(SERVO), SERVO.motor
    for k in range(300):
        actuation.supply_voltage[0] = 15.0 * np.sin(0.02 * k)
        velocity = actuation.velocity[0] + 0.5e-3 * actuation.data.qacc[0]
        actuation.step()
        voltage = actuation.duty[0] * actuation.supply_voltage[0]
        torque = motor.torque_constant / motor.resistance * (voltage - motor.torque_constant * velocity)
        assert actuation.motor_torque[0] == torque
        assert actuation.current[0] == torque / motor.torque_constant
    assert actuation.winding_warming[0] == 0.0


@given(
    coefficients=st.lists(st.floats(0.01, 2.0), min_size=11, max_size=11),
    rule=st.sampled_from(QUADRATIC_RULES),
    motor=st.floats(-10.0, 10.0),
    external=st.floats(-10.0, 10.0),
    velocity=st.floats(-20.0, 20.0),
)
@settings(deadline=None)
def test_the_compiled_budget_is_that_of_friction(
    coefficients: list[float], rule: str, motor: float, external: float, velocity: float
) -> None:
    friction = Friction(**dict(zip(FRICTION_PARAMETERS, coefficients, strict=True)), quadratic_rule=rule)
    row = np.array(_law.constants(dataclasses.replace(SERVO, friction=friction)))
    expected = float(friction.budget(motor, external, velocity))
    assert _law.budget(row, motor, external, velocity) == pytest.approx(expected, rel=1e-12)


def test_torque_off_releases_the_bridge() -> None:
    actuation = on_bench(FREE)
    actuation.torque_enabled[0], actuation.goal_position[0] = 1.0, 1.0
    for _ in range(300):
        actuation.step()
    assert actuation.motor_torque[0] != 0.0
    actuation.torque_enabled[0] = 0.0
    actuation.step()  # the switch falls into the middle of this step
    actuation.step()
    assert actuation.motor_torque[0] == 0.0
    assert actuation.duty[0] == 0.0
    assert actuation.current[0] == 0.0
    assert actuation.velocity[0] != 0.0


def test_the_firmware_holds_its_duty_for_its_period() -> None:
    actuation = on_bench(SERVO, dt=2.5e-4)
    actuation.torque_enabled[0] = 1.0
    duties = []
    for k in range(40):
        actuation.goal_position[0] = 0.001 * k
        actuation.step()
        duties.append(actuation.duty[0])
    blocks = np.reshape(duties, (10, 4))
    assert (blocks == blocks[:, :1]).all()
    assert len(set(blocks[:, 0])) == 10


def test_the_model_and_the_user_s_forces_stay_as_they_are() -> None:
    actuation = walker()
    size = mujoco.mj_sizeModel(actuation.model)
    before, after = np.zeros(size, dtype=np.uint8), np.zeros(size, dtype=np.uint8)
    mujoco.mj_saveModel(actuation.model, None, before)
    actuation.torque_enabled[:] = 1.0
    actuation.data.qfrc_applied[:] = 0.01
    for _ in range(50):
        actuation.step()
    mujoco.mj_saveModel(actuation.model, None, after)
    assert (before == after).all()
    assert (actuation.data.qfrc_applied == 0.01).all()


def test_joint_order_does_not_matter() -> None:
    forward, backward = walker(), walker()
    backward = ServoActuation(
        backward.model, backward.data, dict(zip(forward.names[::-1], forward.servos[::-1], strict=True))
    )
    for actuation in (forward, backward):
        actuation.torque_enabled[:] = 1.0
        for _ in range(300):
            actuation.step()
    np.testing.assert_allclose(forward.data.qpos, backward.data.qpos, atol=1e-12)


def test_external_torque_of_a_held_joint_contains_contact_forces() -> None:
    actuation = on_bench(SERVO)
    actuation.data.xfrc_applied[1, 1] = 1.0  # N along y at the load: +0.15 N·m about the axis
    for _ in range(5):
        actuation.step()
    assert actuation.external_torque[0] == pytest.approx(0.15, rel=1e-3)


def test_urdf_and_mjcf_are_the_same_bench(tmp_path) -> None:
    bench = PendulumBench(mass=0.5, arm_mass=0.1, length=0.2)
    file = tmp_path / "bench.urdf"
    file.write_text(bench_urdf(bench))
    for spec in (load_robot(file), bench_spec(bench)):
        model = compile_robot(spec)
        data = mujoco.MjData(model)
        data.qpos[0] = 0.7
        mujoco.mj_forward(model, data)
        assert data.qfrc_bias[0] == pytest.approx(-float(bench.external_torque(0.7)), rel=1e-9)
        assert data.M[0] == pytest.approx(bench.inertia, rel=1e-6)
        assert model.joint(0).name == BENCH_JOINT


def test_positive_angles_turn_counter_clockwise_seen_from_the_front() -> None:
    actuation = on_bench(SERVO, position=0.5)
    mujoco.mj_forward(actuation.model, actuation.data)
    load = actuation.data.geom("load").xpos
    assert load[1] == pytest.approx(0.15 * np.sin(0.5))
    assert load[2] == pytest.approx(-0.15 * np.cos(0.5))


def test_a_recording_is_replayed_from_its_own_start() -> None:
    recording = synthesize(SERVO, BENCH, "sin_sin", 16.0, initial_position=0.3, torque=False)
    run = replay_recording(SERVO, recording)
    assert run.position[0] == pytest.approx(0.3)
    assert not run.torque_enabled.any()
    assert run.time[-1] >= recording.duration - 1e-9
    assert np.abs(simulate_recording(SERVO, recording) - recording.position).max() < 1e-3


def test_mistakes_are_named() -> None:
    spec = bench_spec(BENCH)
    with pytest.raises(BamError, match=r"^joint 'jont': unknown .*did you mean 'joint'"):
        equip(spec, {"jont": SERVO})
    model = compile_robot(spec)
    with pytest.raises(BamError, match="frictionloss is 0"):
        ServoActuation(model, mujoco.MjData(model), {BENCH_JOINT: SERVO})
    with pytest.raises(BamError, match=r"time step of 0\.1 s is unstable"):
        on_bench(SERVO, PendulumBench(mass=0.0, length=0.1), dt=0.1)
    with pytest.raises(BamError, match="no such file"):
        load_robot("nowhere.xml")
    for option, value in (
        ("solver", mujoco.mjtSolver.mjSOL_PGS),
        ("integrator", mujoco.mjtIntegrator.mjINT_RK4),
    ):
        spec = bench_spec(BENCH)
        equip(spec, {BENCH_JOINT: SERVO})
        setattr(spec.option, option, value)
        model = compile_robot(spec)
        with pytest.raises(BamError, match=f"model option {option}"):
            ServoActuation(model, mujoco.MjData(model), {BENCH_JOINT: SERVO})


def test_an_actuator_on_a_servo_s_joint_is_refused() -> None:
    spec = bench_spec(BENCH)
    equip(spec, {BENCH_JOINT: SERVO})
    spec.add_actuator(name="second", target=BENCH_JOINT, trntype=mujoco.mjtTrn.mjTRN_JOINT)
    model = compile_robot(spec)
    with pytest.raises(BamError, match="actuator 'second' drives it too"):
        ServoActuation(model, mujoco.MjData(model), {BENCH_JOINT: SERVO})


def test_a_goal_that_is_no_number_is_a_named_error_and_changes_nothing() -> None:
    actuation = on_bench(SERVO)
    actuation.torque_enabled[0], actuation.goal_position[0] = 1.0, np.nan
    with pytest.raises(SimulationError, match=r"no longer finite \(goals: joint nan\)"):
        actuation.step()
    assert actuation.data.qfrc_applied[0] == 0.0
    actuation.goal_position[0] = 0.1
    for _ in range(300):
        actuation.step()
    assert actuation.position[0] == pytest.approx(0.1, abs=0.03)


def test_a_broken_description_is_one_line(tmp_path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text("<mujoco><worldbody><body>")
    with pytest.raises(BamError) as error:
        load_robot(file)
    assert str(error.value).startswith(f"{file}: ")
    assert "\n" not in str(error.value)
