# SPDX-License-Identifier: Apache-2.0
"""How well a servo model reproduces recordings."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any

from bam_core.errors import Missing, OutOfRange, Unsupported
from bam_core.gears.posedness import ill_posed
from bam_core.gears.rollout import GearRollout, gear_vector
from bam_core.identification.data.same_servo import other_servos
from bam_core.identification.uncertainty.bands import predicted_bands
from bam_core.recordings.recording import Recording
from bam_core.servo.bench_effects_file import BenchEffectsLike, load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.short_horizon import LONGER, SHORT
from bam_core.text.finding import log_findings
from bam_core.validation.settings import DEFAULT_SETTINGS, ValidateSettings

log = logging.getLogger(__name__)

LEAST_DRAWS = 20
"""Of which one is beyond the 5th percentile, and one beyond the 95th."""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """How the 90 % bands of a model compare with what was measured, each recording counting alike.

    Attributes:
        coverage: share of the samples inside, 0..1.
        width: from the 5th to the 95th percentile, mean, rad.
        crps: continuous ranked probability score of the draws, see `bands.crps`, rad.
        per_log: the same three of every recording by its name.
    """

    coverage: float
    width: float
    crps: float
    per_log: Mapping[str, Mapping[str, float]]


@dataclass(frozen=True, kw_only=True)
class Validation:
    """Errors of one servo model on recordings.

    Attributes:
        per_log: mean absolute position error of every recording by its name, rad.
        mae_short: the mean over recordings with simulations that start anew from measured states every
            `short_horizon.SHORT` s, rad.
        mae_longer: the same every `short_horizon.LONGER` s.
        band: how the bands of the predictive distribution compare; None where none was drawn.
    """

    per_log: Mapping[str, float]
    mae_short: float
    mae_longer: float
    band: Calibration | None = None

    @property
    def mae(self) -> float:
        """Mean over recordings, rad."""
        return fmean(self.per_log.values())

    def summary(self) -> dict[str, Any]:
        """Return the content of the JSON file; errors and widths in rad."""
        entry = {
            "mae": self.mae,
            "per_log": dict(self.per_log),
            "mae_short": self.mae_short,
            "mae_short_1s": self.mae_longer,
        }
        if self.band is not None:
            entry |= {
                "crps": self.band.crps,
                "band_90_coverage": self.band.coverage,
                "band_90_width": self.band.width,
                "per_log_draws": {name: dict(log) for name, log in self.band.per_log.items()},
            }
        return entry


def validate(
    servo: ServoLike,
    recordings: Sequence[Recording],
    bench_effects: BenchEffectsLike = IDEAL_BENCH,
    settings: ValidateSettings = DEFAULT_SETTINGS,
) -> Validation:
    """Simulate every recording in closed loop and compare positions.

    Args:
        servo: model, library name or file; simulated with its own firmware, integrator and friction rule.
            Recordings of another servo are compared all the same, with a warning.
        recordings: one at least.
        bench_effects: of the bench that recorded, see `load_bench_effects`; default none.
        settings: simulation step, and draws for 90 % bands.

    Raises:
        Missing: there are no recordings, or no predictive distribution to draw from.
        Unsupported: draws of a servo with a gear.
        BamError: a number is out of range.
    """
    if not recordings:
        raise Missing("recordings", "one at least", advice="give some")
    servo, bench = load_servo(servo), load_bench_effects(bench_effects)
    log_findings(log, other_servos(servo, recordings))
    band = _calibration(servo, recordings, bench, settings) if settings.draws else None
    return replace(errors_of(servo, recordings, bench, settings.dt), band=band)


def errors_of(
    servo: ServoModel, recordings: Sequence[Recording], bench: BenchEffects, dt: float | None = None
) -> Validation:
    """Return the errors of a servo on recordings, as `validate` does without checks and draws."""
    log_findings(log, ill_posed(servo, (recording.bench for recording in recordings), bench))
    errors, short, longer = (
        _errors(servo, recordings, bench, dt, restart) for restart in (None, SHORT, LONGER)
    )
    return Validation(
        per_log={recording.name: error for recording, error in zip(recordings, errors, strict=True)},
        mae_short=fmean(short),
        mae_longer=fmean(longer),
    )


def _errors(
    servo: ServoModel,
    recordings: Sequence[Recording],
    bench: BenchEffects,
    dt: float | None,
    restart: float | None,
) -> list[float]:
    """Return the mean absolute error of every recording, rad."""
    if servo.gear is None:
        rollout = Rollout.for_servo(recordings, servo, dt=dt, restart=restart)
        return rollout.errors(parameter_vector(servo, bench))[0].tolist()
    geared = GearRollout(recordings, firmware=servo.firmware, dt=dt, restart=restart)
    return geared.errors(gear_vector(servo, bench))[0].tolist()


def _calibration(
    servo: ServoModel,
    recordings: Sequence[Recording],
    bench: BenchEffects,
    settings: ValidateSettings,
) -> Calibration:
    draws, prediction = settings.draws, settings.prediction
    if draws < LEAST_DRAWS:
        raise OutOfRange("draws", draws, f"at least {LEAST_DRAWS}, of which one is beyond the 5th percentile")
    if servo.gear is not None:
        raise Unsupported(
            f"servo '{servo.name}', gear",
            "has no predictive distribution",
            expected="a servo without a gear for draws",
            advice="leave draws out for this one",
        )
    if prediction is None:
        raise Missing(
            f"servo '{servo.name}', predictive distribution",
            "a file that 'bam identify' wrote, with its predictions/",
            advice="give that, or leave draws out",
        )
    if settings.fixed_friction:
        prediction = prediction.with_fixed_friction()
    bands = predicted_bands(
        servo, recordings, prediction, bench, draws=draws, seed=settings.seed, dt=settings.dt
    )
    return Calibration(
        coverage=fmean(band.coverage for band in bands),
        width=fmean(band.width for band in bands),
        crps=fmean(band.crps for band in bands),
        per_log={
            recording.name: {
                "crps": band.crps,
                "band_90_coverage": band.coverage,
                "band_90_width": band.width,
            }
            for recording, band in zip(recordings, bands, strict=True)
        },
    )
