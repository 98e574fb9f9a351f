# SPDX-License-Identifier: Apache-2.0
"""Groups of windows that are left out of a fit in turn: configurations, or parts of every run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bam_core.identification.misfit.floor import configuration
from bam_core.identification.misfit.windows import WindowData
from bam_core.recordings.recording import Recording

_FOLDS = 10  # groups at most
_QUARTERS = 4  # parts of every log, left out in turn
_LEAST_CONFIGURATIONS = 4  # to leave out configurations instead


def configuration_groups(logs: Sequence[Recording], seen: WindowData) -> NDArray[np.intp]:
    """Return groups of windows: configurations, spread over as many as are left out in turn."""
    kinds = list(dict.fromkeys(configuration(log) for log in logs))
    if len(kinds) < _LEAST_CONFIGURATIONS:
        return time_groups(seen)
    # Neighbours in the order of names are alike; a stride sets them apart.
    group = {kind: index % _FOLDS for index, kind in enumerate(kinds)}
    return np.array([group[configuration(log)] for log in logs])[seen.log]


def time_groups(seen: WindowData) -> NDArray[np.intp]:
    """Return groups of windows by their time since the start of their run."""
    last = np.array([seen.place[seen.log == log].max() for log in range(int(seen.log.max()) + 1)])
    return np.asarray(_QUARTERS * seen.place // (last[seen.log] + 1), dtype=np.intp)
