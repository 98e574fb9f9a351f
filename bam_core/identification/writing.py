# SPDX-License-Identifier: Apache-2.0
"""The results of an identification on disk: all of them or none."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from bam_core.atomic_file import write_text
from bam_core.errors import BamError
from bam_core.identification.result import Identification
from bam_core.rollout import Rollout, parameter_vector

SUMMARY = "summary.json"
PLOTS = "plots"

_FIT_DPI = 80  # there may be a hundred of them


def require_output(output: str | os.PathLike[str]) -> None:
    """Check that results can be written, before time is spent on them.

    Raises:
        BamError: the path is a file, or lies where nothing may be written.
    """
    path = Path(output)
    existing = next(candidate for candidate in (path, *path.absolute().parents) if candidate.exists())
    if not existing.is_dir():
        raise BamError(
            f"{path}: {existing} is a file (expected a directory for results); choose another place"
        )
    if not os.access(existing, os.W_OK | os.X_OK):
        raise BamError(
            f"{path}: {existing} may not be written to; choose another place or mend its permissions"
        )


def save(identification: Identification, output: str | os.PathLike[str]) -> None:
    """Write ``<model>.yaml``, ``summary.json`` and ``plots/``.

    Everything is written beside the directory first and moved into it when complete, the summary last. In a
    directory that exists, files of the same names are replaced and others are left alone.

    Raises:
        BamError: it cannot be written; then a new directory is not there, an old one is as it was.
    """
    require_output(output)
    target = Path(output).absolute()
    draft = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(parents=True)
        _write(identification, draft)
        if target.exists():
            _move_into(draft, target)
        else:
            draft.rename(target)
    except OSError as error:
        raise BamError(f"{target}: cannot be written ({error.strerror}); choose another place") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _write(identification: Identification, directory: Path) -> None:
    for model, fit in identification.fits.items():
        fit.servo.save(directory / f"{model}.yaml")
    _plot(identification, directory / PLOTS)
    text = json.dumps(identification.summary(), indent=2, ensure_ascii=False, allow_nan=False)
    write_text(directory / SUMMARY, text + "\n")


def _plot(identification: Identification, directory: Path) -> None:
    # Matplotlib takes a second to import, which only those who save shall pay.
    from bam_core.plots.fit import plot_fit
    from bam_core.plots.mae import plot_mae
    from bam_core.plots.parameters import plot_parameters
    from bam_core.plots.save import save_figure

    fits = identification.fits
    errors = {model: (fit.train_mae, fit.validation_mae) for model, fit in fits.items()}
    save_figure(plot_mae(errors, chosen=identification.chosen), directory / "mae.png")
    save_figure(
        plot_parameters({model: fit.servo for model, fit in fits.items()}), directory / "parameters.png"
    )
    for logs, side in (
        (identification.split.train, "training"),
        (identification.split.validation, "validation"),
    ):
        rollout = Rollout.for_servo(logs, next(iter(fits.values())).servo)
        simulated = {model: rollout.positions(parameter_vector(fit.servo)) for model, fit in fits.items()}
        for i, log in enumerate(logs):
            figure = plot_fit(
                log,
                {model: positions[i] for model, positions in simulated.items()},
                title=f"{log.name} ({side})",
            )
            name = log.name.replace("/", "_")
            save_figure(figure, directory / f"fit_{name}.png", dpi=_FIT_DPI)


def _move_into(draft: Path, target: Path) -> None:
    files = sorted(path.relative_to(draft) for path in draft.rglob("*") if path.is_file())
    for name in sorted(files, key=lambda name: name == Path(SUMMARY)):
        destination = target / name
        destination.parent.mkdir(parents=True, exist_ok=True)
        (draft / name).replace(destination)
