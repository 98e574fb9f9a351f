# SPDX-License-Identifier: Apache-2.0
"""The results of an identification on disk: all of them or none."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
from pathlib import Path

from bam_core.atomic_file import require_directory, write_text
from bam_core.errors import BamError
from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.result import Identification
from bam_core.identification.trajectories import TRAJECTORIES, Simulated, save_trajectories
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.simulation.rollout import Rollout, parameter_vector

log = logging.getLogger(__name__)

SUMMARY = "summary.json"
PLOTS = "plots"
REPORT = "report.html"

_FIT_DPI = 90  # there may be a hundred of them


def require_output(output: str | os.PathLike[str]) -> None:
    """Check that results can be written, before time is spent on them.

    Raises:
        BamError: the path is a file, or lies where nothing may be written.
    """
    require_directory(output)


def write_identification(identification: Identification, output: str | os.PathLike[str]) -> None:
    """Write ``<model>.yaml``, ``summary.json`` and ``plots/``.

    Everything is written to a directory of its own first and moved when complete, the summary last. In a
    directory that exists, files of the same names are replaced; of other files only those are removed that
    would pass for results of this one: models and plots of logs that its own summary lists and this
    identification lacks, and the report of `bam report`.

    One that was interrupted is written without plots, which take time, and replaces no complete one.

    Raises:
        BamError: it cannot be written; then a new directory is not there, an old one is as it was.
    """
    require_output(output)
    target = Path(output).absolute()
    if identification.not_done and _is_complete(target / SUMMARY):
        raise BamError(
            f"{target}: holds a complete identification (expected none, which an interrupted one would "
            f"replace); choose another place"
        )
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
            outdated = set(_files_told_by(target / SUMMARY)) - _files_in(draft)
            _move_into(draft, target)
            _remove(target, outdated)
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
    if not identification.not_done:
        _plot(identification, simulated, directory / PLOTS)
    digest = hashlib.sha256((directory / TRAJECTORIES).read_bytes()).hexdigest()
    summary = {**identification.summary(), "trajectories_sha256": digest}
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
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
    standard_errors = {model: fit.contender.standard_error for model, fit in fits.items()}
    figure = plot_mae(errors, standard_errors=standard_errors, chosen=identification.chosen)
    save_figure(figure, directory / "mae.png")
    servos = {model: fit.servo for model, fit in fits.items()}
    bounds = {model: fit.at_bound for model, fit in fits.items()}
    intervals = {model: _intervals(fit) for model, fit in fits.items()}
    save_figure(plot_parameters(servos, bounds, intervals), directory / "parameters.png")
    for logs, side in (
        (identification.split.train, "training"),
        (identification.split.validation, "validation"),
    ):
        for log in logs:
            told = {model: fit.per_log[log.name] for model, fit in fits.items()}
            figure = plot_fit(log, simulated[log.name], told, title=f"{log.name} ({side})")
            save_figure(figure, directory / _fit_plot(log.name), dpi=_FIT_DPI)


def _intervals(fit: ModelFit) -> dict[str, tuple[float, float]]:
    estimates = fit.uncertainty.estimates if fit.uncertainty else ()
    return {each.name: (each.low, each.high) for each in estimates}


def _fit_plot(log_name: str) -> str:
    return f"fit_{log_name.replace('/', '_')}.png"


def _files_in(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def _files_told_by(summary: Path) -> list[str]:
    """Names of the files that follow from the summary of an earlier identification; none of anything else."""
    try:
        told = json.loads(summary.read_text(encoding="utf-8"))
        models = [model for model in FRICTION_MODELS if model in set(told["models"])]
        split = told.get("split", {})
        logs = sorted({str(name) for side in ("train", "validation") for name in split.get(side, ())})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or not one of ours
        return []
    if not models:
        return []
    return [*(f"{model}.yaml" for model in models), REPORT, *(f"{PLOTS}/{_fit_plot(name)}" for name in logs)]


def _is_complete(summary: Path) -> bool:
    """Tell whether this is the summary of an identification that was not interrupted."""
    try:
        told = json.loads(summary.read_text(encoding="utf-8"))
        return bool(told["models"]) and not told.get("interrupted", False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _remove(target: Path, names: set[str]) -> None:
    # By the listing: a damaged summary may tell of any name. There may be no plots, or others at work here.
    there = {path.name for path in target.glob("*")} | {
        f"{PLOTS}/{path.name}" for path in (target / PLOTS).glob("*")
    }
    files = [name for name in sorted(names & there) if (target / name).is_file()]
    for name in files:
        (target / name).unlink(missing_ok=True)
    plots = [name for name in files if name.startswith(PLOTS)]
    told = [name for name in files if name not in plots]
    if plots:
        told.append(f"plots of {len(plots)} log{'s' if len(plots) > 1 else ''}")
    if told:
        log.warning("%s: removed %s of the identification that was there", target, ", ".join(told))


def _move_into(draft: Path, target: Path) -> None:
    for name in sorted(_files_in(draft), key=lambda name: name == SUMMARY):
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        (draft / name).replace(destination)
