# SPDX-License-Identifier: Apache-2.0
"""A gear that may jam with its load is told, with the largest |ρ̂| and the cure."""

from __future__ import annotations

import pytest

from bam_core import PendulumBench, load_servo
from bam_core.gears import Asymmetry, Gear
from bam_core.gears.posedness import ill_posed

LIGHT, HEAVY = PendulumBench(mass=0.01, length=0.05), PendulumBench(mass=0.5, length=0.15)
LOCKING = load_servo("xl330_bam").with_gear(Asymmetry(input_side=0.1, output_side=1.4))


def test_the_largest_feedback_of_all_loads_is_told() -> None:
    gear = Gear(
        asymmetry=Asymmetry(input_side=0.1, output_side=1.4),
        input_inertia=LOCKING.motor.armature,
        output_inertia=HEAVY.inertia,
    )
    assert gear.feedback < -1.0
    for benches in ([HEAVY], [LIGHT, HEAVY], [HEAVY, LIGHT]):
        (finding,) = ill_posed(LOCKING, benches)
        assert finding.feedback == pytest.approx(-gear.feedback)
        assert (finding.input_side, finding.output_side) == (0.1, 1.4)


@pytest.mark.parametrize("bench", [LIGHT, PendulumBench(mass=0.0, length=0.1)])
def test_a_gear_is_well_posed_with_a_load_that_is_small_beside_its_rotor(bench: PendulumBench) -> None:
    assert ill_posed(LOCKING, [bench]) == ()


def test_a_servo_without_gear_has_nothing_to_be_told() -> None:
    assert ill_posed(load_servo("xl330_bam"), [HEAVY]) == ()
