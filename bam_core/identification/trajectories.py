# SPDX-License-Identifier: Apache-2.0
"""What every model makes of every log, thinned: ``trajectories.npz``, which a report draws.

Log i of the array ``logs`` (names, sorted) has ``time_i`` [s], ``measured_i`` [rad], ``goal_i`` [rad] (of a
run in open loop, which has no goal, the measured position),
``torque_i`` (torque on or off) and, for every model, ``<model>_i``: its simulated position [rad]. A model
whose predictive distribution is known has ``<model>_low_i`` and ``<model>_high_i`` as well: the ends of its
90 % band [rad].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.recordings.recording import Recording

TRAJECTORIES = "trajectories.npz"

MOST_SAMPLES = 1000
"""Per log; 6 s are then 6 ms apart, finer than a screen shows."""

Simulated = Mapping[str, Mapping[str, NDArray[np.float64]]]
"""Log name -> model -> (n,) rad at the log's own times."""

Bands = Mapping[str, Mapping[str, tuple[NDArray[np.float64], NDArray[np.float64]]]]
"""Log name -> model -> lower and upper end, (n,) rad each at the log's own times."""


def save_trajectories(
    path: Path, recordings: Sequence[Recording], simulated: Simulated, bands: Bands | None = None
) -> None:
    """Write the file.

    Args:
        path: of the file.
        recordings: every log, names distinct.
        simulated: of these logs.
        bands: of the logs and models where they are known.

    Raises:
        OSError: it cannot be written.
    """
    ordered = sorted(recordings, key=lambda log: log.name)
    arrays: dict[str, Any] = {"logs": np.array([log.name for log in ordered], dtype=np.str_)}
    for i, log in enumerate(ordered):
        kept = np.unique(np.linspace(0, len(log) - 1, min(len(log), MOST_SAMPLES)).round().astype(int))
        curves = {
            "time": log.time,
            "measured": log.position,
            "goal": log.position if log.open_loop else log.goal_position,
            **simulated[log.name],
        }
        for model, ends in (bands or {}).get(log.name, {}).items():
            curves |= zip((f"{model}_low", f"{model}_high"), ends, strict=True)
        arrays |= {f"{name}_{i}": curve[kept].astype(np.float32) for name, curve in curves.items()}
        arrays[f"torque_{i}"] = log.torque_enabled[kept]
    np.savez_compressed(path, **arrays)
