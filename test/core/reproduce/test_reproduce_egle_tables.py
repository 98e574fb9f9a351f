# SPDX-License-Identifier: Apache-2.0
"""Egle's tables 6.1 and 6.2 from a short walk and its sensors; deliberate bugs turn their claims to NO."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from whole_body_cases import robot

from bam_core.reproduce import _egle_parameters, _egle_rolls
from bam_core.reproduce._egle_parameters import Parameters, noisy_claims
from bam_core.reproduce._egle_rolls import Rolls, roll_claims
from bam_core.reproduce._egle_tables import TARGETS
from bam_core.reproduce._egle_walks import Walks, leg_swings
from bam_core.whole_body import (
    JointFriction,
    JointLog,
    Sensors,
    Walk,
    WholeBody,
    plan_gait,
    sideways,
    simulate_walk,
    straight,
)

pytestmark = pytest.mark.long


def short_walk(friction: Mapping[str, JointFriction] = MappingProxyType(TARGETS)) -> Walk:
    """Some steps ahead and sideways, in which each joint of the legs swings both ways."""
    return simulate_walk(robot(), plan_gait(robot(), straight(4) + sideways(2)), friction)


def walks_of(made: Walk) -> Walks:
    return Walks(
        robot=robot(),
        knee=made,
        legs=made,
        short=made,
        cornered=robot(),
        unseen=made,
        turn=np.inf,
        swings=leg_swings(made),
    )


def quiet(words: str) -> None:
    pass


def table_claims(made: Walk) -> dict[str, bool]:
    """Whether claims hold of a walk, table 6.2's and those of hip rolls in table 6.1."""
    walks = walks_of(made)
    noisy = Sensors().measure(made.log).arranged(robot())
    both = Parameters.make(walks, noisy).both
    parts = dict.fromkeys(("clean", "steps", "noise"), both)  # for reasons alone
    claims = [*noisy_claims(both, parts), *roll_claims(Rolls.make(walks, quiet))]
    return {each.claim.split(" (")[0]: each.holds for each in claims}


@pytest.fixture(scope="module", autouse=True)
def few() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_egle_rolls, "REPEATS", 3)
        yield


@pytest.fixture(scope="module")
def walk() -> Walk:
    return short_walk()


@pytest.fixture(scope="module")
def right(walk: Walk) -> dict[str, bool]:
    return table_claims(walk)


Bug = Callable[[pytest.MonkeyPatch, Walk], Walk]


def no_friction(patch: pytest.MonkeyPatch, made: Walk) -> Walk:
    return short_walk({})


def late(patch: pytest.MonkeyPatch, made: Walk) -> Walk:
    """Torques are recorded 20 ms late."""
    return replace(made, log=replace(made.log, effort=np.roll(made.log.effort, 20, axis=0)))


def load_reversed(patch: pytest.MonkeyPatch, made: Walk) -> Walk:
    """What is required less what is measured, with the sign of the latter reversed."""
    right = _egle_parameters.estimate_filtered

    def mistaken(body: WholeBody, log: JointLog, *rest: Any) -> Any:
        found = right(body, log, *rest)
        columns = [log.names.index(name) for name in found.estimate.joints]
        torque = found.estimate.torque + 2.0 * log.effort[:, columns]
        return replace(found, estimate=replace(found.estimate, torque=torque))

    for module in (_egle_parameters, _egle_rolls):
        patch.setattr(module, "estimate_filtered", mistaken)
    return made


@pytest.mark.parametrize("bug", [no_friction, late, load_reversed])
def test_deliberate_bugs_turn_claims_about_the_tables_to_no(
    walk: Walk, right: dict[str, bool], bug: Bug, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = table_claims(bug(monkeypatch, walk))
    assert [name for name, holds in right.items() if holds and not found[name]], right
