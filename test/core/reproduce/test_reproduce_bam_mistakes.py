# SPDX-License-Identifier: Apache-2.0
"""Deliberate mistakes in the synthetic servos turn BAM's claims to NO that hold without them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from bam_core.arms import find_arm
from bam_core.reproduce._bam_arms import arm_claims, arm_runs
from bam_core.reproduce._bam_fits import Repeats
from bam_core.reproduce._bam_synthetic import Campaign, identified, synthetic_claims, true_servo
from bam_core.reproduce._bam_truth import TrueServo
from bam_core.reproduce.claim import Claim
from bam_core.servo.friction import Friction

pytestmark = pytest.mark.long

SMALL = Campaign(repeats=1, trials=1500, every=4)
"""27 logs of a Dynamixel, 20 of an eRob, and a third of the search."""

ARM = find_arm("erob_2r")


def with_load_of_the_wrong_sign(truth: TrueServo) -> TrueServo:
    return replace(truth, load_sign=1.0)


def without_friction(truth: TrueServo) -> TrueServo:
    return replace(truth, servo=replace(truth.servo, friction=Friction(coulomb=1e-3)))


def with_twice_the_delay(truth: TrueServo) -> TrueServo:
    return replace(truth, reality=replace(truth.reality, delay=2.0 * truth.reality.delay))


def as_it_is(truth: TrueServo) -> TrueServo:
    return truth


def held(claims: Iterable[Claim]) -> set[str]:
    return {each.claim for each in claims if each.holds}


def claims_with(change, fits: dict[str, Repeats]) -> set[str]:
    truths = {name: change(true_servo(name)) for name in ARM.servos}
    for name, truth in truths.items():
        fits[name] = identified(name, truth, lambda _: None, SMALL)
    first, second = (truths[name] for name in ARM.servos)
    runs = arm_runs(ARM, (first, second), [fits[name] for name in ARM.servos], ["triangular_wave"])
    found = held(arm_claims(ARM, "m6", runs.errors))
    for name, repeats in fits.items():
        found |= held(synthetic_claims(name, repeats))
    return found


@pytest.fixture(scope="module")
def without_mistake() -> set[str]:
    return claims_with(as_it_is, {})


@pytest.mark.parametrize("change", [with_load_of_the_wrong_sign, without_friction, with_twice_the_delay])
def test_a_mistake_turns_claims_to_no(change, without_mistake: set[str]) -> None:
    assert without_mistake
    assert without_mistake - claims_with(change, {})
