# SPDX-License-Identifier: Apache-2.0
"""The compiled kernel against the plain Python reference, and the laws that both obey."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.friction import FRICTION_MODELS, FRICTION_PARAMETERS, Friction
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from test.core.physics_cases import BENCH, law, random_run, reference_positions, run, servo
from test.core.reference_simulation import INTEGRATORS

# Below this, exp(-v^α) magnifies the rounding of a velocity near zero beyond any tolerance:
# 1e-17^0.25 is 6e-5.
EXPONENTS = st.floats(0.7, 5.0)

SHAPE = {"dead_band": 0.02, "error_offset": 0.03, "goal_speed_limit": 4.5}


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("name", FRICTION_MODELS)
def test_the_kernel_is_the_reference(name, integrator):
    friction = law(name)
    if integrator == "semi_implicit":
        friction = dataclasses.replace(friction, quadratic_rule="opposing")
    model = dataclasses.replace(servo(friction, model=name), integrator=integrator)
    dt, substeps = (2e-3, 1) if integrator == "algorithm1" else (2e-3, 3)
    recordings = [random_run(seed, dt) for seed in range(3)]
    rollout = Rollout.for_servo(recordings, model, dt=dt, substeps=substeps)
    positions = rollout.positions(parameter_vector(model))
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, model, recording, index, substeps)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


@settings(deadline=None, max_examples=30)
@given(
    st.fixed_dictionaries(
        dict.fromkeys(FRICTION_PARAMETERS, st.one_of(st.just(0.0), st.floats(1e-3, 0.5)))
        | {"stribeck_velocity": st.floats(0.05, 10.0), "stribeck_exponent": EXPONENTS}
    ),
    st.sampled_from(["paper", "opposing"]),
    st.integers(0, 1000),
)
def test_the_kernel_is_the_reference_for_any_friction(coefficients, rule, seed):
    model = servo(Friction(**coefficients, quadratic_rule=rule))
    recording = random_run(seed, 2e-3, samples=100)
    rollout = Rollout.for_servo([recording], model, dt=2e-3)
    ours = rollout.positions(parameter_vector(model))[0]
    np.testing.assert_allclose(ours, reference_positions(rollout, model, recording, 0, 1), atol=1e-9)


@settings(deadline=None, max_examples=20)
@given(st.floats(0.0, 2.0), st.floats(0.0, 20.0), st.floats(-0.1, 0.1), st.integers(0, 1000))
def test_the_kernel_is_the_reference_for_any_motor_and_offset(saturation, heating, offset, seed):
    plain = servo()
    motor = dataclasses.replace(plain.motor, torque_saturation=saturation, winding_heating=heating)
    model, bench_effects = dataclasses.replace(plain, motor=motor), BenchEffects(zero_offset=offset)
    recording = random_run(seed, 2e-3, samples=100)
    rollout = Rollout.for_servo([recording], model, dt=2e-3, substeps=2)
    ours = rollout.positions(parameter_vector(model, bench_effects))[0]
    expected = reference_positions(rollout, model, recording, 0, 2, bench_effects)
    np.testing.assert_allclose(ours, expected, atol=1e-9)


@pytest.mark.parametrize("current", [False, True])
@pytest.mark.parametrize(
    "shape", [{"dead_band": 0.05}, {"error_offset": 0.03}, SHAPE], ids=["dead band", "offset", "all"]
)
def test_the_kernel_is_the_reference_for_a_firmware_that_shapes_its_error(shape, current):
    plain = FIRMWARES["erob80"] if current else servo().firmware
    model = dataclasses.replace(servo(), firmware=dataclasses.replace(plain, name="shaped", **shape))
    recordings = [random_run(seed, 2e-3) for seed in range(3)]
    rollout = Rollout.for_servo(recordings, model, dt=2e-3, substeps=2)
    positions = rollout.positions(parameter_vector(model))
    unshaped = dataclasses.replace(model, firmware=plain)
    straight = Rollout.for_servo(recordings, unshaped, dt=2e-3, substeps=2).positions(parameter_vector(model))
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, model, recording, index, 2)
        np.testing.assert_allclose(ours, expected, atol=1e-9)
        assert np.abs(ours - straight[index]).max() > 1e-4  # it does matter


@pytest.mark.parametrize("steps", [0, 1, 3, 2.5, -1])
def test_a_command_delay_is_commands_given_later(steps):
    dt = 1e-3
    time = np.arange(1500) * dt
    late = steps * dt
    goal, given_later = (0.8 * np.sin(5.0 * np.clip(time - by, 0.0, time[-1])) for by in (0.0, late))
    recordings = [run(time, goal), run(time, given_later)]
    rollout = Rollout.for_servo(recordings, servo(), dt=dt)
    vector = parameter_vector(servo(), BenchEffects(command_delay=late))
    one = rollout.positions(vector)[0]
    vector[PARAMETERS.index("command_delay")] = 0.0
    other = rollout.positions(vector)[1]
    # A ramp between commands against steps of them: within what a goal moves in one step.
    np.testing.assert_allclose(one[:-2], other[:-2], atol=1e-12 if steps in (0, 1, 3) else 5e-6)


def test_a_torque_that_is_released_later_lets_the_arm_fall_later():
    dt = 1e-3
    time = np.arange(2000) * dt
    recordings = [run(time, 1.0, position=1.0, enabled=time < released, kp=32.0) for released in (0.5, 0.505)]
    rollout = Rollout(recordings, servo().firmware, RolloutSettings(dt=dt))
    vector = parameter_vector(servo())
    expected = rollout.positions(vector)[1]
    vector[PARAMETERS.index("command_delay")] = 5e-3
    np.testing.assert_allclose(rollout.positions(vector)[0], expected, atol=1e-12)


def test_arms_that_are_released_at_rest_within_a_step_fall_alike_in_every_lane():
    time = np.arange(400) * 2e-3
    still = run(time, 1.0, position=1.0, enabled=time < 0.2, kp=32.0)
    model = servo(Friction(coulomb=0.1 * BENCH.gravity_torque))
    vector = parameter_vector(model, BenchEffects(command_delay=0.4 * 2e-3))
    first, *others = Rollout.for_servo([still] * 5, model, dt=2e-3).positions(vector)
    before = first[(time > 0.1) & (time < 0.2)]
    assert np.ptp(before) == 0.0 < abs(first[-1] - before[0])
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_an_encoder_that_is_off_by_an_angle_only_shifts_the_run():
    recording = random_run(7, 2e-3)
    shifted = dataclasses.replace(
        recording, position=recording.position + 0.05, goal_position=recording.goal_position + 0.05
    )
    rollout = Rollout([recording, shifted], servo().firmware, RolloutSettings(dt=2e-3))
    vector = parameter_vector(servo())
    straight = rollout.positions(vector)[0]
    vector[PARAMETERS.index("zero_offset")] = 0.05
    np.testing.assert_allclose(rollout.positions(vector)[1], straight + 0.05, atol=1e-9)


@pytest.mark.parametrize("name", ["m1", "m2", "m3", "m4", "m5"])
def test_every_smaller_model_is_m6_with_terms_off(name):
    recordings = [random_run(seed, 5e-3) for seed in range(4)]
    smaller = parameter_vector(servo(law(name), model=name))
    # Terms too small to matter, but on: the kernel may skip nothing.
    m6 = np.where(smaller == 0.0, 1e-300, smaller)
    rollout = Rollout(recordings, servo().firmware, RolloutSettings(dt=5e-3))
    np.testing.assert_allclose(rollout.errors(m6), rollout.errors(smaller), rtol=1e-12)


def test_the_error_is_the_mean_absolute_difference_of_positions():
    recordings = [random_run(seed, 5e-3, samples=200 + 30 * seed) for seed in range(5)]
    rollout = Rollout(recordings, servo().firmware, RolloutSettings(dt=5e-3))
    candidate = parameter_vector(servo())
    expected = [
        np.mean(np.abs(simulated - recording.position))
        for simulated, recording in zip(rollout.positions(candidate), recordings, strict=True)
    ]
    np.testing.assert_allclose(rollout.errors(candidate)[0], expected, rtol=1e-9)


def free(start, friction=None, *, bench=BENCH, armature=0.0, dt=5e-3):
    time = np.arange(1201) * 5e-3
    recording = run(time, 0.0, position=start, enabled=False, bench=bench)
    model = servo(friction or Friction(), armature=armature)
    return Rollout.for_servo([recording], model, dt=dt).positions(parameter_vector(model))[0]


@pytest.mark.parametrize("length", [0.1, 0.2])
def test_a_frictionless_pendulum_keeps_its_amplitude(length):
    swing = np.abs(free(1.0, bench=PendulumBench(mass=1.0, length=length)))
    peaks = swing[1:-1][(swing[1:-1] >= swing[:-2]) & (swing[1:-1] >= swing[2:])]
    period = np.pi * np.sqrt(length / 9.80665)  # between peaks of |θ|, roughly
    resolution = 0.5 * 9.80665 / length * 0.0025**2  # how far a peak may fall between samples
    assert len(peaks) > 0.8 * 6.0 / period
    assert peaks == pytest.approx(1.0, abs=1e-3 + resolution)
    assert np.max(swing) <= 1.001


frictions = st.fixed_dictionaries(
    dict.fromkeys(FRICTION_PARAMETERS, st.floats(0.0, 0.3))
    | {"stribeck_velocity": st.floats(0.05, 10.0), "stribeck_exponent": EXPONENTS}
)


@settings(deadline=None, max_examples=50)
@given(frictions, st.floats(-3.0, 3.0), st.sampled_from([1e-3, 5e-3]))
def test_friction_never_adds_energy_to_a_swing(coefficients, start, dt):
    swing = np.abs(free(start, Friction(**coefficients), dt=dt))
    peaks = swing[1:-1][(swing[1:-1] > swing[:-2]) & (swing[1:-1] >= swing[2:])]
    assert np.max(swing) <= abs(start) + 1e-9
    assert np.all(np.diff(peaks) <= 1e-3)


def test_torque_off_leaves_gravity_and_friction_only():
    recording = run(np.arange(600) * 5e-3, 1.0, position=0.8, enabled=False)
    rollout = Rollout([recording], servo().firmware, RolloutSettings(dt=5e-3))
    one = parameter_vector(servo())
    other = one.copy()
    other[PARAMETERS.index("torque_constant")] *= 3.0
    other[PARAMETERS.index("resistance")] *= 0.5
    assert np.array_equal(rollout.positions(one)[0], rollout.positions(other)[0])


def test_a_mirrored_run_is_the_mirrored_simulation():
    recording = random_run(5, 5e-3)
    mirrored = dataclasses.replace(
        recording, position=-recording.position, goal_position=-recording.goal_position
    )
    rollout = Rollout([recording, mirrored], servo().firmware, RolloutSettings(dt=5e-3))
    one, other = rollout.positions(parameter_vector(servo()))
    assert np.array_equal(one, -other)


def test_an_arm_that_friction_holds_stays_exactly_where_it_is():
    assert np.all(free(1.2, Friction(coulomb=1.1 * BENCH.gravity_torque)) == 1.2)


def test_a_diverging_candidate_gets_a_large_finite_error():
    recording = run(np.arange(300) * 5e-3, np.sin(np.arange(300) * 0.05), kp=32.0)
    rollout = Rollout([recording], servo().firmware, RolloutSettings(dt=5e-3, integrator="algorithm1"))
    frictionless = parameter_vector(servo(Friction()))
    wild, absurd = frictionless.copy(), frictionless.copy()
    wild[PARAMETERS.index("torque_constant")] = 1e3
    absurd[PARAMETERS.index("torque_constant")] = 1e200
    errors = rollout.errors([wild, absurd])
    assert np.all(np.isfinite(errors))
    assert np.all(errors > 0.3)


@settings(deadline=None, max_examples=20)
@given(st.floats(1e-3, 0.5), st.floats(0.0, 0.05), st.floats(1e-3, 1e-2), st.integers(0, 1000))
def test_the_kernel_is_the_reference_for_any_link_of_the_arm(compliance, backlash, armature, seed):
    bench_effects = BenchEffects(arm_compliance=compliance, arm_backlash=backlash, zero_offset=0.02)
    model = servo(armature=armature)
    recording = random_run(seed, 2e-3, samples=100)
    rollout = Rollout.for_servo([recording], model, dt=2e-3, substeps=2)
    ours = rollout.positions(parameter_vector(model, bench_effects))[0]
    expected = reference_positions(rollout, model, recording, 0, 2, bench_effects)
    np.testing.assert_allclose(ours, expected, atol=1e-8)


def test_what_a_candidate_does_is_no_matter_of_its_neighbours():
    # Friction that grows with load tells a rigid arm from one on the stiffest link: that loads the gears
    # with the arm's inertia, too.
    rigid = servo(Friction(coulomb=0.02, load_motor=0.3, load_external=0.1))
    both = [parameter_vector(rigid), parameter_vector(rigid, BenchEffects(arm_compliance=0.05))]
    rollout = Rollout.for_servo([random_run(1, 2e-3, samples=300)], rigid, dt=2e-3)
    alone = [rollout.errors(each)[0] for each in both]
    together = rollout.errors(both)
    assert abs(alone[0] - alone[1])[0] > 1e-5
    np.testing.assert_allclose(together, alone, atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(
    st.fixed_dictionaries(
        {
            "friction_temperature": st.floats(0.0, 0.1),
            "bridge_coasting": st.floats(0.0, 1.0),
            "firmware_gain": st.floats(-0.3, 0.3),
            "limit_shortfall": st.floats(0.0, 0.9),
            "sensor_delay": st.floats(0.0, 5e-3),
            "encoder_quantisation": st.sampled_from([0.0, 1.0]),
            "goal_slew_time": st.sampled_from([0.0, 0.1, 0.3]),
            "load_inertia": st.sampled_from([0.0, 0.5, 1.0]),
            "friction_direction": st.floats(-0.5, 0.5),
        }
    ),
    st.floats(0.0, 0.2),
    st.floats(0.0, 0.05),
    st.integers(0, 1000),
)
def test_the_kernel_is_the_reference_for_any_servo_effects_and_arm(servo_effects, arm_mass, compliance, seed):
    bench_effects = BenchEffects(arm_mass=arm_mass, arm_compliance=compliance, load_gyration=arm_mass)
    model = dataclasses.replace(servo(armature=0.01), servo_effects=ServoEffects(**servo_effects))
    recording = random_run(seed, 2e-3, samples=100)
    recording = dataclasses.replace(recording, temperature=np.full(len(recording), 40.0))
    rollout = Rollout.for_servo([recording], model, dt=2e-3, substeps=2)
    ours = rollout.positions(parameter_vector(model, bench_effects))[0]
    expected = reference_positions(rollout, model, recording, 0, 2, bench_effects)
    np.testing.assert_allclose(ours, expected, atol=1e-8)


QUIRK_CASES = {
    "friction_temperature": {"friction_temperature": 0.02},
    "bridge_coasting": {"bridge_coasting": 0.5},
    "firmware_gain": {"firmware_gain": 0.05},
    "limit_shortfall": {"limit_shortfall": 0.4},
    "sensor_delay": {"sensor_delay": 2e-3},
    "encoder_quantisation": {"encoder_quantisation": 1.0},
    "goal_slew_time": {"goal_slew_time": 0.3},
    "load_inertia": {"load_inertia": 1.0},
    "friction_direction": {"friction_direction": -0.2},
}


@pytest.mark.parametrize("case", QUIRK_CASES)
def test_every_quirk_alone_moves_the_arm_as_in_the_reference(case):
    plain = servo(law("m4"), model="m4")
    model = dataclasses.replace(plain, servo_effects=ServoEffects(**QUIRK_CASES[case]))
    recording = random_run(5, 2e-3)
    recording = dataclasses.replace(recording, temperature=np.full(len(recording), 45.0))
    rollout = Rollout.for_servo([recording], model, dt=2e-3, substeps=2)
    with_it, without = (rollout.positions(parameter_vector(each))[0] for each in (model, plain))
    np.testing.assert_allclose(with_it, reference_positions(rollout, model, recording, 0, 2), atol=1e-9)
    assert np.max(np.abs(with_it - without)) > 3e-5


def test_lanes_with_servo_effects_leave_those_beside_them_alone():
    recordings = [random_run(seed, 2e-3) for seed in range(3)]
    rollout = Rollout(recordings, servo().firmware, RolloutSettings(dt=2e-3))
    plain = parameter_vector(servo())
    vectors = [plain]
    for case in QUIRK_CASES.values():
        vectors.append(parameter_vector(dataclasses.replace(servo(), servo_effects=ServoEffects(**case))))
    np.testing.assert_allclose(rollout.errors(vectors)[0], rollout.errors(plain)[0], rtol=1e-12)


def test_an_arm_that_weighs_more_is_a_bench_with_a_heavier_arm():
    recording = random_run(4, 2e-3)
    heavier = dataclasses.replace(recording.bench, arm_mass=recording.bench.arm_mass + 0.15)
    recordings = [recording, dataclasses.replace(recording, bench=heavier)]
    rollout = Rollout(recordings, servo().firmware, RolloutSettings(dt=2e-3))
    expected = rollout.positions(parameter_vector(servo()))[1]
    corrected = parameter_vector(servo(), BenchEffects(arm_mass=0.15))
    np.testing.assert_allclose(rollout.positions(corrected)[0], expected, atol=1e-12)


def test_a_load_with_an_inertia_of_its_own_is_one_that_the_recording_tells_of():
    recording = random_run(4, 2e-3)
    told = dataclasses.replace(recording.bench, gyration=0.05)
    recordings = [recording, dataclasses.replace(recording, bench=told)]
    rollout = Rollout(recordings, servo().firmware, RolloutSettings(dt=2e-3))
    expected = rollout.positions(parameter_vector(servo()))[1]
    corrected = parameter_vector(servo(), BenchEffects(load_gyration=0.05))
    np.testing.assert_allclose(rollout.positions(corrected)[0], expected, atol=1e-12)


@pytest.mark.parametrize("lean", [-0.3, 0.3])
def test_friction_that_differs_with_the_direction_lets_the_arm_through_one_way(lean):
    # The arm is let go where gravity lies between the friction of both directions.
    slope = 0.5 * BENCH.gravity_torque
    leaning = servo(Friction(coulomb=slope), armature=0.0)
    leaning = dataclasses.replace(leaning, servo_effects=ServoEffects(friction_direction=lean))
    time = np.arange(200) * 5e-3
    runs = [run(time, 0.0, position=side * np.arcsin(0.5), enabled=False) for side in (1.0, -1.0)]
    rollout = Rollout.for_servo(runs, leaning, dt=5e-3)
    fell = [np.ptp(positions) > 0.1 for positions in rollout.positions(parameter_vector(leaning))]
    assert fell == [lean > 0.0, lean < 0.0]


def test_an_arm_in_free_fall_loads_no_teeth():
    # Without a motor's own inertia nothing is passed on but friction, so friction by load alone fades away.
    law_of_load = Friction(load_external=0.3)
    time = np.arange(400) * 1e-3
    recording = run(time, 0.0, position=1.2, enabled=False)
    carried = servo(law_of_load, armature=1e-9)
    carried = dataclasses.replace(carried, servo_effects=ServoEffects(load_inertia=1.0))
    free, loaded = servo(Friction(), armature=1e-9), servo(law_of_load, armature=1e-9)
    ours, freely, held = (
        Rollout.for_servo([recording], each, dt=1e-3).positions(parameter_vector(each))[0]
        for each in (carried, free, loaded)
    )
    assert np.max(np.abs(ours - freely)) < 0.02 < np.max(np.abs(held - freely))


def test_the_ripple_of_an_aliased_supply_counts_as_far_as_the_bench_says():
    aliased = dataclasses.replace(servo().firmware, supply_is_aliased=True)
    recording = random_run(6, 2e-3)
    vector = parameter_vector(servo())
    series = Rollout([recording], servo().firmware, RolloutSettings(dt=2e-3)).positions(vector)[0]
    rollout = Rollout([recording] * 3, aliased, RolloutSettings(dt=2e-3))
    mean = rollout.positions(vector)[0]
    assert np.max(np.abs(series - mean)) > 1e-3
    vector[PARAMETERS.index("supply_ripple")] = 1.0
    np.testing.assert_allclose(rollout.positions(vector)[2], series, atol=1e-9)
    unaliased = Rollout([recording], servo().firmware, RolloutSettings(dt=2e-3))
    assert np.array_equal(unaliased.positions(vector)[0], series)


def test_positions_older_than_their_stamps_are_commands_that_come_later():
    dt, late = 1e-3, 4
    time = np.arange(1500) * dt
    delayed = parameter_vector(servo(), BenchEffects(command_delay=late * dt))
    goal = 0.8 * np.sin(5.0 * time)
    in_time, old = (
        Rollout([run(time, goal)], servo().firmware, RolloutSettings(dt=dt)),
        parameter_vector(servo()),
    )
    of_before = np.concatenate([np.zeros(late), in_time.positions(old)[0][:-late]])
    np.testing.assert_allclose(in_time.positions(delayed)[0], of_before, atol=1e-12)


def test_a_delay_of_the_sensor_takes_damping_away():
    time = np.arange(1500) * 1e-3
    step = run(time, 0.5, kp=32.0)
    rollout = Rollout([step], servo().firmware, RolloutSettings(dt=1e-3))
    frictionless = servo(Friction())
    late = dataclasses.replace(frictionless, servo_effects=ServoEffects(sensor_delay=5e-3))
    calm, swinging = (rollout.positions(parameter_vector(each))[0] for each in (frictionless, late))
    assert np.max(swinging) > np.max(calm) + 0.01


def test_an_open_bridge_brakes_less():
    time = np.arange(1500) * 1e-3
    recording = run(time, 0.0, position=1.0, kp=0.5)
    rollout = Rollout([recording], servo().firmware, RolloutSettings(dt=1e-3))
    brake = servo(Friction())
    coast = dataclasses.replace(brake, servo_effects=ServoEffects(bridge_coasting=1.0))
    braked, coasting = (rollout.positions(parameter_vector(each))[0] for each in (brake, coast))
    assert np.min(coasting) < np.min(braked) - 0.1


def test_friction_without_load_is_that_of_the_temperature_that_was_logged():
    model = dataclasses.replace(
        servo(law("m4"), model="m4"), servo_effects=ServoEffects(friction_temperature=np.log(2.0) / 20.0)
    )
    recording = random_run(8, 2e-3)
    warm = dataclasses.replace(recording, temperature=np.full(len(recording), 45.0))
    rollout = Rollout([recording, warm], model.firmware, RolloutSettings(dt=2e-3))
    half = servo(law("m4").scaled(no_load=0.5), model="m4")
    found = rollout.positions(parameter_vector(model))
    np.testing.assert_allclose(found[1], rollout.positions(parameter_vector(half))[0], atol=1e-9)
    assert np.array_equal(found[0], rollout.positions(parameter_vector(servo(law("m4"), model="m4")))[0])


def test_the_winding_starts_at_the_temperature_that_was_logged():
    motor = dataclasses.replace(servo().motor, winding_heating=1.0)
    model = dataclasses.replace(servo(), motor=motor)
    cold = random_run(3, 2e-3)
    hot = dataclasses.replace(cold, temperature=np.full(len(cold), 70.0))
    rollout = Rollout.for_servo([cold, hot], model, dt=2e-3, substeps=2)
    positions = rollout.positions(parameter_vector(model))
    assert np.max(np.abs(positions[0] - positions[1])) > 1e-3
    for index, recording in enumerate((cold, hot)):
        expected = reference_positions(rollout, model, recording, index, 2)
        np.testing.assert_allclose(positions[index], expected, atol=1e-9)


def test_candidates_beside_each_other_do_not_see_each_other():
    recordings = [random_run(seed, 5e-3) for seed in range(3)]
    rollout = Rollout(recordings, servo().firmware, RolloutSettings(dt=5e-3))
    vectors = parameter_vector(servo()) * np.random.default_rng(0).uniform(0.8, 1.2, (50, len(PARAMETERS)))
    alone = np.array([rollout.errors(vector)[0] for vector in vectors])
    assert np.array_equal(rollout.errors(vectors), alone)
    assert np.array_equal(rollout.errors(vectors[::-1]), alone[::-1])


def test_chosen_samples_are_those_of_the_whole_trajectory():
    recordings = [random_run(seed, 5e-3, samples=100 + 37 * seed) for seed in range(3)]
    rollout = Rollout(recordings, servo().firmware, RolloutSettings(dt=2e-3))
    samples = rollout.samples([1, 3, 7])
    vectors = parameter_vector(servo()) * np.array([[1.0], [1.1], [0.9]])
    for vector, row in zip(vectors, samples.positions(vectors), strict=True):
        whole = rollout.positions(vector)
        for part, positions, every in zip(samples.split(row), whole, (1, 3, 7), strict=True):
            assert np.array_equal(part, positions[::every])


def test_a_logged_temperature_says_nothing_where_windings_do_not_heat():
    motor = dataclasses.replace(servo().motor, torque_saturation=0.1)
    model = dataclasses.replace(servo(), motor=motor)
    cold = random_run(3, 2e-3)
    hot = dataclasses.replace(cold, temperature=np.full(len(cold), 70.0))
    rollout = Rollout.for_servo([cold, hot], model, dt=2e-3, substeps=2)
    one, other = rollout.positions(parameter_vector(model))
    assert np.array_equal(one, other)
    expected = reference_positions(rollout, model, hot, 1, 2)
    np.testing.assert_allclose(other, expected, atol=1e-9)
