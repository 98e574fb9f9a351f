# SPDX-License-Identifier: Apache-2.0
"""Whether a servo file is fit to be passed on: compared with recordings that its fit has not used."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.errors import Missing
from bam_core.identification.data.same_servo import other_servos
from bam_core.identification.uncertainty.prediction_file import load_prediction
from bam_core.identification.verdict import mean_motion
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoModel, load_servo
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.text.contribution_findings import ContributionVerdict, Criterion
from bam_core.validation.settings import ValidateSettings
from bam_core.validation.validation import Validation, validate

DRAWS = 200
"""For the bands: the 5th percentile is then known to 1.5 % of the draws (√(0.05 · 0.95 / 200))."""


@dataclass(frozen=True, kw_only=True)
class Contribution:
    """The criteria of a servo, and what they were computed from.

    Attributes:
        servo: its name.
        criteria: one finding each.
        validation: errors and bands on the recordings.
        logs: recording -> SHA-256.
    """

    servo: str
    criteria: tuple[Criterion, ...]
    validation: Validation
    logs: dict[str, str]

    @property
    def verdict(self) -> ContributionVerdict:
        """Whether all criteria are met."""
        missed = tuple(criterion.kind for criterion in self.criteria if not criterion.passed)
        return ContributionVerdict(
            kind="refused" if missed else "accepted",
            servo=self.servo,
            criteria=len(self.criteria),
            missed=missed,
        )

    def summary(self) -> dict[str, Any]:
        """Return the content of the JSON file; errors and widths in rad."""
        return {
            "verdict": self.verdict.summary(),
            "criteria": [criterion.summary() for criterion in self.criteria],
            "validation": self.validation.summary(),
            "logs": self.logs,
        }


def check_contribution(
    file: Path, recordings: Sequence[Recording], bench_effects: BenchEffects = IDEAL_BENCH, *, seed: int = 0
) -> Contribution:
    """Compare a servo with recordings, by the criteria of contributed servos.

    Args:
        file: of the servo, with its ``predictions/`` beside it.
        recordings: one at least.
        bench_effects: of the bench that recorded.
        seed: of the draws.

    Raises:
        Missing: there are no recordings.
        BamError: a file cannot be read, or the servo has a gear.
    """
    if not recordings:
        raise Missing("recordings", "one at least", advice="give some")
    servo = load_servo(file)
    servo.require_no_gear("the check of a contribution")
    prediction = load_prediction(file)
    validation = validate(
        servo,
        recordings,
        bench_effects,
        ValidateSettings(prediction=prediction, draws=0 if prediction is None else DRAWS, seed=seed),
    )
    motion = float(np.mean([mean_motion(recording) for recording in recordings]))
    band = validation.band
    values = {
        "split": _training_logs(servo, recordings),
        "logs": len(recordings),
        "servo": _others(servo, recordings),
        "test_error": validation.mae / motion if motion else None,
        "bands": None if band is None else band.coverage,
        "draws": None if band is None or not validation.mae else band.crps / validation.mae,
        "conformance": max(_differences(servo, recordings, bench_effects)),
    }
    return Contribution(
        servo=servo.name,
        criteria=tuple(Criterion(kind=kind, value=value) for kind, value in values.items()),
        validation=validation,
        logs={recording.name: recording.sha256 for recording in recordings},
    )


def _training_logs(servo: ServoModel, recordings: Sequence[Recording]) -> int | None:
    """Return how many recordings the fit has used; None where the file does not name those."""
    trained = set(servo.provenance.train_data.values())
    return sum(recording.sha256 in trained for recording in recordings) if trained else None


def _others(servo: ServoModel, recordings: Sequence[Recording]) -> int:
    """Return how many recordings are of another servo, or of another control law."""
    return sum(bool(other_servos(servo, [recording])) for recording in recordings)


def _differences(
    servo: ServoModel, recordings: Sequence[Recording], bench_effects: BenchEffects
) -> Iterator[float]:
    """Yield for each recording the mean difference of positions between MuJoCo and the kernel, rad."""
    from bam_core.mujoco.replay import simulate_recording  # loads MuJoCo's library

    rollout = Rollout.for_servo(recordings, servo)
    compiled = rollout.positions(parameter_vector(servo, bench_effects))
    for recording, expected in zip(recordings, compiled, strict=True):
        stepped = simulate_recording(servo, recording, bench_effects=bench_effects)
        yield float(np.mean(np.abs(stepped - expected)))
