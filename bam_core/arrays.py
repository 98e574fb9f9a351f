# SPDX-License-Identifier: Apache-2.0
"""The type of arrays that all rooms work with."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
