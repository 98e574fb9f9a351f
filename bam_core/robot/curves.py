# SPDX-License-Identifier: Apache-2.0
"""What every model makes of every run, thinned: ``trajectories.npz``, which a report draws.

Arrays: ``runs`` and ``joints`` (names); of run i, over the part that counts, ``time_i`` (n,) [s] and,
(n, joints) [rad] each, ``measured_i``, ``goal_i``, ``before_i`` (simulated with the servos given),
``<model>_i`` (simulated with those identified) and, where it is known, ``<model>_band_i``: half the width of
its 90 % band.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.arrays import Array
from bam_core.robot.run import RobotRun

CURVES = "trajectories.npz"

_RATE = 50.0  # Hz; joints hardly move faster, and files stay small


@dataclass(frozen=True, kw_only=True, eq=False)
class RunCurves:
    """One run and its simulations: (n, joints of the run) rad, at the run's own times.

    Attributes:
        run: what was measured.
        before: with the servos given.
        after: model -> with those identified.
        bands: model -> (n, joints that count) rad, half the width of the 90 % band; where it is known.
    """

    run: RobotRun
    before: Array
    after: Mapping[str, Array]
    bands: Mapping[str, Array]


def save_curves(path: Path, joints: Sequence[str], curves: Sequence[RunCurves]) -> None:
    """Write the file.

    Args:
        path: of the file.
        joints: that count.
        curves: of every run.

    Raises:
        OSError: it cannot be written.
    """
    arrays: dict[str, Any] = {
        "runs": np.array([curve.run.name for curve in curves], dtype=np.str_),
        "joints": np.array(joints, dtype=np.str_),
    }
    for i, of_run in enumerate(curves):
        kept = _thinned(of_run.run)
        columns = [of_run.run.column(joint) for joint in joints]
        of_joints = {
            "measured": of_run.run.position,
            "goal": of_run.run.goal_position,
            "before": of_run.before,
            **of_run.after,
        }
        arrays[f"time_{i}"] = of_run.run.time[kept].astype(np.float32)
        arrays |= {
            f"{name}_{i}": curve[kept][:, columns].astype(np.float32) for name, curve in of_joints.items()
        }
        arrays |= {f"{name}_band_{i}": half[kept].astype(np.float32) for name, half in of_run.bands.items()}
    np.savez_compressed(path, **arrays)


def _thinned(run: RobotRun) -> NDArray[np.intp]:
    """Return which samples are kept: of those that count, about so many per second."""
    counted = np.flatnonzero(run.counts)
    spacing = float(np.median(np.diff(run.time)))
    return counted[:: max(round(1.0 / (_RATE * spacing)), 1)]
