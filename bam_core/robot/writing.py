# SPDX-License-Identifier: Apache-2.0
"""The results of an identification on a robot, on disk: parameters once they are known, the summary last."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

from bam_core.errors import NotWritable
from bam_core.files.atomic_file import require_directory, scratch, write_text
from bam_core.identification.software import package_versions, software
from bam_core.robot.curves import CURVES, save_curves
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.deviations_file import deviations_path, save_deviations
from bam_core.robot.prediction_file import prediction_path, save_prediction
from bam_core.robot.result import RobotIdentification, RobotParameters, RobotTask
from bam_core.robot.settings import RobotIdentifySettings
from bam_core.robot.verdict import robot_verdict
from bam_core.servo.model import INTERRUPTED, Provenance, ServoModel

SUMMARY = "summary.json"


class RobotOutput:
    """A new directory for the results of one identification on a robot.

    Args:
        output: the directory.
        robot: name of the robot.

    Raises:
        NotWritable: see `require_new`.
    """

    def __init__(self, output: str | os.PathLike[str], robot: str) -> None:
        require_new(output)
        self._target, self._robot = Path(output).absolute(), robot
        self.unfinished: set[str] = set()
        """Models whose parameters are written, but not yet their errors."""
        self.not_converged: set[str] = set()
        """Those of them whose descent was interrupted."""
        self.complete: tuple[str, ...] = ()
        """Models of which all is written."""

    def write_parameters(self, parameters: RobotParameters) -> None:
        """Write `SERVO_MODEL.yaml` and `deviations/MODEL.yaml` of a model whose errors are not known yet.

        Their provenance names a descent that did not converge.

        Raises:
            NotWritable: they cannot be written.
        """
        provenance = _provenance(parameters.task, parameters.settings, self._robot)
        if not parameters.is_converged:
            provenance = replace(provenance, source=f"{provenance.source}; {INTERRUPTED}")
            self.not_converged.add(parameters.model)
        _write_model(self._target, parameters.model, parameters.servos, parameters.deviations, provenance)
        self.unfinished.add(parameters.model)

    def write(self, identification: RobotIdentification) -> None:
        """Write servos, deviations, predictions and curves of all models, and last `summary.json`.

        What this object has written before is replaced.

        Raises:
            NotWritable: it cannot be written.
        """
        target = self._target
        try:
            # Inside a directory that is there: what is beside it may be another file system.
            with scratch(target, target if target.exists() else target.parent) as draft:
                draft.mkdir()
                _write(identification, draft, self._robot)
                names = {str(path.relative_to(draft)) for path in draft.rglob("*") if path.is_file()}
                if not target.exists():
                    draft.rename(target)
                else:
                    # A process that is killed between leaves a directory without a summary.
                    (target / SUMMARY).unlink(missing_ok=True)
                    for name in (*sorted(names - {SUMMARY}), SUMMARY):
                        (target / name).parent.mkdir(parents=True, exist_ok=True)
                        (draft / name).replace(target / name)
        except OSError as error:
            raise NotWritable(target, error) from None
        self.unfinished -= set(identification.fits)
        self.complete = tuple(identification.fits)


def write_robot_identification(
    identification: RobotIdentification, output: str | os.PathLike[str], robot: str
) -> None:
    """Write all results; see `RobotOutput.write`.

    Raises:
        NotWritable: it cannot be written, or the directory holds something; then it is as it was.
    """
    RobotOutput(output, robot).write(identification)


def _write(identification: RobotIdentification, draft: Path, robot: str) -> None:
    for model, fit in identification.fits.items():
        provenance = replace(
            _provenance(identification.task, identification.settings, robot),
            train_mae=identification.mae(model, identification.train),
            test_mae=identification.mae(model, identification.test),
        )
        _write_model(draft, model, fit.servos, fit.deviations, provenance)
        save_prediction(fit.prediction, prediction_path(draft, model))
    save_curves(draft / CURVES, identification.task.joints, identification.curves())
    summary = {
        "robot": robot,
        "software": software(),
        "date": datetime.date.today().isoformat(),
        "trajectories_sha256": hashlib.sha256((draft / CURVES).read_bytes()).hexdigest(),
        "verdict": robot_verdict(identification).summary(),
        **identification.summary(),
    }
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(draft / SUMMARY, text + "\n")


def _write_model(
    directory: Path,
    model: str,
    servos: Mapping[str, ServoModel],
    deviations: RobotDeviations,
    provenance: Provenance,
) -> None:
    for servo in servos.values():
        path = directory / f"{servo.name}_{model}.yaml"
        replace(servo, provenance=provenance, uncertainty={}).save(path)
    save_deviations(deviations, deviations_path(directory, model))


def _provenance(task: RobotTask, settings: RobotIdentifySettings, robot: str) -> Provenance:
    """Return where a fit comes from; errors are unknown."""
    return Provenance(
        source=(
            f"identified on the robot {robot} by Levenberg-Marquardt descents"
            f" from {', '.join(run.name for run in task.train)}"
        ),
        method="Levenberg-Marquardt",
        software=software(),
        packages=package_versions(),
        date=datetime.date.today().isoformat(),
        tolerances=asdict(settings.tolerances),
        train_data={run.name: run.sha256 for run in task.train},
        test_data={run.name: run.sha256 for run in task.test},
    )


def require_new(output: str | os.PathLike[str]) -> None:
    """Check that results can be written before time is spent on them.

    Raises:
        NotWritable: the path is a file, cannot be created, or is a directory that is not empty.
    """
    require_directory(output)
    path = Path(output)
    if path.is_dir() and any(path.iterdir()):
        raise NotWritable(path, "is not empty", expected="a new directory for results")
