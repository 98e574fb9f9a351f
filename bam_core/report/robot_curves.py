# SPDX-License-Identifier: Apache-2.0
"""The curves of `robot.curves`, read back; see there for the file's layout."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.report.results import Trajectory
from bam_core.report.robot_results import BEFORE
from bam_core.report.trajectories import TRAJECTORIES, opened, require_digest
from bam_core.text.report_findings import NoTrajectories


def load_robot_curves(
    directory: Path, runs: Sequence[str], joints: Sequence[str], models: Sequence[str], digest: str
) -> tuple[dict[str, dict[str, Trajectory]], NoTrajectories | None]:
    """Read the curves of an identification on a robot.

    Args:
        directory: of the identification.
        runs: all of its runs.
        joints: that count.
        models: its friction models.
        digest: SHA-256 of the file that it wrote; empty where that is unknown.

    Returns:
        Run -> joint -> curves; nothing where there is no such file. And why there is nothing.

    Raises:
        BamError: the file is damaged, or is another than the identification wrote.
    """
    path = directory / TRAJECTORIES
    if not path.exists():
        return {}, NoTrajectories(kind="missing_trajectories", file=TRAJECTORIES)
    with opened(path) as arrays:
        names = [str(name) for name in arrays["runs"]]
        columns = [str(name) for name in arrays["joints"]]
        curves = {
            name: {joint: _curves(arrays, i, columns.index(joint), models) for joint in joints}
            for i, name in enumerate(names)
        }
        if set(curves) != set(runs):
            raise ValueError("its runs are others")
    require_digest(path, digest)
    return curves, None


def _curves(arrays: Any, index: int, column: int, models: Sequence[str]) -> Trajectory:
    time = arrays[f"time_{index}"].astype(np.float64)

    def curve(name: str) -> Array:
        array = np.asarray(arrays[f"{name}_{index}"][:, column], dtype=np.float64)
        if array.shape != time.shape or not np.isfinite(array).all():
            raise ValueError(f"{name}_{index} is not {len(time)} numbers")
        return array

    bands = {}
    for model in models:
        if f"{model}_band_{index}" in arrays:
            middle, half = curve(model), curve(f"{model}_band")
            bands[model] = (middle - half, middle + half)
    return Trajectory(
        time=time,
        measured=curve("measured"),
        goal=curve("goal"),
        torque=None,
        simulated={name: curve(name) for name in (BEFORE, *models)},
        bands=bands,
    )
