# SPDX-License-Identifier: Apache-2.0
"""Egle's tables 6.1 and 6.2 from short walks and their sensors; deliberate bugs turn claims to NO."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bam_core.whole_body import JointLog, WholeBody
from papers.egle import parameters as egle_parameters
from papers.egle import rolls as egle_rolls
from papers.egle.gait import PELVIS_YAW, STEP, plan_gait, straight
from papers.egle.parameters import Parameters, noisy_claims
from papers.egle.rolls import Rolls, roll_claims
from papers.egle.sensors import Sensors
from papers.egle.tables import TARGETS
from papers.egle.walking import Walk, simulate_walk
from papers.egle.walks import SHORT_STEP, Walks, leg_swings
from test.core.whole_body_cases import robot

pytestmark = pytest.mark.long


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


def table_claims(made: Walk) -> dict[str, bool]:
    """Whether claims of table 6.2 hold of a walk."""
    walks = walks_of(made)
    noisy = Sensors().measure(made.log).arranged(robot())
    both = Parameters.make(walks, noisy).both
    parts = dict.fromkeys(("clean", "steps", "noise"), both)  # for reasons alone
    return {each.claim: each.holds for each in noisy_claims(both, parts)}


def roll_table_claims(made: Walk) -> dict[str, bool]:
    """Whether claims of table 6.1 about hip rolls hold of a walk that is measured three times."""
    claims = roll_claims(Rolls.make(walks_of(made), lambda words: None))
    return {each.claim.split(" (")[0]: each.holds for each in claims}


@pytest.fixture(scope="module")
def walk() -> Walk:
    """Two steps ahead of either foot, in which each joint of the legs swings both ways."""
    return simulate_walk(robot(), plan_gait(robot(), straight(4)), TARGETS)


@pytest.fixture(scope="module")
def right(walk: Walk) -> dict[str, bool]:
    return table_claims(walk)


@pytest.fixture(scope="module")
def short_walk() -> Walk:
    """Two of the steps of table 6.1 of either foot."""
    steps = straight(4, SHORT_STEP)
    return simulate_walk(
        robot(), plan_gait(robot(), steps, pelvis_yaw=PELVIS_YAW * SHORT_STEP / STEP), TARGETS
    )


@pytest.fixture(scope="module", autouse=True)
def few_measurements() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(egle_rolls, "REPEATS", 3)
        yield


@pytest.fixture(scope="module")
def right_rolls(short_walk: Walk) -> dict[str, bool]:
    return roll_table_claims(short_walk)


Bug = Callable[[pytest.MonkeyPatch, Walk], Walk]


def no_friction(patch: pytest.MonkeyPatch, made: Walk) -> Walk:
    """Torques are those of the same motion without friction."""
    effort = made.log.effort.copy()
    effort[:, robot().torque_columns] += made.friction
    return replace(made, log=replace(made.log, effort=effort))


def late(patch: pytest.MonkeyPatch, made: Walk) -> Walk:
    """Torques are recorded 20 ms late."""
    return replace(made, log=replace(made.log, effort=np.roll(made.log.effort, 20, axis=0)))


def load_reversed(patch: pytest.MonkeyPatch, made: Walk) -> Walk:
    """What is required less what is measured, with the sign of the latter reversed."""
    right = egle_rolls.estimate_filtered

    def mistaken(body: WholeBody, log: JointLog, *rest: Any) -> Any:
        found = right(body, log, *rest)
        columns = [log.names.index(name) for name in found.estimate.joints]
        torque = found.estimate.torque + 2.0 * log.effort[:, columns]
        return replace(found, estimate=replace(found.estimate, torque=torque))

    for module in (egle_parameters, egle_rolls):
        patch.setattr(module, "estimate_filtered", mistaken)
    return made


@pytest.mark.parametrize("bug", [no_friction, late, load_reversed])
def test_deliberate_bugs_turn_claims_about_table_6_2_to_no(
    walk: Walk, right: dict[str, bool], bug: Bug, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = table_claims(bug(monkeypatch, walk))
    assert [name for name, holds in right.items() if holds and not found[name]], right


@pytest.mark.parametrize("bug", [no_friction, late, load_reversed])
def test_deliberate_bugs_turn_claims_about_table_6_1_to_no(
    short_walk: Walk, right_rolls: dict[str, bool], bug: Bug, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All of these claims are marked as chosen after, for the steps are."""
    found = roll_table_claims(bug(monkeypatch, short_walk))
    assert [name for name, holds in right_rolls.items() if holds and not found[name]], right_rolls
