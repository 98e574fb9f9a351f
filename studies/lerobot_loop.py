# SPDX-License-Identifier: Apache-2.0
"""What is found of an emulated SO-101 that LeRobot recorded, beside what its emulator hides.

The emulator is `python -m bam_ros.emulators.feetech --robot ROBOT --servos sts3215=sts3215 --seed N`;
`tools/record_with_lerobot.py` records it, `bam robot identify` finds the rest. Then
`python -m studies.lerobot_loop RESULTS/summary.json CALIBRATION --robot ROBOT --seed N` prints both.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bam_core.errors import BamError
from bam_core.files.json_file import read_json
from bam_core.mujoco.robot_file import load_robot
from bam_core.robot.lerobot_units import load_calibration
from bam_core.text.table import format_table
from bam_ros.emulators.dynamixel.arm import draw_arm
from bam_ros.emulators.feetech.catalog import draw_hidden_servo

SERVO = "sts3215"
_MIDDLE, _COUNT = 2048, 2.0 * math.pi / 4096  # of the encoder, and rad


@dataclass(frozen=True, kw_only=True)
class Compared:
    """One unknown.

    Attributes:
        name: as in `summary.json`.
        truth: SI.
        estimate: value, and the ends of its 95 % interval.
        is_determined: whether the runs determine it on their own.
    """

    name: str
    truth: float
    estimate: tuple[float, float, float]
    is_determined: bool

    @property
    def held(self) -> bool:
        """Whether the interval has the truth."""
        _, low, high = self.estimate
        return low <= self.truth <= high


def hidden(robot: Path, calibration: Path, seed: int, recorded: Sequence[str]) -> dict[str, float]:
    """Return what the emulator hides, by the names of a fit's unknowns.

    Args:
        robot: description of the arm.
        calibration: that it was recorded with.
        seed: of the emulator.
        recorded: joints. Of others, nothing but the prior is known.

    Raises:
        BamError: a file cannot be read.
    """
    spec = load_robot(robot)
    joints = [joint.name for joint in spec.joints]
    arm = draw_arm(spec, dict.fromkeys(joints, SERVO), seed, draw=draw_hidden_servo)
    plain = draw_hidden_servo(SERVO, seed + 1)
    motor = {name: getattr(plain.motor, name) for name in ("torque_constant", "resistance", "armature")}
    truth = {f"{SERVO} {name}": value for name, value in {**motor, **plain.friction.coefficients()}.items()}
    truth |= {f"mass {body}": share for body, share in arm.masses.items()}
    offsets = read_json(calibration, expected="LeRobot's calibration")
    ranges = load_calibration(calibration).ranges
    for joint in recorded:
        unit, middle = arm.hidden[joint], 0.5 * sum(ranges[joint])
        truth[f"strength {joint}"] = plain.motor.resistance / unit.motor.resistance - 1.0
        truth[f"zero {joint}"] = (_MIDDLE - int(offsets[joint]["homing_offset"]) - middle) * _COUNT
    return truth


def compared(model: Mapping[str, Any], truth: Mapping[str, float]) -> Iterator[Compared]:
    """Yield all unknowns of one friction model whose truth is known."""
    estimates = {
        f"{servo} {name}": estimate
        for servo, parameters in model["parameters"].items()
        for name, estimate in parameters.items()
    }
    for name, fit in {**estimates, **model["deviations"]}.items():
        if name in truth:
            interval = (fit["value"], fit["low"], fit["high"])
            yield Compared(name=name, truth=truth[name], estimate=interval, is_determined=fit["told"])


def table(unknowns: Sequence[Compared]) -> str:
    """Return the unknowns, and how many intervals hold the truth."""
    rows = [
        (
            unknown.name,
            f"{unknown.truth:.4g}",
            *(f"{value:.4g}" for value in unknown.estimate),
            "yes" if unknown.held else "no",
            "" if unknown.is_determined else "no",
        )
        for unknown in unknowns
    ]
    header = ("unknown", "hidden", "found", "95 % from", "to", "held", "determined")
    held = sum(unknown.held for unknown in unknowns)
    return f"{format_table(header, rows)}\n{held} of {len(unknowns)} intervals hold the hidden value"


def main(argv: Sequence[str] | None = None) -> int:
    """Print a table for each friction model."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.lerobot_loop", description=__doc__.split("\n")[0]
    )
    parser.add_argument("summary", type=Path, help="that `bam robot identify` wrote")
    parser.add_argument("calibration", type=Path, help="that the arm was recorded with")
    parser.add_argument("--robot", type=Path, required=True, help="description of the emulated arm")
    parser.add_argument("--seed", type=int, default=0, help="of the emulator")
    arguments = parser.parse_args(argv)
    try:
        summary = read_json(arguments.summary, expected="results of `bam robot identify`")
        truth = hidden(arguments.robot, arguments.calibration, arguments.seed, list(summary["joints"]))
        for name, model in summary["models"].items():
            errors = ", ".join(
                f"{what} {1e3 * model[key]:.2f} mrad"
                for what, key in (
                    ("fitted", "train_mae"),
                    ("test", "test_mae"),
                    ("test before", "test_mae_before"),
                )
                if model[key] is not None
            )
            print(f"{name.upper()}: {errors}\n\n{table(list(compared(model, truth)))}\n")
    except BamError as error:
        print(f"lerobot_loop: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
