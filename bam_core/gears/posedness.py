# SPDX-License-Identifier: Apache-2.0
"""Whether a servo's gear has one internal force in every state, with the loads that it moves (29)."""

from __future__ import annotations

from collections.abc import Iterable

from bam_core.gears.gear import Gear
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import PendulumBench
from bam_core.text.gear_findings import IllPosedGear


def ill_posed(
    servo: ServoModel, benches: Iterable[PendulumBench], bench_effects: BenchEffects = IDEAL_BENCH
) -> tuple[IllPosedGear, ...]:
    """Return whether a servo's gear is ill-posed with some of these loads.

    Args:
        servo: with a gear or without.
        benches: what it moves.
        bench_effects: of all of them.

    Returns:
        A finding with the largest |ρ̂|; none where |ρ̂| < 1 with all, and without a gear.
    """
    if servo.gear is None or servo.motor.armature == 0.0:
        return ()
    inertias = {inertia for bench in benches if (inertia := bench_effects.corrected(bench).inertia) > 0.0}
    gears = [
        Gear(asymmetry=servo.gear, input_inertia=servo.motor.armature, output_inertia=inertia)
        for inertia in inertias
    ]
    largest = max((abs(gear.feedback) for gear in gears if not gear.is_well_posed), default=0.0)
    if largest == 0.0:
        return ()
    return (
        IllPosedGear(
            servo=servo.name,
            feedback=largest,
            input_side=servo.gear.input_side,
            output_side=servo.gear.output_side,
        ),
    )
