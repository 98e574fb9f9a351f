# SPDX-License-Identifier: Apache-2.0
"""The results of an identification on a robot, on disk: all of them or none."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from dataclasses import asdict, replace
from pathlib import Path

from bam_core.errors import NotWritable
from bam_core.files.atomic_file import require_directory, scratch, write_text
from bam_core.identification.software import package_versions, software
from bam_core.robot.curves import CURVES, save_curves
from bam_core.robot.deviations_file import deviations_path, save_deviations
from bam_core.robot.identification import RobotIdentification
from bam_core.servo.model import Provenance

SUMMARY = "summary.json"


def write_robot_identification(
    identification: RobotIdentification, output: str | os.PathLike[str], robot: str
) -> None:
    """Write `SERVO_MODEL.yaml`, `deviations/MODEL.yaml`, `trajectories.npz` and `summary.json`.

    Raises:
        NotWritable: it cannot be written, or the directory holds something; then it is as it was.
    """
    require_new(output)
    target = Path(output).absolute()
    try:
        with scratch(target) as draft:
            draft.mkdir()
            for model, fit in identification.fits.items():
                for servo in fit.servos.values():
                    provenance = Provenance(
                        source=(
                            f"identified on the robot {robot} by Levenberg-Marquardt descents"
                            f" from {', '.join(identification.train)}"
                        ),
                        method="Levenberg-Marquardt",
                        software=software(),
                        packages=package_versions(),
                        date=datetime.date.today().isoformat(),
                        train_mae=identification.mae(model, identification.train),
                        tolerances=asdict(identification.task.tolerances),
                        test_mae=identification.mae(model, identification.test),
                        train_data={run.name: run.sha256 for run in identification.task.train},
                        test_data={run.name: run.sha256 for run in identification.task.test},
                    )
                    replace(servo, provenance=provenance, uncertainty={}).save(
                        draft / f"{servo.name}_{model}.yaml"
                    )
                save_deviations(fit.deviations, deviations_path(draft, model))
            save_curves(draft / CURVES, identification.task.joints, identification.curves())
            summary = {
                "robot": robot,
                "software": software(),
                "date": datetime.date.today().isoformat(),
                "trajectories_sha256": hashlib.sha256((draft / CURVES).read_bytes()).hexdigest(),
                **identification.summary(),
            }
            text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
            write_text(draft / SUMMARY, text + "\n")
            if target.exists():  # and is empty
                target.rmdir()
            draft.rename(target)
    except OSError as error:
        raise NotWritable(target, error) from None


def require_new(output: str | os.PathLike[str]) -> None:
    """Check that results can be written before time is spent on them.

    Raises:
        NotWritable: the path is a file, cannot be created, or is a directory that is not empty.
    """
    require_directory(output)
    path = Path(output)
    if path.is_dir() and any(path.iterdir()):
        raise NotWritable(path, "is not empty", expected="a new directory for results")
