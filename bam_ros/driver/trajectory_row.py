# SPDX-License-Identifier: Apache-2.0
"""One row of numbers of a trajectory message: positions, velocities or accelerations of its joints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bam_core.errors import OutOfRange, WrongShape


def check_row(what: str, row: Sequence[float], joints: Sequence[str], expected: str) -> None:
    """Refuse a row that is not one finite number per joint.

    Args:
        what: the row is, such as "trajectory velocities of point 2".
        row: rad, rad/s or rad/s².
        joints: names.
        expected: why there shall be as many, such as "one per joint".

    Raises:
        WrongShape: there are more or fewer numbers.
        OutOfRange: one is not finite.
    """
    if len(row) != len(joints):
        raise WrongShape(what, len(row), f"{len(joints)}, {expected}", printed=f"{len(row)} numbers")
    for joint, value in zip(joints, row, strict=True):
        if not math.isfinite(value):
            raise OutOfRange(f"{what}, joint {joint!r}", value, "a finite number", printed=f"{value:g}")
