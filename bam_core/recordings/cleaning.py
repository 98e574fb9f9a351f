# SPDX-License-Identifier: Apache-2.0
"""From the samples that a source holds to those that can be compared with a simulation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bam_core.recordings.bad_readings import without_false_readings
from bam_core.recordings.position_jumps import first_jump
from bam_core.recordings.position_updates import at_read_times, find_updates
from bam_core.text.left_out import LeftOut


@dataclass(frozen=True, kw_only=True, eq=False)
class Cleaned:
    """Samples, and what was done to them.

    Attributes:
        samples: fields of `Recording` by name, (n,) each.
        left_out: readings that cannot be right.
        update_period: of the clock by which positions were updated, s; None where none was found.
    """

    samples: Mapping[str, NDArray[Any]]
    left_out: tuple[LeftOut, ...]
    update_period: float | None = None


def clean(columns: Mapping[str, NDArray[Any]]) -> Cleaned:
    """Leave out readings that cannot be right, and give positions as of the times of their samples.

    Args:
        columns: fields of `Recording` by name, (n,) each: time, position, voltage and temperature at least.
    """
    samples, left_out = without_false_readings(columns)
    time, position = samples["time"], samples["position"]
    if not (np.all(np.isfinite(time)) and np.all(np.diff(time) > 0.0) and np.all(np.isfinite(position))):
        return Cleaned(samples=samples, left_out=left_out)  # which `Recording` refuses
    if first_jump(time, position) is not None:
        return Cleaned(samples=samples, left_out=left_out)  # and this, as it was read
    updates = find_updates(time, position)
    if updates is None:
        return Cleaned(samples=samples, left_out=left_out)
    samples["position"], known = at_read_times(time, position, updates.ages)
    samples = {name: values[known] for name, values in samples.items()}
    return Cleaned(samples=samples, left_out=left_out, update_period=updates.period)
