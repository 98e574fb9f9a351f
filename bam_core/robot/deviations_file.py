# SPDX-License-Identifier: Apache-2.0
"""The file of a robot's deviations: beside the servos that were identified with them, not in them.

``out/mx106_m6.yaml`` and ``out/mx64_m6.yaml`` are servos for any robot, ``out/deviations/m6.yaml`` is what
belongs to the robot that they were identified on.
"""

from __future__ import annotations

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from bam_core.files.atomic_file import write_text
from bam_core.files.typed import TypedReader
from bam_core.files.yaml_file import read_yaml
from bam_core.robot.deviations import SHARES_BY_NAME, RobotDeviations

FOLDER = "deviations"

_HEAD = """# One robot's deviations from its description; no part of its servos.
# Units: delay s, zero rad, centre and table m, all others as shares.
"""


def deviations_path(directory: str | os.PathLike[str], model: str) -> Path:
    """Return where the deviations are that were identified with servos of a friction model."""
    return Path(directory) / FOLDER / f"{model}.yaml"


def save_deviations(deviations: RobotDeviations, path: str | os.PathLike[str]) -> None:
    """Write them; raises NotWritable."""
    write_text(path, _HEAD + yaml.safe_dump(deviation_sections(deviations), sort_keys=False))


def deviation_sections(deviations: RobotDeviations) -> dict[str, Any]:
    """Return the sections of the file, of plain values."""
    sections: dict[str, Any] = {"delay": float(deviations.delay)}
    for name in SHARES_BY_NAME:
        sections[name] = {key: float(value) for key, value in getattr(deviations, name).items()}
    sections["centre"] = {
        key: [float(value_in_m) for value_in_m in shift] for key, shift in deviations.centre.items()
    }
    return sections


def load_deviations(path: str | os.PathLike[str]) -> RobotDeviations:
    """Read them.

    Raises:
        BamError: the file cannot be read, has an unknown section, or a value that is no number.
    """
    path = Path(path)
    return _READER.read(read_yaml(path), RobotDeviations, path)


_READER = TypedReader(
    words={RobotDeviations: f"sections {', '.join(field.name for field in fields(RobotDeviations))}"}
)
