# SPDX-License-Identifier: Apache-2.0
"""The results of an identification on disk: all of them or none."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import shutil
from pathlib import Path

from bam_core.atomic_file import require_directory, write_text
from bam_core.errors import BamError
from bam_core.friction import FRICTION_MODELS
from bam_core.identification.result import Identification
from bam_core.identification.trajectories import TRAJECTORIES, Simulated, save_trajectories
from bam_core.rollout import Rollout, parameter_vector

log = logging.getLogger(__name__)

SUMMARY = "summary.json"
PLOTS = "plots"

_FIT_DPI = 90  # there may be a hundred of them


def require_output(output: str | os.PathLike[str]) -> None:
    """Check that results can be written, before time is spent on them.

    Raises:
        BamError: the path is a file, or lies where nothing may be written.
    """
    require_directory(output)


def save(identification: Identification, output: str | os.PathLike[str]) -> None:
    """Write ``<model>.yaml``, ``summary.json`` and ``plots/``.

    Everything is written to a directory of its own first and moved when complete, the summary last. In a
    directory that exists, files of the same names are replaced; of other files only those models are removed
    that its own summary lists and this identification lacks: they would pass for results of this one.

    Raises:
        BamError: it cannot be written; then a new directory is not there, an old one is as it was.
    """
    require_output(output)
    target = Path(output).absolute()
    # Inside a directory that is there: what is beside it may be another file system, or not ours to write.
    place = target if target.exists() else target.parent
    draft = place / f".{target.name}.{os.getpid()}.tmp"
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        _write(identification, draft)
        if not target.exists():
            with contextlib.suppress(OSError):  # another process may be quicker by a moment
                draft.rename(target)
        if draft.exists():
            outdated = _models_listed(target / SUMMARY) - set(identification.fits)
            _move_into(draft, target)
            _remove_models(target, outdated)
    except OSError as error:
        raise BamError(f"{target}: cannot be written ({error.strerror}); choose another place") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write(identification: Identification, directory: Path) -> None:
    for model, fit in identification.fits.items():
        fit.servo.save(directory / f"{model}.yaml")
    simulated = _simulated(identification)
    logs = (*identification.split.train, *identification.split.validation)
    save_trajectories(directory / TRAJECTORIES, logs, simulated)
    _plot(identification, simulated, directory / PLOTS)
    text = json.dumps(identification.summary(), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(directory / SUMMARY, text + "\n")


def _simulated(identification: Identification) -> Simulated:
    fits = identification.fits
    logs = (*identification.split.train, *identification.split.validation)
    rollout = Rollout.for_servo(logs, next(iter(fits.values())).servo)
    positions = {model: rollout.positions(parameter_vector(fit.servo)) for model, fit in fits.items()}
    return {log.name: {model: positions[model][i] for model in fits} for i, log in enumerate(logs)}


def _plot(identification: Identification, simulated: Simulated, directory: Path) -> None:
    # Matplotlib takes a second to import, which only those who save shall pay.
    from bam_core.plots.fit import plot_fit
    from bam_core.plots.mae import plot_mae
    from bam_core.plots.parameters import plot_parameters
    from bam_core.plots.save import save_figure

    fits = identification.fits
    errors = {model: (fit.train_mae, fit.validation_mae) for model, fit in fits.items()}
    save_figure(plot_mae(errors, chosen=identification.chosen), directory / "mae.png")
    servos = {model: fit.servo for model, fit in fits.items()}
    bounds = {model: fit.at_bound for model, fit in fits.items()}
    save_figure(plot_parameters(servos, bounds), directory / "parameters.png")
    for logs, side in (
        (identification.split.train, "training"),
        (identification.split.validation, "validation"),
    ):
        for log in logs:
            figure = plot_fit(log, simulated[log.name], title=f"{log.name} ({side})")
            name = log.name.replace("/", "_")
            save_figure(figure, directory / f"fit_{name}.png", dpi=_FIT_DPI)


def _models_listed(summary: Path) -> set[str]:
    """Names of the models that the summary of an earlier identification lists."""
    try:
        return set(json.loads(summary.read_text(encoding="utf-8"))["models"]) & set(FRICTION_MODELS)
    except (OSError, ValueError, KeyError, TypeError):  # none, or not one of ours
        return set()


def _remove_models(target: Path, models: set[str]) -> None:
    files = [file for model in sorted(models) if (file := target / f"{model}.yaml").is_file()]
    for file in files:
        file.unlink(missing_ok=True)
    if files:
        names = ", ".join(file.name for file in files)
        log.warning("%s: removed %s of the identification that was there", target, names)


def _move_into(draft: Path, target: Path) -> None:
    files = sorted(path.relative_to(draft) for path in draft.rglob("*") if path.is_file())
    for name in sorted(files, key=lambda name: name == Path(SUMMARY)):
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        (draft / name).replace(destination)
