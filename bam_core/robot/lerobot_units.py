# SPDX-License-Identifier: Apache-2.0
"""Units of the joint positions in LeRobot datasets, which do not name them.

LeRobot's motor buses write degrees (`use_degrees`), or shares of the range that was found in calibration:
-100 to 100, for a gripper 0 to 100 (`MotorNormMode` in lerobot/motors/motors_bus.py). The same names stand
for both. Degrees can be recognised: all joints then have the same step between values, 360/4095.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Malformed, Missing, UnknownName
from bam_core.files.json_file import read_json

DEGREES, RADIANS, NORMALISED = "deg", "rad", "normalised"
UNITS = (DEGREES, RADIANS, NORMALISED)
"""What positions may be in: degrees, radians, or shares of the calibrated range, -100 to 100."""

_COUNTS = 4096  # per turn, of the encoders in all of LeRobot's own arms
_DEGREE_STEPS = (360.0 / (_COUNTS - 1), 360.0 / _COUNTS)  # as LeRobot writes them since 0.2, and before
_SAME_STEP = 2e-4  # relative; the two above differ by as much, those of other ranges by far more
_LEAST_VALUES = 20  # distinct ones, from which the step between them is known
_OFF_GRID = 0.05  # of a step, of values in single precision
_LARGEST_ANGLE = 4.0 * math.pi  # rad, two turns; a joint's angle is less


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """Ranges of joints, as `lerobot-calibrate` found them.

    Attributes:
        ranges: joint -> (first, last) encoder count.
        inverted: joints whose values have the other sign (`drive_mode`).
        path: of its file.
    """

    ranges: Mapping[str, tuple[int, int]]
    inverted: frozenset[str]
    path: Path

    def radians(self, joint: str, values: Array) -> Array:
        """Return angles from the middle of the range, of values from -100 to 100.

        Raises:
            UnknownName: the file has no such joint.
        """
        if joint not in self.ranges:
            raise UnknownName(f"joint of {self.path}", joint, self.ranges)
        first, last = self.ranges[joint]
        half = math.pi * (last - first) / _COUNTS
        return np.asarray((-half if joint in self.inverted else half) * values / 100.0)


def load_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read the JSON file that LeRobot keeps under `calibration/robots/TYPE/ID.json`.

    Raises:
        BamError: it cannot be read, or is no such file.
    """
    path = Path(path)
    expected = "JSON of LeRobot with range_min and range_max of every motor"
    told = read_json(path, expected=expected, advice="name the arm's file")
    try:
        ranges = {name: (int(motor["range_min"]), int(motor["range_max"])) for name, motor in told.items()}
        inverted = frozenset(name for name, motor in told.items() if motor.get("drive_mode"))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise Malformed(path, "is no calibration", expected=expected, advice="name the arm's file") from None
    for name, (first, last) in ranges.items():
        if not 0 <= first < last < _COUNTS:
            raise Malformed(
                path, f"{name} has the range {first} to {last}", expected=f"counts from 0 to {_COUNTS - 1}"
            )
    return Calibration(ranges=ranges, inverted=inverted, path=path)


def recognised_unit(positions: Sequence[Array]) -> str | None:
    """Return DEGREES where measured positions have the step of degrees on all joints, else None.

    Args:
        positions: of every joint, measured, (samples,). Joints with few distinct values do not count.
    """
    steps = [step for position in positions if (step := _step(position)) is not None]
    for expected in _DEGREE_STEPS:
        if steps and all(abs(step / expected - 1.0) < _SAME_STEP for step in steps):
            return DEGREES
    return None


def require_unit(place: object, unit: str | None, positions: Mapping[str, Array]) -> str:
    """Return the unit of a dataset: what the user says, checked, or what its values show.

    Args:
        place: path of the dataset.
        unit: what the user says; None: nothing.
        positions: joint -> measured, (samples,).

    Raises:
        BamError: it is not known, or the values contradict it.
    """
    shown = recognised_unit(list(positions.values()))
    if unit is None and shown is None:
        raise Missing(
            f"{place}, unit",
            "degrees, radians, or shares of the calibrated range, -100 to 100; LeRobot's files do not say",
            advice="say --unit deg if it was recorded with use_degrees, else --unit normalised with "
            "--calibration FILE",
        )
    if unit is None:
        return DEGREES
    joint, largest = max(
        ((name, float(np.abs(position).max())) for name, position in positions.items()),
        key=lambda item: item[1],
    )
    if unit == RADIANS and largest > _LARGEST_ANGLE:
        raise BadData(
            f"{place}, {joint}", f"reaches {largest:.4g}, which are no radians", advice="say --unit deg"
        )
    if unit == NORMALISED and (largest > 100.0 or shown == DEGREES):
        reason = f"{joint} reaches {largest:.4g}" if largest > 100.0 else "all joints have steps of degrees"
        raise BadData(f"{place}", f"is not normalised: {reason}", advice="say --unit deg")
    return unit


def _step(values: Array) -> float | None:
    """Return the step of which all differences are multiples; None where there is none, or too few values."""
    distinct = np.unique(values)
    if len(distinct) < _LEAST_VALUES:
        return None
    differences = np.diff(distinct)
    step = float(differences[differences > 1e-3].min(initial=np.inf))
    if not np.isfinite(step):
        return None
    for _ in range(3):  # the farther away a value, the better it tells the step
        counts = np.round((distinct - distinct[0]) / step)
        step = float((distinct[-1] - distinct[0]) / counts[-1])
    off = np.abs((distinct - distinct[0]) / step - np.round((distinct - distinct[0]) / step))
    return step if off.max() < _OFF_GRID else None
