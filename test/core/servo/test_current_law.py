# SPDX-License-Identifier: Apache-2.0
"""Servos that are asked for a current: kernel, reference and MuJoCo agree, and the supply limits them all."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.mujoco import BenchCommands, replay, simulate_recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.effects import BenchEffects
from bam_core.servo.firmware_laws import CurrentFirmware
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.friction import Friction
from bam_core.servo.integrators import INTEGRATORS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.physics_cases import law, reference_positions, run
from test.core.reference_simulation import PendulumState, ReferenceSimulation

EROB = load_servo("erob80_100")
LOAD = PendulumBench(mass=8.2, arm_mass=1.0, length=0.5)


def erob(friction: Friction | None = None, **motor: float) -> ServoModel:
    """Return an eRob80 with our own integrator, and other friction or motor constants."""
    return dataclasses.replace(
        EROB,
        friction=dataclasses.replace(friction or EROB.friction, quadratic_rule="paper"),
        friction_model="m6",
        motor=dataclasses.replace(EROB.motor, **motor),
        integrator="midpoint",
    )


def simulation(servo: ServoModel, kp: float = 50.0, bench: PendulumBench = LOAD) -> ReferenceSimulation:
    return ReferenceSimulation(
        firmware=servo.firmware,
        motor=servo.motor,
        friction=servo.friction,
        bench=bench,
        kp=kp,
        integrator=servo.integrator,
    )


def random_erob_run(seed: int, dt: float, samples: int = 300):
    """Return a run of leaps and ramps on a supply so low that it limits the current every now and then."""
    rng = np.random.default_rng(seed)
    time = np.arange(samples) * dt
    corners = np.sort(rng.uniform(0.0, time[-1], 6))
    goal = np.interp(time, corners, rng.uniform(-2.0, 2.0, 6)) + 0.5 * np.sign(np.sin(15.0 * time))
    return run(
        time,
        goal,
        position=rng.uniform(-1.0, 1.0) + 0.1 * np.sin(3.0 * time),
        enabled=(time < corners[3]) | (time > corners[4]),
        voltage=rng.uniform(10.0, 30.0, samples),
        kp=rng.choice([10.0, 25.0, 50.0, 100.0]),
        bench=PendulumBench(mass=rng.uniform(1.0, 15.0), arm_mass=0.5, length=0.5),
        name=f"erob{seed}",
    )


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("effects", [{}, {"torque_saturation": 0.05, "winding_heating": 0.3}])
def test_the_kernel_is_the_reference(integrator, effects):
    servo = dataclasses.replace(erob(law("m6"), **effects), integrator=integrator)
    bench_effects = BenchEffects(zero_offset=0.03, arm_compliance=1e-3)
    recordings = [random_erob_run(seed, 2e-3) for seed in range(4)]
    rollout = Rollout.for_servo(recordings, servo, dt=2e-3, substeps=3)
    positions = rollout.positions(parameter_vector(servo, bench_effects))
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, servo, recording, index, 3, bench_effects)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_a_gain_per_unit_of_kp_is_a_kp_in_other_units_in_every_executor():
    """I = K·e - c·√K·θ̇ with K = amps_per_kp_rad·kp: the units of a register."""
    servo = erob(law("m6"))
    registers = dataclasses.replace(
        servo, firmware=dataclasses.replace(servo.firmware, amps_per_kp_rad=0.0025)
    )
    recording = random_erob_run(1, 2e-3)
    in_registers = dataclasses.replace(recording, kp=recording.kp / 0.0025)
    rollout = Rollout.for_servo([in_registers], registers, dt=2e-3, substeps=2)
    ours = rollout.positions(parameter_vector(registers))[0]
    plain = Rollout.for_servo([recording], servo, dt=2e-3, substeps=2)
    np.testing.assert_allclose(ours, plain.positions(parameter_vector(servo))[0], atol=1e-9)
    np.testing.assert_allclose(ours, reference_positions(rollout, registers, in_registers, 0, 2), atol=1e-9)
    np.testing.assert_allclose(
        simulate_recording(registers, in_registers),
        simulate_recording(servo, recording),
        atol=1e-9,
    )


@settings(deadline=None, max_examples=25)
@given(
    st.floats(1.0, 12.0),
    st.floats(0.2, 5.0),
    st.floats(0.05, 2.0),
    st.floats(0.0, 0.2),
    st.floats(0.0, 1.0),
    st.integers(0, 1000),
)
def test_the_kernel_is_the_reference_for_any_motor(constant, resistance, armature, saturation, heating, seed):
    servo = erob(
        law("m6"),
        torque_constant=constant,
        resistance=resistance,
        armature=armature,
        torque_saturation=saturation,
        winding_heating=heating,
    )
    recording = random_erob_run(seed, 2e-3, samples=100)
    rollout = Rollout.for_servo([recording], servo, dt=2e-3, substeps=2)
    ours = rollout.positions(parameter_vector(servo))[0]
    np.testing.assert_allclose(ours, reference_positions(rollout, servo, recording, 0, 2), atol=1e-9)


@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_command_delay_is_commands_given_later(steps):
    dt = 1e-3
    time = np.arange(1500) * dt
    goal, later = (0.8 * np.sin(5.0 * np.clip(time - by * dt, 0.0, time[-1])) for by in (0, steps))
    servo = erob()
    rollout = Rollout.for_servo([run(time, goal, bench=LOAD), run(time, later, bench=LOAD)], servo, dt=dt)
    vector = parameter_vector(servo, BenchEffects(command_delay=steps * dt))
    one = rollout.positions(vector)[0]
    vector[PARAMETERS.index("command_delay")] = 0.0
    np.testing.assert_allclose(one[:-2], rollout.positions(vector)[1][:-2], atol=1e-12)


@pytest.mark.long
@pytest.mark.parametrize("supply", [48.0, 20.0])
@pytest.mark.parametrize(
    "effects", [{}, {"torque_saturation": 0.05, "winding_heating": 0.5}], ids=["plain", "effects"]
)
def test_mujoco_is_the_converged_rollout(supply, effects):
    """At 20 V the supply limits the current for a good part of each run."""
    servo = erob(**effects)
    runs = [
        synthesize(servo, LOAD, script, 50.0, SynthesisSettings(supply_voltage=supply)) for script in SCRIPTS
    ]
    for recording in runs:
        error = np.sqrt(np.mean((simulate_recording(servo, recording) - recording.position) ** 2))
        assert error < 0.6e-3, recording.script


def test_a_low_supply_makes_a_difference():
    servo = erob()
    fast, slow = (
        synthesize(servo, LOAD, "sin_time_square", 50.0, SynthesisSettings(supply_voltage=v))
        for v in (48.0, 15.0)
    )
    assert np.max(np.abs(fast.position - slow.position)) > 0.05


@given(
    demand=st.floats(-20.0, 20.0),
    velocity=st.floats(-6.0, 6.0),
    supply=st.floats(0.0, 50.0),
    warming=st.floats(0.0, 100.0),
)
def test_the_supply_limits_a_current_both_ways(demand, velocity, supply, warming):
    motor = EROB.motor
    voltage = motor.regulating_voltage(demand, velocity, supply, warming)
    current = float(motor.current(voltage, velocity, True, warming))
    warm = motor.resistance * (1.0 + 3.93e-3 * warming)
    highest = (supply - motor.torque_constant * velocity) / warm
    lowest = -(supply + motor.torque_constant * velocity) / warm
    assert current == pytest.approx(min(max(demand, lowest), highest), abs=1e-9)


def test_a_warm_winding_changes_the_torque_only_where_the_supply_falls_short():
    motor = EROB.motor
    for velocity, alike in ((1.0, True), (4.0, False)):
        cold, warm = (
            float(motor.torque(motor.regulating_voltage(12.0, velocity, 48.0, k), velocity, True, k))
            for k in (0.0, 60.0)
        )
        assert (cold == pytest.approx(12.0 * motor.torque_constant)) is alike
        assert (warm == pytest.approx(cold, rel=1e-9)) is alike


def test_torque_off_leaves_gravity_and_friction_only():
    recording = run(np.arange(600) * 5e-3, 1.0, position=0.8, enabled=False, bench=LOAD)
    rollout = Rollout([recording], EROB.firmware, RolloutSettings(dt=5e-3))
    one = parameter_vector(erob())
    other = one.copy()
    other[PARAMETERS.index("torque_constant")] *= 3.0
    other[PARAMETERS.index("resistance")] *= 0.5
    assert np.array_equal(rollout.positions(one)[0], rollout.positions(other)[0])


@pytest.mark.parametrize("supply", [40.0, np.inf], ids=["limited by the supply", "kept up"])
def test_convergence_is_of_second_order(supply):
    """One demand that is held, 12 A; the motor speeds up, or is slowed down by the load, over 60 ms."""
    sim = simulation(erob(Friction(), armature=0.5), bench=PendulumBench(mass=1.0, length=0.5))

    def end(dt: float):
        state = PendulumState(position=0.3, velocity=4.5)
        for _ in range(round(0.06 / dt)):
            state = sim.step(state, 12.0, True, dt, supply)
        return np.array([state.position, state.velocity])

    limit = end(2.5e-5)
    coarse, fine = np.abs(end(2e-3) - limit), np.abs(end(1e-3) - limit)
    assert np.log2(coarse / fine) == pytest.approx([2.0, 2.0], abs=0.25)


@pytest.mark.long
@settings(deadline=None, max_examples=20)
@given(st.floats(-1.5, 1.5), st.floats(5.0, 100.0))
def test_a_servo_with_a_goal_that_rests_only_loses_energy(start, kp):
    """Its demand is a spring and a damper: what it stores in the spring counts as energy."""
    servo = erob(Friction())
    strong = CurrentFirmware(
        name="strong", current_limit=1e4, damping=2.0, counts_per_turn=524288, factory_kp=50.0
    )
    servo = dataclasses.replace(servo, firmware=strong)
    sim = simulation(servo, kp=kp, bench=PendulumBench(mass=3.1, length=0.5))
    n, dt = 1500, 2.5e-4  # fine: it is the law that is asked about, not the sampling
    position, velocity = sim.run(
        PendulumState(position=start),
        goal=np.zeros(n),
        supply=np.full(n, 1e6),
        enabled=np.ones(n),
        dt=dt,
    )
    stiffness = kp * servo.motor.torque_constant
    energy = (
        0.5 * sim.inertia * velocity**2
        + 0.5 * stiffness * position**2
        - sim.bench.gravity_torque * np.cos(position)
    )
    assert np.max(np.diff(energy)) <= 1e-3 * (energy[0] - energy.min() + 1e-9)


@pytest.mark.parametrize("demand", [-12.0, 0.0, 12.0])
def test_a_motor_without_supply_only_takes_energy(demand):
    sim = simulation(erob(Friction()))
    state = PendulumState(position=0.4, velocity=3.0)
    for _ in range(400):
        before = state
        state = sim.step(state, demand, True, 1e-3, 0.0)
        energy = [
            0.5 * sim.inertia * s.velocity**2 - LOAD.gravity_torque * np.cos(s.position)
            for s in (before, state)
        ]
        assert energy[1] <= energy[0] + 1e-6


def test_mujoco_reports_the_duty_and_the_current_that_were_in_force():
    servo, steps = erob(), 2000
    result = replay(
        servo,
        LOAD,
        BenchCommands(
            goal_position=np.full(steps, 1.0), torque_enabled=np.arange(steps) < 1500, supply_voltage=20.0
        ),
        dt=1e-3,
        kp=50.0,
    )
    assert np.max(np.abs(result.duty)) == pytest.approx(1.0)
    motor = servo.motor
    on = slice(2, 1498)
    velocity = 0.5 * (result.velocity[2:1498] + result.velocity[3:1499])  # MuJoCo's are of between steps
    voltage = motor.resistance * result.motor_torque[on] / motor.torque_constant
    voltage += motor.torque_constant * velocity
    np.testing.assert_allclose(result.duty[on], voltage / 20.0, atol=2e-3)
    assert np.all(result.motor_torque[1502:] == 0.0)
    assert np.all(result.duty[1502:] == 0.0)


def test_a_stall_torque_is_limited_by_heat_or_by_the_supply():
    assert EROB.stall_torque() == pytest.approx(12.0 * EROB.motor.torque_constant)
    assert EROB.stall_torque(10.0) == pytest.approx(5.0 * EROB.motor.torque_constant)
    mx106 = load_servo("published/mx106")
    assert mx106.stall_torque(12.0) == pytest.approx(0.9625 * 12.0 * 2.20983 / 2.03366)


def test_the_parameters_of_a_current_law_can_be_told_from_its_recordings():
    """The true servo fits its own recordings, and one with another k_t or armature does not."""
    servo = erob()
    recordings = [synthesize(servo, LOAD, script, 25.0) for script in SCRIPTS]
    rollout = Rollout.for_servo(recordings, servo)
    vector = parameter_vector(servo)
    truth = rollout.errors(vector).mean()
    assert truth < 0.2e-3
    for name in ("torque_constant", "armature", "viscous"):
        other = vector.copy()
        other[PARAMETERS.index(name)] *= 1.1
        assert rollout.errors(other).mean() > 5.0 * truth


def test_both_laws_are_known():
    assert {firmware.regulates_current for firmware in FIRMWARES.values()} == {False, True}
    assert DcMotor(torque_constant=1.0, resistance=1.0, armature=0.0).regulating_voltage(2.0, 3.0) == 5.0
