# SPDX-License-Identifier: Apache-2.0
"""A hidden spread of friction is found from recordings, and draws of new runs have it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bam_core.errors import Missing, OutOfRange, WrongShape
from bam_core.identification.variation.spread import Spread
from bam_core.identification.variation.variation import Variation, estimate_variation
from bam_core.recordings.recording import Recording
from test.core.identification_cases import mx106, record
from test.core.refusals import refused

SERVO = mx106("m4")


def varying(deviation: float, count: int) -> list[Recording]:
    """Runs whose both kinds of friction scatter, each by itself."""
    random = np.random.default_rng(2)
    scripts = ("sin_sin", "up_and_down", "sin_time_square")
    runs = []
    for k in range(count):
        no_load, load = np.exp(deviation * random.standard_normal(2))
        friction = SERVO.friction.scaled(no_load=float(no_load), load=float(load))
        run = record(replace(SERVO, friction=friction), scripts[k % 3], 16.0)
        runs.append(replace(run, name=f"{run.name}_{k}"))
    return runs


@pytest.mark.long
def test_a_hidden_spread_is_recovered() -> None:
    spread = estimate_variation(SERVO, varying(0.2, 24)).spread
    for group in ("no_load", "load"):
        level = spread.level(group, "run")
        assert level is not None
        assert level.interval[0] < 0.2 < level.interval[1]
        assert level.source == "data"


def test_runs_with_other_friction_have_a_wider_spread_than_alike_ones() -> None:
    other, alike = (estimate_variation(SERVO, varying(deviation, 4)) for deviation in (0.3, 0.0))
    for group in ("no_load", "load"):
        wide, narrow = (variation.spread.level(group, "run") for variation in (other, alike))
        assert wide is not None
        assert narrow is not None
        assert wide.value > 1.5 * narrow.value
    assert other.residual < 3.0 * SERVO.firmware.resolution  # friction explains nearly all of it


def test_draws_scatter_by_all_levels_together_and_repeat_with_their_seed() -> None:
    draws = {level: np.full((3, 3), value) for level, value in (("run", 0.03), ("session", 0.04))}
    variation = Variation(spread=Spread(draws=draws), residual=0.0)
    one = variation.draw(20_000, seed=1)
    assert np.std(one, axis=0) == pytest.approx(3 * [0.05], rel=0.03)
    assert np.array_equal(one, variation.draw(20_000, seed=1))
    assert not np.array_equal(one, variation.draw(20_000, seed=2))


def test_numbers_that_are_none_are_refused() -> None:
    spread = Spread(draws={"run": np.ones((4, 3))})
    with refused(OutOfRange):
        Variation(spread=spread, residual=-1.0)
    with refused(OutOfRange):
        Variation(spread=Spread(draws={"run": np.full((4, 3), np.nan)}), residual=0.0)
    with refused(WrongShape):
        Variation(spread=Spread(draws={"run": np.ones((4, 2))}), residual=0.0)
    with refused(Missing):
        Variation(spread=Spread(draws={}), residual=0.0)
