# SPDX-License-Identifier: Apache-2.0
"""Every known mistake in a port is found and named, alone and together with others."""

from __future__ import annotations

import pytest

from bam_core.errors import BamError
from bam_core.exchange.conformance.comparison import conformance
from bam_core.exchange.conformance.specification import DEVIATIONS, Specification
from bam_core.exchange.conformance.step import ServoNumbers, Step


def test_the_specification_conforms() -> None:
    outcome = conformance(Specification)
    assert outcome.conforms
    assert outcome.largest_error == 0.0


@pytest.mark.parametrize("name", DEVIATIONS)
def test_a_mistake_is_found_and_named(name: str) -> None:
    outcome = conformance(lambda servo: Specification(servo, (name,)))
    assert {difference.deviations for difference in outcome.differences} == {(name,)}


def test_mistakes_that_come_together_are_named_together() -> None:
    mistakes = ("late_goal", "set_point_survives")
    outcome = conformance(lambda servo: Specification(servo, mistakes))
    assert {name for one in outcome.differences for name in one.deviations} == set(mistakes)
    assert all(one.deviations for one in outcome.differences)


def test_a_mistake_that_nobody_knows_is_left_open() -> None:
    class Doubled(Specification):
        def step(self, step: Step) -> tuple[float, float]:
            motor, friction = super().step(step)
            return motor, 0.5 * friction

    outcome = conformance(Doubled)
    assert not outcome.conforms
    assert {one.deviations for one in outcome.differences} == {()}


def test_friction_that_drives_is_noticed() -> None:
    outcome = conformance(lambda servo: Specification(servo, ("other_sign",)))
    assert all(one.adds_energy for one in outcome.differences)


def test_float32_is_right_within_its_own_tolerance() -> None:
    import numpy as np

    class Single(Specification):
        def step(self, step: Step) -> tuple[float, float]:
            motor, friction = super().step(step)
            return float(np.float32(motor)), float(np.float32(friction))

    assert conformance(Single, "float32").conforms
    assert not conformance(Single).conforms


@pytest.mark.parametrize("got", [(1.0,), None, (float("nan"), 0.0)])
def test_a_port_that_returns_no_two_torques_is_refused(got: object) -> None:
    class Broken:
        def __init__(self, servo: ServoNumbers) -> None:
            pass

        def reset(self) -> None:
            pass

        def step(self, step: Step) -> object:
            return got

    with pytest.raises(BamError, match="friction m1: states"):
        conformance(Broken)  # type: ignore[arg-type]
