# SPDX-License-Identifier: Apache-2.0
"""What `make bench` measures in MuJoCo is complete; how fast it is, no test can tell."""

from __future__ import annotations

import pytest

from studies.bench.core import (
    SERVO_COUNTS,
    help_time,
    identification_times,
    mujoco_rates,
    mujoco_throughput,
)


def test_every_way_of_stepping_is_timed_for_every_size_of_robot() -> None:
    rates = mujoco_rates(steps=20, repeats=1)
    assert tuple(rates) == SERVO_COUNTS
    for of_one in rates.values():
        assert set(of_one) == {"frictionless", "bare", "native", "python"}
        assert min(of_one.values()) > 0.0


def test_rollouts_are_timed_with_one_thread_and_with_two() -> None:
    rows = mujoco_throughput(steps=24, repeats=1)
    assert {(row.servos, row.threads) for row in rows} >= {(n, m) for n in SERVO_COUNTS for m in (1, 2)}
    single = {row.servos: row for row in rows if row.threads == 1}
    for row in rows:
        assert row.speedup == pytest.approx(row.steps_per_second / single[row.servos].steps_per_second)


@pytest.mark.long
def test_what_identifications_simulate_is_as_exact_as_it_has_to_be() -> None:
    rows = {row.simulation: row for row in identification_times(repeats=1, logs=32)}
    assert rows["period"].distance < 0.01e-3
    assert rows["rollout"].distance < 0.01e-3
    assert rows["search"].distance < 0.1e-3
    assert rows["draft"].distance < 0.5e-3


def test_the_help_of_the_command_line_is_timed() -> None:
    assert help_time(repeats=1) > 0.0
