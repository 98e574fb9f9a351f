# SPDX-License-Identifier: Apache-2.0
"""The file of a predictive distribution: ``out/predictions/m4.json`` beside the servo's ``out/m4.yaml``."""

from __future__ import annotations

import json
import logging
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.errors import BamError, Malformed, Missing
from bam_core.files.atomic_file import write_text
from bam_core.files.field_errors import UnsuitableError
from bam_core.files.json_file import read_json
from bam_core.files.typed import TypedReader
from bam_core.identification.uncertainty.prediction import Prediction
from bam_core.identification.variation.spread import Spread
from bam_core.identification.variation.variation import Variation
from bam_core.servo.effects import EFFECTS
from bam_core.servo.model import ServoModel, load_servo, servo_path
from bam_core.servo.parameters import MOTOR_PARAMETERS

FOLDER = "predictions"

_ABOVE_ZERO = (*MOTOR_PARAMETERS, "stribeck_velocity", "stribeck_exponent")
_KEPT_DRAWS = 200  # of the spreads: as many as anybody draws runs
_REACH = 10.0  # decade to either side, and standard errors: further than any draw goes

_REMEDY = "run 'bam identify' again"
_READER = TypedReader(is_json=True, allows_unknown=True, advice=_REMEDY)

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class VariationEntry:
    """How runs vary: the fields of `variation.Variation`, spreads by level."""

    residual: float
    spread: Mapping[str, tuple[tuple[float, ...], ...]]

    def build(self) -> Variation:
        """Return what it stands for."""
        draws = {level: np.array(rows, dtype=np.float64) for level, rows in self.spread.items()}
        return Variation(spread=Spread(draws=draws), residual=self.residual)


@dataclass(frozen=True, kw_only=True)
class PredictionFile:
    """What the file holds: the fields of `prediction.Prediction`."""

    ranges: Mapping[str, tuple[float, float]]
    factor: tuple[tuple[float, ...], ...]
    inflation: float
    residual: float
    residual_alone: float
    variation: VariationEntry | None = None
    units: int | None = None

    def __post_init__(self) -> None:
        size = len(self.ranges)
        if len(self.factor) != size or any(len(row) != size for row in self.factor):
            raise UnsuitableError(self.factor, f"{size} rows of {size} numbers", field="factor")


def prediction_path(servo: str | os.PathLike[str]) -> Path:
    """Return where the predictive distribution is that belongs to a servo's file."""
    path = Path(servo)
    return path.parent / FOLDER / f"{path.stem}.json"


def save_prediction(servo: str | os.PathLike[str], prediction: Prediction) -> None:
    """Write the predictive distribution that belongs to a servo's file.

    Raises:
        NotWritable: the file cannot be written.
    """
    content = {
        "ranges": {name: list(ends) for name, ends in prediction.ranges.items()},
        "factor": prediction.factor.tolist(),
        "inflation": prediction.inflation,
        "residual": prediction.residual,
        "residual_alone": prediction.residual_alone,
        "variation": _entry(prediction.variation),
        **({} if prediction.units is None else {"units": prediction.units}),
    }
    write_text(prediction_path(servo), json.dumps(content, indent=1, allow_nan=False) + "\n")


def load_prediction(servo: str | os.PathLike[str]) -> Prediction | None:
    """Read the predictive distribution that belongs to a servo's file; None where there is none.

    Raises:
        Malformed: the file is damaged.
    """
    path = prediction_path(servo)
    if not path.exists():
        return None
    content = read_json(path, advice=_REMEDY)
    try:
        read = _READER.read(content, PredictionFile)
    except BamError as error:
        problem = str(error).removesuffix(f"; {_REMEDY}")
        raise Malformed(path, f"is damaged, {problem}", advice=_REMEDY) from None
    size = len(read.ranges)
    try:
        return Prediction(
            **{
                **vars(read),
                "factor": np.array(read.factor, dtype=np.float64).reshape(size, size),
                "variation": None if read.variation is None else read.variation.build(),
            }
        )
    except BamError as error:
        problem = str(error).partition(";")[0]
        raise Malformed(path, f"is damaged, {problem}", advice=_REMEDY) from None


def _entry(variation: Variation | None) -> dict[str, Any] | None:
    """Return the entry of a variation, with as many draws of its spreads as are needed."""
    if variation is None:
        return None
    rows = np.linspace(0, len(variation.spread.draws["run"]) - 1, _KEPT_DRAWS).astype(np.intp)
    return {
        "residual": variation.residual,
        "spread": {level: draws[rows].tolist() for level, draws in variation.spread.draws.items()},
    }


def prediction_for(servo: str | os.PathLike[str]) -> Prediction:
    """Return the predictive distribution of a servo, by library name or path of its file.

    Without a file of its own it is made from the servo's file: standard errors, whose correlations
    nobody knows, and the training error. A warning reports it.

    Raises:
        BamError: a file cannot be read, or has no errors.
    """
    path = servo_path(servo)
    prediction = load_prediction(path)
    if prediction is not None:
        return prediction
    made = _uncalibrated(load_servo(path))
    log.warning(
        "%s: has no %s; bands follow from its standard errors as if they were independent and from its "
        "training error, and are not calibrated; 'bam identify' writes what calibrated ones are drawn from",
        servo,
        prediction_path(path).relative_to(path.parent),
    )
    return made


def drawable(servo: str | os.PathLike[str]) -> Prediction:
    """Return `prediction_for` a servo if its draws differ.

    Raises:
        BamError: as of `prediction_for`, or nothing is known of the errors of its parameters.
    """
    prediction = prediction_for(servo)
    if not prediction.ranges and prediction.variation is None:
        raise Missing(
            f"servo '{servo}', uncertainty",
            "standard errors of its parameters, to draw from",
            advice="take a file that 'bam identify' wrote at its end; an interrupted one has none, "
            "and neither has a library servo from a data sheet",
        )
    return prediction


def _uncalibrated(servo: ServoModel) -> Prediction:
    """Return the distribution by standard errors and training error of a servo's file."""
    train = servo.provenance.train_mae
    if not servo.uncertainty and train is None:
        raise Missing(
            f"servo '{servo.name}', uncertainty",
            "standard errors or a training error, to draw from",
            advice="identify it first; a servo from a data sheet has none",
        )
    ranges: dict[str, tuple[float, float]] = {}
    errors: list[float] = []
    for name, value in servo.parameters.items():
        error = servo.uncertainty.get(name, 0.0)
        if error == 0.0 or (name in _ABOVE_ZERO and value == 0.0):
            continue
        if name in _ABOVE_ZERO:
            ranges[name] = (value / _REACH, value * _REACH)
            errors.append(error / value / (2.0 * math.log(_REACH)))
            continue
        least = value - _REACH * error if name in EFFECTS and EFFECTS[name].low < 0.0 else 0.0
        ranges[name] = (least, value + _REACH * max(error, abs(value)))
        errors.append(error / (ranges[name][1] - least))
    residual = (train or 0.0) * math.sqrt(math.pi / 2.0)  # normal errors of this mean absolute value
    return Prediction(
        ranges=ranges,
        factor=np.diag(errors) if errors else np.zeros((0, 0)),
        inflation=1.0,
        residual=residual,
        residual_alone=residual,
    )
