# SPDX-License-Identifier: Apache-2.0
"""Units of the joint positions in LeRobot datasets, which do not name them.

LeRobot's motor buses write degrees (`use_degrees`), or shares of the range that was found in calibration:
-100 to 100, for a gripper 0 to 100 (`MotorNormMode` in lerobot/motors/motors_bus.py). The same names stand
for both. The steps between values show which they are, see `value_steps`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Conflict, Malformed, Missing, UnknownName
from bam_core.files.json_file import read_json
from bam_core.robot.value_steps import (
    COUNTS,
    COUNTS_PER_TURN,
    DEGREES,
    LEROBOT_DEGREES,
    NORMALISED,
    RADIANS,
    SAME_STEP,
    STEPS,
    UnitProof,
    range_counts,
    unit_proof,
)

UNITS = (DEGREES, RADIANS, NORMALISED)
"""What positions may be in: degrees, radians, or shares of the calibrated range, -100 to 100."""

_NAMES = {DEGREES: "degrees", RADIANS: "radians", NORMALISED: "shares of a calibrated range"}
_LARGEST_ANGLE = 4.0 * math.pi  # rad, two turns; a joint's angle is less
_BEYOND = 0.1  # rad that gravity may pull a joint beyond the end of its range


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
        half = self.reach(joint)
        return np.asarray((-half if joint in self.inverted else half) * values / 100.0)

    def reach(self, joint: str) -> float:
        """Return how far goals of a joint go to both sides of the middle of its range, rad.

        LeRobot writes the range into the servo's angle limits, and the servo follows goals up to them.

        Raises:
            UnknownName: the file has no such joint.
        """
        if joint not in self.ranges:
            raise UnknownName(f"joint of {self.path}", joint, self.ranges)
        first, last = self.ranges[joint]
        return math.pi * (last - first) / COUNTS_PER_TURN


def radians_of_degrees(steps: Iterable[float]) -> float:
    """Return how many radians a degree is, by the steps between values, deg.

    LeRobot divides a turn of 4096 counts into steps of 360/4095 degrees: its turn has 360.09 degrees.
    """
    sizes = list(steps)
    is_lerobot = bool(sizes) and all(abs(step / LEROBOT_DEGREES - 1.0) < SAME_STEP for step in sizes)
    return 2.0 * math.pi / (COUNTS_PER_TURN * LEROBOT_DEGREES) if is_lerobot else math.pi / 180.0


def load_calibration(path: str | os.PathLike[str]) -> Calibration:
    """Read the JSON file that LeRobot keeps under `calibration/robots/TYPE/ID.json`.

    Raises:
        BamError: it cannot be read, or is no such file.
    """
    path = Path(path)
    expected = "JSON of LeRobot with range_min and range_max of every motor"
    motors = read_json(path, expected=expected, advice="name the arm's file")
    try:
        ranges = {name: (int(motor["range_min"]), int(motor["range_max"])) for name, motor in motors.items()}
        inverted = frozenset(name for name, motor in motors.items() if motor.get("drive_mode"))
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError):
        raise Malformed(path, "is no calibration", expected=expected, advice="name the arm's file") from None
    for name, (first, last) in ranges.items():
        if not 0 <= first < last < COUNTS_PER_TURN:
            raise Malformed(
                path,
                f"{name} has the range {first} to {last}",
                expected=f"counts from 0 to {COUNTS_PER_TURN - 1}",
            )
    return Calibration(ranges=ranges, inverted=inverted, path=path)


def require_unit(place: object, unit: str | None, positions: Mapping[str, Array]) -> UnitProof:
    """Return the unit of a dataset, and what its values show: what the user gives, checked, or is proven.

    Args:
        place: path of the dataset.
        unit: what the user gives; None: nothing.
        positions: joint -> measured, (samples,).

    Raises:
        BamError: it is not known, or the values contradict it.
    """
    proof = unit_proof(positions)
    if proof.unit == COUNTS:
        raise BadData(
            f"{place}", "has steps of 1: these are counts of the encoders", advice="convert them to degrees"
        )
    if unit is None and proof.unit is None:
        raise Missing(
            f"{place}, unit",
            "degrees, radians, or shares of the calibrated range, -100 to 100; LeRobot does not store it",
            advice="give --unit deg if it was recorded with use_degrees, else --unit normalised",
        )
    if unit is None or unit == proof.unit:
        return proof
    if proof.unit is not None:
        raise _contradiction(place, unit, proof)
    joint, largest = max(
        ((name, float(np.nanmax(np.abs(position)))) for name, position in positions.items()),
        key=lambda item: item[1],
    )
    if unit == RADIANS and largest > _LARGEST_ANGLE:
        raise BadData(
            f"{place}, {joint}", f"reaches {largest:.4g}, which are no radians", advice="give --unit deg"
        )
    if unit == NORMALISED and largest > 100.0:
        raise BadData(f"{place}, {joint}", f"reaches {largest:.4g}: not normalised", advice="give --unit deg")
    ranges = {name: count for name, values in positions.items() if (count := range_counts(values))}
    return replace(proof, unit=unit, ranges=ranges if unit == NORMALISED else {})


def _contradiction(place: object, unit: str, proof: UnitProof) -> BadData:
    """Return the error about values whose steps show another unit than the user gives."""
    joint, step = next(iter(proof.steps.items()))
    expected = STEPS.get(unit)
    words = f"{joint} has steps of {step:.3g}"
    if expected is not None:
        words += f", {_NAMES[unit]} have {expected[0]:.3g}"
    if proof.unit == NORMALISED:
        shown = f"these are shares of a calibrated range of {proof.ranges[joint]} counts"
    else:
        shown = f"these are {_NAMES[proof.unit or unit]}"
    return BadData(f"{place}", f"{words}: {shown}", advice=f"give --unit {proof.unit}")


def radians_of_shares(
    place: object,
    positions: Mapping[str, Array],
    columns: Mapping[str, Array],
    calibration: Calibration | None,
) -> dict[str, Array]:
    """Return angles from the middle of the calibrated ranges, of values from -100 to 100.

    The steps of a joint's values show the width of its range. Whether its values have the other sign
    (`drive_mode`) they do not show.

    Args:
        place: path of the dataset.
        positions: joint -> values that show the width, (samples,).
        columns: joint -> values to convert, of the same joints.
        calibration: of the arm; None: there is none.

    Raises:
        BamError: a width is not known, or the calibration has another one than the values.
    """
    result = {}
    for name, values in columns.items():
        counts = range_counts(positions[name])
        if calibration is None:
            if counts is None:
                raise Missing(
                    f"{place}, range of {name}",
                    "the width of its calibrated range: too few distinct values show it",
                    advice="add --calibration ~/.cache/huggingface/lerobot/calibration/robots/TYPE/ID.json",
                )
            result[name] = math.pi * counts / COUNTS_PER_TURN * values / 100.0
            continue
        result[name] = calibration.radians(name, values)
        first, last = calibration.ranges[name]
        if counts is not None and counts != last - first:
            raise Conflict(
                f"{calibration.path}, {name}",
                f"has a range of {last - first} counts, while the steps of its values show {counts}",
                advice="give the calibration with which the dataset was recorded, or none",
            )
    return result


def goals_within(
    goals: Mapping[str, Array], states: Mapping[str, Array], calibration: Calibration
) -> dict[str, Array]:
    """Return goals as the servos follow them: those beyond the calibrated range are its end.

    Args:
        goals: joint -> (samples,) rad from the middle of the range.
        states: joint -> measured, likewise.
        calibration: of the arm.

    Raises:
        UnknownName: it has no such joint.
        Conflict: a joint was far beyond its range: it is the calibration of another arm.
    """
    clipped = {}
    for name, values in goals.items():
        reach, largest = calibration.reach(name), float(np.nanmax(np.abs(states[name])))
        if largest > reach + _BEYOND:
            raise Conflict(
                f"{calibration.path}, {name}",
                f"has a range of {reach:.3g} rad to both sides, while its positions reach {largest:.3g}",
                advice="give the calibration with which the dataset was recorded, or none",
            )
        clipped[name] = np.clip(values, -reach, reach)
    return clipped
