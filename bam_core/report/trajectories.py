# SPDX-License-Identifier: Apache-2.0
"""The curves of `identification.trajectories`, read back; see there for the file's layout."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.errors import Malformed
from bam_core.files.npz_file import read_arrays
from bam_core.report.results import Trajectory
from bam_core.text.report_findings import NoTrajectories

TRAJECTORIES = "trajectories.npz"


def load_trajectories(
    directory: Path, logs: Sequence[str], models: Sequence[str], digest: str = ""
) -> tuple[dict[str, Trajectory], NoTrajectories | None]:
    """Read the trajectories of an identification.

    Args:
        directory: of the identification.
        logs: its logs.
        models: its friction models.
        digest: SHA-256 of the file that it wrote; empty where that is unknown.

    Returns:
        Log name -> curves; nothing where there is no such file, or where it belongs to other logs or models,
        as it does after an older version has written to the same directory. And why there is nothing.

    Raises:
        BamError: the file is damaged, or is another than the identification wrote.
    """
    path = directory / TRAJECTORIES
    if not path.exists():
        return {}, NoTrajectories(kind="missing_trajectories", file=TRAJECTORIES)
    with opened(path) as arrays:
        names = [str(name) for name in arrays["logs"]]
        others = set(names) != set(logs) or any(f"{model}_0" not in arrays for model in models)
        of_logs = {} if others else {name: _trajectory(arrays, i, models) for i, name in enumerate(names)}
    require_digest(path, digest)
    finding = NoTrajectories(kind="other_trajectories", file=TRAJECTORIES) if others else None
    return of_logs, finding


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Give the arrays of a file; raises Malformed for anything that is wrong with them meanwhile."""
    try:
        yield read_arrays(path)
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        problem = " ".join(str(error).split()) or type(error).__name__
        raise Malformed(path, f"is damaged ({problem})", advice="run 'bam identify' again") from None


def require_digest(path: Path, digest: str) -> None:
    """Raise Malformed where a file is not the one with this SHA-256; an empty one is that of any file."""
    if digest and (here := hashlib.sha256(path.read_bytes()).hexdigest()) != digest:
        raise Malformed(
            path,
            f"is of another identification (SHA-256 {here[:12]}..., in summary.json {digest[:12]}...)",
            advice="put back the one of this identification, or run 'bam identify' again",
        )


def _trajectory(arrays: Any, index: int, models: Sequence[str]) -> Trajectory:
    def curve(name: str) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = arrays[f"{name}_{index}"].astype(np.float64)
        if array.shape != time.shape or not (name in models or np.isfinite(array).all()):
            raise ValueError(f"{name}_{index} is not {len(time)} numbers")
        return array

    time = arrays[f"time_{index}"].astype(np.float64)
    if time.ndim != 1 or len(time) < 2 or not (np.diff(time) > 0).all():
        raise ValueError(f"time_{index} does not increase")
    torque = f"torque_{index}"
    return Trajectory(
        time=time,
        measured=curve("measured"),
        goal=curve("goal"),
        torque=arrays[torque].astype(bool) if torque in arrays else None,
        simulated={model: curve(model) for model in models},
        bands={
            model: (curve(f"{model}_low"), curve(f"{model}_high"))
            for model in models
            if f"{model}_low_{index}" in arrays
        },
    )
