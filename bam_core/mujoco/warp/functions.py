# SPDX-License-Identifier: Apache-2.0
"""The law as functions of NVIDIA Warp, float32: the sources of `simulation.law` and `step_law`, compiled.

Numba compiles the first. Here each function is a copy with other globals: Warp's mathematics in place of
`math`, and a structure in place of the named tuple.
"""

from __future__ import annotations

from types import FunctionType, SimpleNamespace
from typing import Any

import warp as wp

from bam_core.mujoco import step_law as step_source
from bam_core.simulation import law as law_source

_LAW = (
    "stribeck_factor",
    "always_available",
    "available_at_rest",
    "quadratic_term",
    "budget",
    "set_point",
    "profiled",
    "shaped_error",
    "integrated",
    "demand",
    "overload_after_goal",
    "overload_after_demand",
    "limited_current",
)
_STEP = (
    "start",
    "forget_demand",
    "begin_set_point",
    "measured_position",
    "limited_by_overload",
    "renewed_demand",
    "mean_demand",
    "enabled_share",
    "drive_motor",
    "friction_budget",
    "direction_scale",
    "is_held",
    "hold_until_switch",
    "begin_step",
    "reversal_correction",
    "end_step",
    "whole_step",
)
"""What Warp compiles, callees first."""

_SLACK = 1e-5
"""Relative rounding of float32 over some operations; that of `firmware.SLACK` is for float64."""


@wp.struct
class _FrictionLaw:
    viscous: float
    coulomb: float
    stribeck_coulomb: float
    stribeck_velocity: float
    stribeck_exponent: float
    load_motor: float
    load_external: float
    load_motor_stribeck: float
    load_external_stribeck: float
    quadratic_motor: float
    quadratic_external: float
    opposing: float


@wp.func
def _copysign(size: float, sign: float) -> float:
    return wp.where(sign < 0.0, -wp.abs(size), wp.abs(size))


_MATH = SimpleNamespace(copysign=_copysign, exp=wp.exp, sqrt=wp.sqrt, floor=wp.floor)


def _compiled(source: Any, names: tuple[str, ...], others: dict[str, Any]) -> SimpleNamespace:
    """Return functions of a module by name, compiled by Warp with these globals."""
    scope = {**vars(source), **others}
    for name in names:
        given = getattr(source, name)
        plain = getattr(given, "py_func", given)  # of Numba's
        copy = FunctionType(plain.__code__, scope, name)
        copy.__annotations__ = plain.__annotations__
        copy.__module__ = __name__
        scope[name] = wp.func(copy)
    return SimpleNamespace(**{name: scope[name] for name in names})


law = _compiled(law_source, _LAW, {"math": _MATH, "FrictionLaw": _FrictionLaw, "SLACK": _SLACK})
step_law = _compiled(
    step_source,
    _STEP,
    {"math": _MATH, "FrictionLaw": _FrictionLaw, "law": law, "Table": wp.array2d(dtype=wp.float32)},
)
"""By name, see `bam_core.mujoco.step_law`."""
