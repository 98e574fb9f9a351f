# SPDX-License-Identifier: Apache-2.0
"""The file of a robot's deviations: beside the servos that were identified with them, not in them.

``out/mx106_m6.yaml`` and ``out/mx64_m6.yaml`` are servos for any robot, ``out/deviations/m6.yaml`` is what
belongs to the robot that they were identified on.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import yaml

from bam_core.errors import BamError, UnknownName, WrongType
from bam_core.files.atomic_file import write_text
from bam_core.files.quoted_number import correct_number
from bam_core.files.yaml_file import read_yaml
from bam_core.robot.deviations import SHARES_BY_NAME, RobotDeviations

FOLDER = "deviations"

_HEAD = """# One robot's deviations from its description; no part of its servos.
# Units: delay s, zero rad, centre m, all others as shares.
"""


def deviations_path(directory: str | os.PathLike[str], model: str) -> Path:
    """Return where the deviations are that were identified with servos of a friction model."""
    return Path(directory) / FOLDER / f"{model}.yaml"


def save_deviations(deviations: RobotDeviations, path: str | os.PathLike[str]) -> None:
    """Write them; raises NotWritable."""
    sections: dict[str, Any] = {"delay": deviations.delay}
    for name in SHARES_BY_NAME:
        sections[name] = {key: float(value) for key, value in getattr(deviations, name).items()}
    sections["centre"] = {key: [float(each) for each in shift] for key, shift in deviations.centre.items()}
    write_text(path, _HEAD + yaml.safe_dump(sections, sort_keys=False))


def load_deviations(path: str | os.PathLike[str]) -> RobotDeviations:
    """Read them.

    Raises:
        BamError: the file cannot be read, has an unknown section, or a value that is no number.
    """
    path = Path(path)
    told = read_yaml(path)
    known = ("delay", *SHARES_BY_NAME, "centre")
    try:
        if not isinstance(told, dict):
            raise WrongType("its content", told, f"sections {', '.join(known)}")
        for name in told:
            if name not in known:
                raise UnknownName("section", name, known)
            if name != "delay" and not isinstance(told[name], dict):
                raise WrongType(name, told[name], "a section of names with values")
        return RobotDeviations(
            delay=_number("delay", told.get("delay", 0.0)),
            centre={name: _three(f"centre {name}", each) for name, each in told.get("centre", {}).items()},
            **{
                section: {name: _number(f"{section} {name}", each) for name, each in told[section].items()}
                for section in SHARES_BY_NAME
                if section in told
            },
        )
    except BamError as error:
        raise error.within(path) from None


def _number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise WrongType(what, value, "a number", advice=correct_number(value))
    return float(value)


def _three(what: str, value: Any) -> tuple[float, float, float]:
    if not isinstance(value, list) or len(value) != 3:
        raise WrongType(what, value, "three numbers")
    x, y, z = (_number(what, each) for each in value)
    return x, y, z
