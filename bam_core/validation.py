# SPDX-License-Identifier: Apache-2.0
"""How well a servo model reproduces recordings."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from bam_core.errors import Missing
from bam_core.gears.posedness import ill_posed
from bam_core.gears.rollout import GearRollout, gear_vector
from bam_core.identification.data.same_servo import other_servos
from bam_core.recordings.recording import Recording
from bam_core.servo.bench_effects_file import BenchEffectsLike, load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH
from bam_core.servo.model import ServoLike, load_servo
from bam_core.simulation.rollout import Rollout, parameter_vector

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Errors of one servo model on recordings.

    Attributes:
        per_log: mean absolute position error of every recording by its name, rad.
    """

    per_log: Mapping[str, float]

    @property
    def mae(self) -> float:
        """Mean over recordings, rad."""
        return fmean(self.per_log.values())

    def summary(self) -> dict[str, Any]:
        """Return the content of the JSON file: ``{"mae": rad, "per_log": {name: rad}}``."""
        return {"mae": self.mae, "per_log": dict(self.per_log)}


def validate(
    servo: ServoLike,
    recordings: Sequence[Recording],
    bench_effects: BenchEffectsLike = IDEAL_BENCH,
    *,
    dt: float | None = None,
) -> Validation:
    """Simulate every recording in closed loop and compare positions.

    Args:
        servo: model, library name or file; simulated with its own firmware, integrator and friction rule.
            Recordings of another servo are compared all the same, with a warning.
        recordings: one at least.
        bench_effects: of the bench that recorded, see `load_bench_effects`; default none.
        dt: step of controller and simulation, s; default the firmware's period.

    Raises:
        Missing: there are no recordings.
        BamError: dt is out of range.
    """
    if not recordings:
        raise Missing("recordings", "one at least", advice="give some")
    servo, bench = load_servo(servo), load_bench_effects(bench_effects)
    for line in other_servos(servo, recordings):
        log.warning(line)
    if servo.gear is None:
        errors = Rollout.for_servo(recordings, servo, dt=dt).errors(parameter_vector(servo, bench)[None])[0]
    else:
        if warning := ill_posed(servo, (recording.bench for recording in recordings), bench):
            log.warning(warning)
        errors = GearRollout(recordings, firmware=servo.firmware, dt=dt).errors(gear_vector(servo, bench))[0]
    names = (recording.name for recording in recordings)
    return Validation(per_log=dict(zip(names, errors.tolist(), strict=True)))
