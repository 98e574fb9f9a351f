# SPDX-License-Identifier: Apache-2.0
"""The file of what a fit expects of other runs: ``out/predictions/m4.json`` beside ``out/mx106_m4.yaml``."""

from __future__ import annotations

import json
import os
from pathlib import Path

from bam_core.files.atomic_file import write_text
from bam_core.files.json_file import read_json
from bam_core.files.typed import TypedReader
from bam_core.robot.deviations_file import deviation_sections
from bam_core.robot.prediction import RobotPrediction

FOLDER = "predictions"

_REMEDY = "run 'bam robot identify' again"
_READER = TypedReader(is_json=True, advice=_REMEDY)


def prediction_path(directory: str | os.PathLike[str], model: str) -> Path:
    """Return where the prediction is that belongs to servos of a friction model."""
    return Path(directory) / FOLDER / f"{model}.json"


def save_prediction(prediction: RobotPrediction, path: str | os.PathLike[str]) -> None:
    """Write it; raises NotWritable."""
    content = {
        "scale": dict(prediction.scale),
        "goal_distance": dict(prediction.goal_distance),
        "draws": [
            {
                "servos": {servo: dict(values) for servo, values in draw.servos.items()},
                "deviations": deviation_sections(draw.deviations),
            }
            for draw in prediction.draws
        ],
    }
    write_text(path, json.dumps(content, allow_nan=False) + "\n")


def load_prediction(path: str | os.PathLike[str]) -> RobotPrediction:
    """Read it.

    Raises:
        BamError: the file cannot be read, or is damaged.
    """
    path = Path(path)
    return _READER.read(read_json(path, advice=_REMEDY), RobotPrediction, path)
