# SPDX-License-Identifier: Apache-2.0
"""Event terms of Isaac Lab: they scale the drive of the same file, which is read and never executed."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Malformed, Missing, OutOfRange
from bam_core.exchange.training.drive_rollout import drive_positions
from bam_core.exchange.training.linear_drive import LinearDrive
from bam_core.exchange.training.randomised_motion import Move, TermRange, bench, drive_commands

_TERMS: Mapping[str, Mapping[str, str]] = {
    "randomize_actuator_gains": {"stiffness": "stiffness", "damping": "damping"},
    "randomize_joint_parameters": {"friction": "frictionloss", "armature": "armature"},
}
_SUFFIX = "_distribution_params"
_FIELDS = {  # of ImplicitActuatorCfg -> of LinearDrive
    "stiffness": "stiffness",
    "damping": "damping",
    "effort_limit_sim": "effort_limit",
    "armature": "armature",
    "friction": "frictionloss",
    "viscous_friction": "viscous_damping",
}


def isaac_ranges(path: Path, module: ast.Module) -> list[TermRange]:
    """Return the ranges of all EventTermCfg: a term is one `..._distribution_params`."""
    ranges: list[TermRange] = []
    for call in _calls(module, "EventTermCfg"):
        given = {keyword.arg: keyword.value for keyword in call.keywords}
        function, params = given.get("func"), given.get("params")
        known = _TERMS.get(getattr(function, "attr", getattr(function, "id", "")), {})
        entries = zip(params.keys, params.values, strict=True) if isinstance(params, ast.Dict) else ()
        for key, value in entries:
            name = key.value if isinstance(key, ast.Constant) else None
            if not isinstance(name, str) or not name.endswith(_SUFFIX):
                continue
            low, high = _pair(path, name, value)
            own = name.removesuffix(_SUFFIX)
            cause = None if own in known else "unknown_name"
            if cause is None and _drive(path, module)[known[own]] == 0.0:
                cause = "zero_value"
            ranges.append(TermRange(name=own, low=low, high=high, cause=cause))
    return ranges


def isaac_move(path: Path, module: ast.Module) -> Move:
    """Return the motion of the drive in the same file with one term at a factor."""
    values = _drive(path, module)
    drive = LinearDrive(
        **values,
        back_emf_damping=0.0,  # Isaac Lab's implicit drive has it in its damping
        saturation_effort=values["effort_limit"],
        velocity_limit=np.inf,
    )
    commands = drive_commands(bench(drive.effort_limit))
    attributes = {own: name for known in _TERMS.values() for own, name in known.items()}

    def move(name: str | None, factor: float) -> Array:
        moved = drive
        if name is not None:
            attribute = attributes[name]
            moved = replace(drive, **{attribute: factor * values[attribute]})
        return drive_positions(moved, commands)

    return move


def _drive(path: Path, module: ast.Module) -> dict[str, float]:
    calls = _calls(module, "ImplicitActuatorCfg")
    given = {keyword.arg: keyword.value for call in calls for keyword in call.keywords}
    values = {}
    for name, attribute in _FIELDS.items():
        value = getattr(given.get(name), "value", None)
        if not isinstance(value, (int, float)):
            raise Missing(f"{path}, ImplicitActuatorCfg, {name}", "a number", advice="export the file anew")
        values[attribute] = float(value)
    return values


def _calls(module: ast.Module, name: str) -> list[ast.Call]:
    calls = [node for node in ast.walk(module) if isinstance(node, ast.Call)]
    return [call for call in calls if getattr(call.func, "id", None) == name]


def _pair(path: Path, name: str, value: ast.expr) -> tuple[float, float]:
    try:
        low, high = map(float, ast.literal_eval(value))
    except (ValueError, TypeError, SyntaxError):
        raise Malformed(path, f"{name} is no range", expected="(low, high)") from None
    if not np.isfinite((low, high)).all():
        raise OutOfRange(f"{path}, {name}", (low, high), "finite numbers")
    return low, high
