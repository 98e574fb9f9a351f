# SPDX-License-Identifier: Apache-2.0
"""Runs in open loop: the duty that was commanded drives the motor, whatever position and gains are."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from bam_core.errors import BamError, Conflict, OutOfRange, Unsupported
from bam_core.exchange import bam_log
from bam_core.gears.rollout import GearRollout
from bam_core.mujoco.replay import recorded_commands
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import BenchEffects, ServoEffects
from bam_core.servo.firmware_library import FIRMWARES
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import OPEN_LOOP_HORIZON, RolloutSettings
from test.core.open_loop_cases import synthesize_open_loop
from test.core.physics_cases import law, random_run, reference_positions, servo
from test.core.refusals import refused

FLYWHEEL = PendulumBench(mass=0.0, length=0.0, flywheel=0.01)
SHAFT = PendulumBench(mass=0.0, length=0.0)


def opened(seed: int, bench: PendulumBench | None = None) -> Recording:
    """Return a run of random duties with torque that goes off for a while; a pendulum unless told."""
    recording = random_run(seed, 2e-3)
    return dataclasses.replace(
        recording,
        open_loop=True,
        kp=0.0,
        duty=np.clip(0.5 * recording.goal_position, -1.0, 1.0),
        goal_position=np.full(len(recording), np.nan),
        bench=recording.bench if bench is None else bench,
    )


@pytest.mark.parametrize("integrator", ["midpoint", "algorithm1"])
@pytest.mark.parametrize("name", FRICTION_MODELS)
def test_the_kernel_is_the_reference(name: str, integrator: str) -> None:
    model = dataclasses.replace(servo(law(name), model=name), integrator=integrator)
    recordings = [opened(0), opened(1, FLYWHEEL), opened(2, SHAFT), random_run(3, 2e-3)]
    rollout = Rollout.for_servo(recordings, model, dt=2e-3, substeps=3)
    positions = rollout.positions(parameter_vector(model))
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, model, recording, index, 3)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_the_kernel_is_the_reference_where_the_firmware_is_not_as_its_law_says() -> None:
    shaped = dataclasses.replace(
        FIRMWARES["mx-protocol1"], name="shaped", dead_band=0.02, error_offset=0.03, goal_speed_limit=4.5
    )
    effects = ServoEffects(
        bridge_coasting=0.4, firmware_gain=0.2, limit_shortfall=0.1, sensor_delay=2e-3, goal_slew_time=0.3
    )
    model = dataclasses.replace(servo(), firmware=shaped, servo_effects=effects)
    bench = BenchEffects(arm_compliance=0.05, arm_backlash=0.01, zero_offset=0.1)
    recordings = [opened(0), opened(1, FLYWHEEL), opened(2, SHAFT)]
    rollout = Rollout.for_servo(recordings, model, dt=2e-3, substeps=3, restart=math.inf)
    positions = rollout.positions(parameter_vector(model, bench))
    for index, (recording, ours) in enumerate(zip(recordings, positions, strict=True)):
        expected = reference_positions(rollout, model, recording, index, 3, bench)
        np.testing.assert_allclose(ours, expected, atol=1e-9)


def test_a_motor_reaches_the_speed_and_the_lag_that_its_constants_say() -> None:
    model = servo(law("m1"), model="m1")
    k, r = model.motor.torque_constant, model.motor.resistance
    friction = model.friction
    time = np.arange(2001) * 1e-3
    run = synthesize_open_loop(model, time, np.full(len(time), 0.5), bench=FLYWHEEL)
    damping = k * k / r + friction.viscous
    speed = (k / r * 0.5 * model.nominal_voltage - friction.coulomb) / damping
    lag = (FLYWHEEL.inertia + model.motor.armature) / damping
    np.testing.assert_allclose(
        run.position, speed * (time - lag * (1.0 - np.exp(-time / lag))), atol=1e-4 * speed
    )


@pytest.mark.parametrize("name", ["firmware_gain", "goal_slew_time", "sensor_delay"])
def test_effects_of_the_controller_do_not_act(name: str) -> None:
    recordings = [opened(seed) for seed in range(3)]
    rollout = Rollout.for_servo(recordings, servo(), dt=2e-3)
    plain = parameter_vector(servo())
    other = plain.copy()
    other[PARAMETERS.index(name)] = 0.2
    np.testing.assert_array_equal(rollout.errors(other), rollout.errors(plain))


def test_full_duty_acts_although_the_firmware_would_not_ask_for_it() -> None:
    assert servo().firmware.demand_limit < 1.0
    time = np.arange(500) * 1e-3
    full, less = (
        synthesize_open_loop(servo(), time, np.full(500, duty), bench=FLYWHEEL)
        for duty in (1.0, servo().firmware.demand_limit)
    )
    assert full.position[-1] > 1.02 * less.position[-1]


def test_simulations_start_anew_where_all_runs_are_in_open_loop() -> None:
    open_runs = [opened(seed) for seed in range(2)]
    firmware = servo().firmware
    default = Rollout(open_runs, firmware=firmware)
    assert default.packed.restart == round(OPEN_LOOP_HORIZON / default.dt)
    assert Rollout(open_runs, firmware, RolloutSettings(restart=math.inf)).packed.restart == 0
    assert Rollout([*open_runs, random_run(2, 2e-3)], firmware=firmware).packed.restart == 0


def test_a_start_within_ten_milliseconds_is_seen_as_one_from_rest() -> None:
    model = dataclasses.replace(servo(), motor=DcMotor(torque_constant=1.6, resistance=4.0, armature=5e-3))
    time = 9e-4 + np.arange(1000) * 1e-3
    run = synthesize_open_loop(model, time, np.full(1000, 0.9), bench=SHAFT, quantised=True)
    packed = Rollout([run], firmware=model.firmware).packed
    assert packed.logs.velocity[0] == 0.0
    later = dataclasses.replace(
        run,
        **{
            name: getattr(run, name)[300:] for name in vars(run) if isinstance(getattr(run, name), np.ndarray)
        },
    )
    speed = Rollout([later], firmware=model.firmware).packed.logs.velocity[0]
    assert speed == pytest.approx(np.polyfit(later.time, later.position, 1)[0], rel=0.02)


def test_what_needs_a_controller_refuses_such_runs() -> None:
    run = opened(0)
    for use in (
        lambda: recorded_commands(servo(), run, 1e-3),
        lambda: GearRollout([run], firmware=servo().firmware),
        lambda: bam_log(run),
    ):
        with refused(Unsupported, thing=f"{run.source}, duty"):
            use()
    with refused(Unsupported, thing=f"recording '{run.name}', duty"):
        Rollout([run], firmware=FIRMWARES["erob80"])


CONTRADICTIONS = {
    "gain": (Conflict, "kp", {"kp": 8.0}),
    "goal": (Conflict, "goal_position", {"goal_position": np.zeros(300)}),
    "unknown duty": (OutOfRange, "entry 0, duty", {"duty": np.full(300, np.nan)}),
    "no gain": (OutOfRange, "kp", {"open_loop": False}),
}


@pytest.mark.parametrize(("error", "thing", "fields"), CONTRADICTIONS.values(), ids=CONTRADICTIONS)
def test_a_recording_that_contradicts_itself_is_refused(
    error: type[BamError], thing: str, fields: dict[str, object]
) -> None:
    with refused(error, thing=thing):
        dataclasses.replace(opened(0), **fields)
