# SPDX-License-Identifier: Apache-2.0
"""One servo, one motion: kernel, reference, MuJoCo in Python, engine plugin, for every servo of the library.

All four approximate the same equations of motion to second order, each with steps of its own: kernel and
reference with two steps of "midpoint" per period of the firmware, MuJoCo with a leapfrog of 1 ms. Servos in
the library were found with "midpoint" or converted to it: nothing but the steps may tell executors apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from bam_core.arrays import Array
from bam_core.mujoco import equip, robot, simulate_recording
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel, load_servo, servo_names
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import DEFAULT_SUBSTEPS
from bam_core.simulation.synthetic import SynthesisSettings, commanded
from studies.bench.fidelity import native_positions
from studies.coverage import session_runs
from test.core.physics_cases import reference_positions

DT = 1e-3
"""s; MuJoCo's step, and the period of every firmware of the library."""

MEAN, LARGEST = 1.2e-3, 10e-3
"""rad. Where torque keeps the arm on its way, executors are within 0.2 mrad. An arm that falls freely shows
what MuJoCo's steps of 1 ms leave, up to 1.09 mrad on the mean of a run (an MX-64 with 1.7 kg; an encoder
count is 2π/4096); at 10 rad/s one that friction lets go 1 ms later is 10 mrad behind."""


def runs(servo: ServoModel, one_in: int) -> list[Recording]:
    """Return every one_in-th run of a session of 24; every seventh: all scripts, both gains, all loads."""
    return [
        commanded(servo, each.bench, each.script.name, each.kp, SynthesisSettings(sample_period=DT))
        for each in session_runs(servo)[::one_in]
    ]


def validated(servo: ServoModel, recordings: Sequence[Recording], **stepping: int) -> list[Array]:
    """Return what `bam validate` simulates."""
    return Rollout.for_servo(recordings, servo, **stepping).positions(parameter_vector(servo))


BRIEFLY = ("mx106", "sts3215", "erob80_100")
"""One servo per control law, compared in a few runs by every `make test`; the long tests have all of them."""


def require_alike(found: Array, expected: Array, run: Recording) -> None:
    apart = np.abs(found - expected)
    assert apart.mean() < MEAN, (run.name, apart.mean())
    assert apart.max() < LARGEST, (run.name, apart.max())


@pytest.mark.parametrize(
    ("name", "one_in"),
    [
        *((name, 7) for name in BRIEFLY),
        *(pytest.param(name, 1, marks=pytest.mark.long) for name in servo_names()),
    ],
)
def test_every_executor_moves_a_library_servo_alike(name: str, one_in: int) -> None:
    servo = load_servo(name)
    recordings = runs(servo, one_in)
    for run, expected in zip(recordings, validated(servo, recordings), strict=True):
        python = simulate_recording(servo, run, dt=DT)
        native = native_positions(servo, run, DT)[: len(run)]
        require_alike(python, expected, run)
        require_alike(native, expected, run)
        np.testing.assert_allclose(native, python, atol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize("name", servo_names())
def test_the_reference_moves_a_library_servo_as_the_kernel(name: str) -> None:
    servo = load_servo(name)
    recordings = runs(servo, 7)
    rollout = Rollout.for_servo(recordings, servo)
    for index, expected in enumerate(rollout.positions(parameter_vector(servo))):
        found = reference_positions(rollout, servo, recordings[index], index, DEFAULT_SUBSTEPS)
        np.testing.assert_allclose(found, expected, atol=1e-8)


@pytest.mark.long
@pytest.mark.parametrize("name", servo_names())
def test_what_tells_executors_apart_is_the_length_of_mujoco_s_steps(name: str) -> None:
    """With steps a quarter as long, MuJoCo comes closer to the kernel at its own fine steps.

    Counts of the encoder are left out. Where one of them asks for more torque than friction has, motions at
    rest part at counts, whatever the steps are.
    """
    servo = load_servo(name)
    servo = replace(servo, servo_effects=replace(servo.servo_effects, encoder_quantisation=0.0))
    recordings = runs(servo, 7)
    limit = validated(servo, recordings, substeps=8)
    coarse, fine = (
        np.mean(
            [
                np.abs(simulate_recording(servo, run, dt=dt) - expected).mean()
                for run, expected in zip(recordings, limit, strict=True)
            ]
        )
        for dt in (DT, DT / 4)
    )
    assert fine < 0.5 * coarse or coarse < 1e-5  # rad; then other things tell them apart, all of them tiny


def test_a_reversal_costs_nothing_where_friction_could_end_its_step_at_rest() -> None:
    """Each of the swings of an arm that falls freely has two; without a correction, 80 µrad on the mean."""
    servo = load_servo("xl330_bam")
    (run,) = (run for run in runs(servo, 7) if "lift_and_drop" in run.name)
    (limit,) = validated(servo, [run], substeps=8)
    assert np.abs(simulate_recording(servo, run, dt=DT) - limit).mean() < 1e-5


@pytest.mark.parametrize("is_native", [False, True])
def test_a_servo_that_was_fitted_with_another_integrator_is_warned_of_once(
    is_native: bool, caplog: pytest.LogCaptureFixture
) -> None:
    robot._warn_once.cache_clear()

    def put(name: str) -> None:
        spec = bench_spec(PendulumBench(mass=0.5, length=0.1))
        if is_native:
            equip_native(spec, {BENCH_JOINT: NativeServo(servo=name)})
        else:
            equip(spec, {BENCH_JOINT: name})

    put("mx64")
    assert not caplog.records
    for _ in range(2):
        put("published/mx64")
    (record,) = caplog.records
    assert record.message.startswith("servo 'mx64', integrator: ")
