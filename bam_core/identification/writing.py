# SPDX-License-Identifier: Apache-2.0
"""The results of an identification on disk: all of them or none."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import NotWritable, printable_line
from bam_core.files.atomic_file import require_directory, scratch, write_text
from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.result import Identification
from bam_core.identification.trajectories import TRAJECTORIES, Bands, Simulated, save_trajectories
from bam_core.identification.uncertainty.bands import predicted_bands
from bam_core.identification.uncertainty.prediction_file import prediction_path, save_prediction
from bam_core.recordings.recording import Recording
from bam_core.servo.bench_effects_file import bench_effects_path, save_bench_effects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.rollout_settings import usual_restart
from bam_core.text.error_findings import FEWEST_LOGS, restart_words
from bam_core.text.finding import log_findings
from bam_core.text.output_findings import LeftOutPart, Replaced, WillReplace

log = logging.getLogger(__name__)

SUMMARY = "summary.json"
PLOTS = "plots"
REPORT = "report.html"
_REPLACED = f".{SUMMARY}.replaced.tmp"
"""Where a summary waits until its results have been replaced: it lists which files belong to them."""

_FIT_DPI = 90  # there may be a hundred of them
_DRAWS = 100  # for the bands in plots: their ends are known to a twentieth of their width


def require_output(output: str | os.PathLike[str]) -> None:
    """Check that results can be written, before time is spent on them.

    Raises:
        BamError: the path is a file, or lies where nothing may be written.
    """
    require_directory(output)


def earlier_results(output: str | os.PathLike[str]) -> tuple[WillReplace, ...]:
    """Return that a directory holds results, which those of a new identification replace; else nothing."""
    target = Path(output).absolute()
    before = _earlier(target / SUMMARY)
    if not before:
        return ()
    return (WillReplace(directory=target, models=tuple(before["models"]), date=before["date"]),)


def write_identification(identification: Identification, output: str | os.PathLike[str]) -> None:
    """Write servos, what belongs to them (`bench_effects_path`, `prediction_path`), summary and plots.

    Everything is written to a directory of its own first and moved when complete, the summary last. An
    identification that is there is replaced with a warning: files of the same names, and of other
    files only those that would pass for results of this one (models and plots of logs that its own summary
    lists and this identification lacks, and the report of `bam report`).

    One that was interrupted is written without plots, which take time, and replaces no complete one.

    Raises:
        BamError: it cannot be written; then a new directory is not there, an old one is as it was.
    """
    require_output(output)
    target = Path(output).absolute()
    if identification.not_done and _is_complete(target / SUMMARY):
        raise NotWritable(
            target, "holds a complete identification", expected="none, which an interrupted one would replace"
        )
    # Inside a directory that is there: what is beside it may be another file system, or not ours to write.
    place = target if target.exists() else target.parent
    try:
        with scratch(target, place) as draft:
            draft.mkdir()
            _write(identification, draft)
            if not target.exists():
                with contextlib.suppress(OSError):  # another process may be quicker by a moment
                    draft.rename(target)
            if draft.exists():
                before = _earlier(target / SUMMARY) or _earlier(target / _REPLACED)
                outdated = _there(target, _files_of(before) - _files_in(draft))
                with scratch(target, place) as kept:
                    _replace(draft, target, outdated, kept)
                if before:
                    _log_replaced(target, before, outdated)
    except OSError as error:
        raise NotWritable(target, error) from None


def _write(identification: Identification, directory: Path) -> None:
    predictions = identification.predictions
    for model, fit in identification.fits.items():
        path = directory / f"{model}.yaml"
        fit.servo.save(path)
        errors = fit.uncertainty.standard_errors() if fit.uncertainty else None
        save_bench_effects(path, fit.bench_effects, errors)
        if model in predictions:
            save_prediction(path, predictions[model])
    simulated = _simulated(identification)
    logs = identification.split.logs
    bands: Bands = {log.name: {} for log in logs}
    with _alone("bands"):
        bands = _bands(identification, logs)
    save_trajectories(directory / TRAJECTORIES, logs, simulated, bands)
    if not identification.not_done:
        with _alone("plots"):
            _plot(identification, simulated, bands, directory / PLOTS)
    digest = hashlib.sha256((directory / TRAJECTORIES).read_bytes()).hexdigest()
    summary = {**identification.summary(), "trajectories_sha256": digest}
    text = json.dumps(summary, indent=2, ensure_ascii=False, allow_nan=False)
    write_text(directory / SUMMARY, text + "\n")


@contextlib.contextmanager
def _alone(what: str) -> Iterator[None]:
    """Let a part of the output fail without the rest: parameters of a long search are worth more.

    An OSError, such as that of a full disk, concerns all of it and goes on.
    """
    try:
        yield
    except OSError:
        raise
    except Exception as error:
        log_findings(log, [LeftOutPart(part=what, error=printable_line(str(error)))])


def _simulated(identification: Identification) -> Simulated:
    fits = identification.fits
    logs = identification.split.logs
    rollout = Rollout.for_servo(logs, next(iter(fits.values())).servo)
    positions = {
        model: rollout.positions(parameter_vector(fit.servo, fit.bench_effects))
        for model, fit in fits.items()
    }
    return {log.name: {model: positions[model][i] for model in fits} for i, log in enumerate(logs)}


def _bands(identification: Identification, logs: Sequence[Recording]) -> Bands:
    """Return the bands of the models whose predictive distribution is known."""
    bands: dict[str, dict[str, tuple[Array, Array]]] = {log.name: {} for log in logs}
    predictions = identification.predictions
    for model, fit in identification.fits.items():
        if fit.uncertainty is None or fit.uncertainty.prediction is None:
            continue
        prediction = predictions[model]
        predicted = predicted_bands(fit.servo, logs, prediction, fit.bench_effects, draws=_DRAWS)
        for log, band in zip(logs, predicted, strict=True):
            time = log.time - log.time[0]
            low, high = (np.interp(time, band.time, end) for end in (band.low, band.high))
            bands[log.name][model] = low, high
    return bands


def _plot(identification: Identification, simulated: Simulated, bands: Bands, directory: Path) -> None:
    # Matplotlib takes a second to import, which only those who save shall pay.
    from bam_core.plots.fit import plot_fit
    from bam_core.plots.mae import plot_mae
    from bam_core.plots.parameters import plot_parameters
    from bam_core.plots.save import save_figure

    fits = identification.fits
    errors = {
        model: {"training": fit.train_mae, "selection": fit.selection_mae, "test": fit.test_mae}
        for model, fit in fits.items()
    }
    intervals = {
        model: fit.test_interval if len(fit.test) >= FEWEST_LOGS else None for model, fit in fits.items()
    }
    figure = plot_mae(errors, intervals=intervals, chosen=identification.chosen)
    save_figure(figure, directory / "mae.png")
    parameters = {model: fit.parameters for model, fit in fits.items()}
    bounds = {model: fit.at_bound for model, fit in fits.items()}
    known = {model: _intervals(fit) for model, fit in fits.items()}
    save_figure(plot_parameters(parameters, bounds, known), directory / "parameters.png")
    restart = usual_restart(identification.split.logs)
    pieces = "" if restart is None else f", {restart_words(restart)}"
    for logs, side in (
        (identification.split.train, "training"),
        (identification.split.test, "test"),
    ):
        for log in logs:
            log_errors = {model: fit.per_log[log.name] for model, fit in fits.items()}
            title, band = f"{log.name} ({side}{pieces})", bands[log.name]
            figure = plot_fit(log, simulated[log.name], log_errors, title=title, bands=band)
            save_figure(figure, directory / _fit_plot(log.name), dpi=_FIT_DPI)


def _intervals(fit: ModelFit) -> dict[str, tuple[float, float]]:
    estimates = fit.uncertainty.estimates if fit.uncertainty else ()
    return {estimate.name: (estimate.low, estimate.high) for estimate in estimates}


def _fit_plot(log_name: str) -> str:
    return f"fit_{log_name.replace('/', '_')}.png"


def _files_in(directory: Path) -> set[str]:
    return {str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file()}


def _earlier(summary: Path) -> dict[str, Any]:
    """Return models, logs and date in the summary of an earlier identification; nothing of other files."""
    try:
        written = json.loads(summary.read_text(encoding="utf-8"))
        models = [model for model in FRICTION_MODELS if model in set(written["models"])]
        split = written.get("split", {})
        logs = sorted({str(name) for side in ("train", "test") for name in split.get(side, ())})
        date = str(written.get("date", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # none, or not one of ours
        return {}
    return {"models": models, "logs": logs, "date": date} if models else {}


def _files_of(earlier: Mapping[str, Any]) -> set[str]:
    """Names of the files that belong to an earlier identification."""
    if not earlier:
        return set()
    servos = [f"{model}.yaml" for model in earlier["models"]]
    beside = (str(path(name)) for name in servos for path in (bench_effects_path, prediction_path))
    return {*servos, *beside, REPORT, *(f"{PLOTS}/{_fit_plot(log)}" for log in earlier["logs"])}


def _log_replaced(target: Path, earlier: Mapping[str, Any], removed: Sequence[str]) -> None:
    files = tuple(name for name in removed if not name.startswith(PLOTS))
    finding = Replaced(
        directory=target,
        models=tuple(earlier["models"]),
        date=earlier["date"],
        files=files,
        plots=len(removed) - len(files),
    )
    log_findings(log, [finding])


def _is_complete(summary: Path) -> bool:
    """Return whether this is the summary of an identification that was not interrupted."""
    try:
        written = json.loads(summary.read_text(encoding="utf-8"))
        return bool(written["models"]) and not written.get("interrupted", False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return False


def _there(target: Path, names: set[str]) -> list[str]:
    """Return which of these files there are."""
    # By the listing: a damaged summary may tell of any name. There may be no plots, or others at work here.
    there = {str(path.relative_to(target)) for pattern in ("*", "*/*") for path in target.glob(pattern)}
    return [name for name in sorted(names & there) if (target / name).is_file()]


def _replace(draft: Path, target: Path, outdated: Sequence[str], kept: Path) -> None:
    """Move the files of a draft to their places, and remove those that are outdated, all or none.

    The summary goes first and comes last: a process that is killed between leaves a directory that nobody
    takes for the results of either identification. The old one stays until the end under a hidden name, by
    which the next process knows what is outdated.

    Args:
        draft: directory of the new files.
        target: directory that gets them.
        outdated: names of files there.
        kept: directory that gets copies of what is replaced meanwhile; must not exist.

    Raises:
        OSError: a file cannot be moved; then all are as they were, as far as that lets itself be done.
    """
    new = sorted(_files_in(draft) - {SUMMARY})
    old = [name for name in (SUMMARY, *new, *outdated) if (target / name).is_file()]
    for name in old:
        _copy(target / name, kept / name)
    try:
        if (target / SUMMARY).is_file():
            (target / SUMMARY).replace(target / _REPLACED)
        for name in outdated:
            (target / name).unlink(missing_ok=True)
        for name in (*new, SUMMARY):
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (draft / name).replace(target / name)
        (target / _REPLACED).unlink(missing_ok=True)
    except OSError:
        for name in {*new} - {*old}:
            with contextlib.suppress(OSError):
                (target / name).unlink(missing_ok=True)
        for name in reversed(old):
            with contextlib.suppress(OSError):
                (kept / name).replace(target / name)
        if SUMMARY in old:
            with contextlib.suppress(OSError):
                (target / _REPLACED).unlink(missing_ok=True)
        raise


def _copy(source: Path, destination: Path) -> None:
    destination.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, destination)
