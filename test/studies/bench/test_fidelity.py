# SPDX-License-Identifier: Apache-2.0
"""Both executors are closer to the equations of motion than Algorithm 1 as printed, with any time step."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.model import load_servo
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, commanded
from studies.bench.fidelity import BENCHES, TIME_STEPS, Distance, servo_fidelity


@pytest.mark.long
@pytest.mark.parametrize("name", BENCHES)
def test_every_run_is_closer_to_the_truth_than_algorithm_1_with_the_same_time_step(name: str) -> None:
    rows = servo_fidelity(load_servo(name), *BENCHES[name])
    assert {(row.script, row.dt) for row in rows} == {(script, dt) for script in SCRIPTS for dt in TIME_STEPS}
    for row in rows:
        for ours in (row.native, row.python):
            assert ours.rms + row.truth_error < row.algorithm1.rms, row
            assert ours.highest + row.truth_error < row.algorithm1.highest, row
        assert row.disagreement < 1e-9


def test_the_truth_is_the_limit_of_algorithm_1_too() -> None:
    servo = load_servo("mx106")
    bench, kp = BENCHES["mx106"]
    runs = [commanded(servo, bench, script, kp, SynthesisSettings(sample_period=1e-3)) for script in SCRIPTS]
    found = {}
    for integrator in ("midpoint", "algorithm1"):
        rollout = Rollout(
            runs,
            servo.firmware,
            RolloutSettings(
                substeps=200, integrator=integrator, quadratic_rule=servo.friction.quadratic_rule
            ),
        )
        found[integrator] = rollout.positions(parameter_vector(servo))
    gaps = [Distance.between(x, y) for x, y in zip(found["midpoint"], found["algorithm1"], strict=True)]
    assert max(gap.highest for gap in gaps) < 5e-5


def test_a_distance_is_that_of_the_tracks() -> None:
    found = Distance.between(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 0.0]))
    assert found.highest == 3.0
    assert found.rms == pytest.approx(np.sqrt(3.0))
