# SPDX-License-Identifier: Apache-2.0
"""Motions made of given numbers, and the torques of a cause along them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from bam_core.identification.misfit.cause import Cause
from bam_core.identification.misfit.motion import Motion


def motion(time: Any, **given: Any) -> Motion:
    """A motion; what is not given is zero, and torque is on."""
    steps = len(time)
    values: dict[str, Any] = {"time": time, "enabled": np.ones(steps), "dt": 1e-3, **given}
    for field in fields(Motion):
        is_number = field.type in ("float", float)
        values.setdefault(field.name, 0.0 if is_number else np.zeros(steps))
        if not is_number:
            values[field.name] = np.asarray(values[field.name], dtype=np.float64)
    return Motion(**values)


def columns(causes: Sequence[Cause], kind: str, moved: Motion) -> list[np.ndarray]:
    """Torques of each form of a cause, (steps,) each."""
    (cause,) = (cause for cause in causes if cause.kind == kind)
    found = cause.torques(moved)
    assert found.shape == (len(moved.time), sum(cause.sizes))
    assert len(cause.sizes) == len(cause.forms)
    return list(found.T)
