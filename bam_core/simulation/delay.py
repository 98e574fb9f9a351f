# SPDX-License-Identifier: Apache-2.0
"""Delays counted in steps."""

from __future__ import annotations

import math

from bam_core.compilation import compiled


@compiled()
def whole_steps(delay: float, steps: int) -> int:
    """Return the whole steps of a delay in steps, between -steps and steps; 0 where it is NaN."""
    if delay >= steps:
        return steps
    if delay <= -steps:
        return -steps
    return math.floor(delay) if delay == delay else 0
