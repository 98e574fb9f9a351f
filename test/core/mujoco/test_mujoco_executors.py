# SPDX-License-Identifier: Apache-2.0
"""One servo, one motion: kernel, reference, MuJoCo in Python, engine plugin, for every servo of the library.

All four approximate the same equations of motion, each with steps of its own: kernel and reference with two
steps of Algorithm 1 per period of the firmware, MuJoCo with a leapfrog of 1 ms. Away from the instants at
which friction changes sign all are of second order; at those instants the kernel is of first order, an error
that its steps of 0.5 ms leave at 0.1 to 0.3 mrad on the mean (`Rollout`). Servos in the library were found
with this integrator or converted to it, so that nothing else may tell the executors apart.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from physics_cases import reference_positions

from bam_core.arrays import Array
from bam_core.mujoco import simulate_recording
from bam_core.mujoco.fidelity import native_positions
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel, load_servo, servo_names
from bam_core.simulation.rollout import DEFAULT_SUBSTEPS, Rollout, parameter_vector
from bam_core.simulation.synthetic import commanded
from bam_core.studies.coverage import session_runs

DT = 1e-3
"""s; MuJoCo's step, and the period of every firmware of the library."""

MEAN, LARGEST = 0.5e-3, 10e-3
"""rad. On the mean a third of an encoder count of the Dynamixel servos, 2π/4096. A single sample may be
further off: in a fall at 10 rad/s, an arm that friction lets go 1 ms later is 10 mrad behind."""


def runs(servo: ServoModel, one_in: int) -> list[Recording]:
    """Return every one_in-th run of a session of 24; every seventh: all scripts, both gains, all loads."""
    return [
        commanded(servo, each.bench, each.script.name, each.kp, sample_period=DT)
        for each in session_runs(servo)[::one_in]
    ]


def validated(servo: ServoModel, recordings: Sequence[Recording], **stepping: int) -> list[Array]:
    """Return what `bam validate` simulates."""
    return Rollout.for_servo(recordings, servo, **stepping).positions(parameter_vector(servo))


def require_alike(found: Array, expected: Array, run: Recording) -> None:
    apart = np.abs(found - expected)
    assert apart.mean() < MEAN, (run.name, apart.mean())
    assert apart.max() < LARGEST, (run.name, apart.max())


@pytest.mark.parametrize("one_in", [7, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", servo_names())
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
def test_what_tells_executors_apart_is_the_length_of_their_steps(name: str) -> None:
    """With steps eight times shorter the kernel comes closer to MuJoCo with steps four times shorter."""
    servo = load_servo(name)
    recordings = runs(servo, 7)
    coarse, fine = (validated(servo, recordings, substeps=n) for n in (1, 8))
    distances = []
    for dt, positions in ((DT, coarse), (DT / 4, fine)):
        apart = [
            np.abs(simulate_recording(servo, run, dt=dt) - expected).mean()
            for run, expected in zip(recordings, positions, strict=True)
        ]
        distances.append(np.mean(apart))
    assert distances[1] < 0.5 * distances[0]
