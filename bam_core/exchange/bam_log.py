# SPDX-License-Identifier: Apache-2.0
"""A recording as BAM's own recorder writes it; `recordings.json_log` reads it back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.recordings.json_log import FULL_DUTY_COUNTS
from bam_core.recordings.recording import Recording

_COUNT_SLACK = 1e-6  # of a count: rounding of counts / full duty


def bam_log(recording: Recording) -> dict[str, Any]:
    """Return the log of a recording: header and one entry per sample.

    A quantity that was not measured is left out; so is `arm_mass` where there is none, as older recorders
    did. `load` holds the register's raw counts where they are known, else the duty itself.

    Args:
        recording: any run of a position controller.

    Raises:
        Unsupported: it is a run in open loop.
    """
    recording.require_closed_loop("BAM's log")
    bench = recording.bench
    columns: dict[str, list[Any]] = {
        "position": _column(recording.position),
        "speed": _column(recording.velocity),
        "load": _load(recording),
        "input_volts": _column(recording.voltage),
        "temp": _column(recording.temperature),
        "timestamp": _column(recording.time),
        "goal_position": _column(recording.goal_position),
        "torque_enable": recording.torque_enabled.tolist(),
    }
    return {
        "mass": bench.mass,
        **({"arm_mass": bench.arm_mass} if bench.arm_mass else {}),
        "length": bench.length,
        "kp": recording.kp,
        **({"ki": recording.ki} if recording.ki else {}),
        **({"kd": recording.kd} if recording.kd else {}),
        **(
            {"goal_acceleration": recording.goal_acceleration}
            if recording.goal_acceleration is not None
            else {}
        ),
        "vin": recording.supply_voltage,
        "motor": recording.servo,
        "trajectory": recording.script,
        "entries": [
            {key: values[i] for key, values in columns.items() if values[i] is not None}
            for i in range(len(recording))
        ],
    }


def bam_log_text(recording: Recording) -> str:
    """Return the text of a log; every number reads back exactly."""
    return json.dumps(bam_log(recording), allow_nan=False) + "\n"


def _column(values: NDArray[np.float64]) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]


def _load(recording: Recording) -> list[Any]:
    """Raw 16-bit counts, or duties where any of them is no whole number of counts or none are known."""
    full = FULL_DUTY_COUNTS.get(recording.servo)
    known = np.isfinite(recording.duty)
    if full is None:
        return _column(recording.duty)
    counts = np.where(known, recording.duty, 0.0) * full
    if np.max(np.abs(counts - np.round(counts)), initial=0.0) > _COUNT_SLACK:
        return _column(recording.duty)
    raw = np.round(counts).astype(np.int64) % 2**16
    return [int(value) if there else None for value, there in zip(raw, known, strict=True)]
