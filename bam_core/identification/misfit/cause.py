# SPDX-License-Identifier: Apache-2.0
"""A kind of physics that a model may lack, as torques along a measured motion."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from bam_core.arrays import Array
from bam_core.identification.misfit.motion import Motion
from bam_core.text.misfit_findings import Form

ANY = (-math.inf, math.inf)
POSITIVE = (0.0, math.inf)
SHARE = (0.0, 1.5)  # beyond one by what it may be off
FULL = (0.3, 3.0)  # one, as well as a form nearby and an error of the friction or the gain allow
FAINT = (0.1, 3.0)  # one, less what noise of the motion takes where torques follow from its derivatives


@dataclass(frozen=True, kw_only=True)
class Cause:
    """One kind of physics, in one or several forms that exclude or complement each other.

    Attributes:
        kind: of `misfit_findings.CAUSES`.
        forms: every form.
        sizes: torques of every form.
        torques: from a motion to the torques (steps, sum of sizes) of all forms, N·m.
        together: how many forms may act together.
        range: low and high end of the factors of the torques that physics allows: FULL where torques are of
            full size, POSITIVE where their sign is known.
        least: size of a factor from which it counts.
        effects: of `effects.EFFECTS`, those that take it.
    """

    kind: str
    forms: tuple[Form, ...]
    sizes: tuple[int, ...]
    torques: Callable[[Motion], Array]
    together: int = 1
    range: tuple[float, float] = ANY
    least: float = 0.0
    effects: tuple[str, ...] = ()
