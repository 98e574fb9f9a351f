# SPDX-License-Identifier: Apache-2.0
"""What is saved of the curves is what was measured and simulated, thinned."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bam_core.identification.trajectories import MOST_SAMPLES, TRAJECTORIES, save_trajectories
from test.core.identification_cases import mx106, record


def test_curves_are_kept_with_both_ends_in_the_order_of_names(tmp_path: Path) -> None:
    logs = [record(mx106("m1"), script, 8.0) for script in ("sin_sin", "lift_and_drop")]
    simulated = {log.name: {"m1": log.position + 0.001, "m4": 0.0 * log.position} for log in logs}
    save_trajectories(tmp_path / TRAJECTORIES, logs, simulated)
    with np.load(tmp_path / TRAJECTORIES, allow_pickle=False) as arrays:
        names = [str(name) for name in arrays["logs"]]
        assert names == sorted(log.name for log in logs)
        for log in logs:
            i = names.index(log.name)
            time = arrays[f"time_{i}"]
            assert time.dtype == np.float32
            assert len(time) == min(len(log), MOST_SAMPLES)
            np.testing.assert_allclose(time[[0, -1]], log.time[[0, -1]], atol=1e-6)
            kept = np.searchsorted(log.time, time - 1e-4)
            np.testing.assert_allclose(arrays[f"measured_{i}"], log.position[kept], atol=1e-6)
            np.testing.assert_allclose(arrays[f"goal_{i}"], log.goal_position[kept], atol=1e-6)
            np.testing.assert_array_equal(arrays[f"torque_{i}"], log.torque_enabled[kept])
            left = arrays[f"m1_{i}"] - arrays[f"measured_{i}"]
            np.testing.assert_allclose(left, 0.001, atol=1e-6)
            np.testing.assert_array_equal(arrays[f"m4_{i}"], 0.0)


def test_a_log_with_fewer_samples_keeps_all(tmp_path: Path) -> None:
    log = record(mx106("m1"), "sin_sin", 8.0)
    assert len(log) > MOST_SAMPLES
    few = type(log)(
        **{name: value[:50] if isinstance(value, np.ndarray) else value for name, value in vars(log).items()}
    )
    save_trajectories(tmp_path / TRAJECTORIES, [few], {few.name: {"m1": few.position}})
    with np.load(tmp_path / TRAJECTORIES) as arrays:
        assert len(arrays["time_0"]) == 50
