# SPDX-License-Identifier: Apache-2.0
"""Text of the YAML files of servos and bench effects: units and explanations in comments, numbers exact."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

_COMMENTS = {
    "protocol": "Dynamixel protocol",
    "nominal_voltage": "V",
    "gear_ratio": "turns of the motor per turn of the output shaft",
    "law": "voltage: sets a duty; current: sets a current",
    "duty_per_kp_rad": "1/rad, per unit of the servo's kp",
    "duty_limit": "1 is the whole supply",
    "current_limit": "A",
    "amps_per_kp_rad": "A/rad, per unit of the servo's kp",
    "damping": "A·s/rad per root of amps_per_kp_rad · kp",
    "counts_per_turn": "of the encoder, at the output shaft",
    "period": "s",
    "dead_band": "rad, of error without effect",
    "error_offset": "rad, added to a larger error",
    "goal_speed_limit": "rad/s, at which the set-point follows the goal",
    "goal_acceleration_limit": "rad/s², of the set-point",
    "kd_scale": "s: error + kd_scale · kd / kp · its rate; left out: unknown",
    "ki_scale": "1/s: error + ki_scale · ki / kp · its integral; left out: unknown",
    "factory_kp": "position gain that it comes with",
    "protection": "against overload; shares of the largest duty or current",
    "threshold": "from which on a demand is overload",
    "time": "s, for which it has to last without a break",
    "limit": "of demands from then on, until another goal or torque off",
    "motor": "at the output shaft, gearbox included",
    "friction_model": "m1 to m6",
    "gear": "γ_u and γ_v of Kikuuwe (14), in place of friction terms that depend on the load",
    "servo_effects": "besides motor and friction",
    "bench_effects": "where recordings of this bench are simulated, nowhere else",
    "effects": "what identification fits besides motor and friction",
    "integrator": "the one the parameters were fitted with",
    "uncertainty": "one standard deviation",
    "search": "[low, high] for identification",
    "trials": "simulations of all training recordings that the search was allowed",
    "tolerances": "assumed errors of the bench, one standard deviation",
    "corrections": "recording: header fields that were set from outside",
    "train_mae": "rad",
    "selection_mae": "rad",
    "test_mae": "rad",
    "train_data": "recording: SHA-256",
    "test_data": "recording: SHA-256",
    "quadratic_rule": "paper: everywhere; opposing: only where motor and load torque oppose",
}


def yaml_text(fields: Mapping[str, Any], units: Mapping[str, str]) -> str:
    """Text of the file, with units and explanations as comments; empty fields are left out."""
    lines: list[str] = []
    _dump_section(lines, fields, units, indent="")
    return "\n".join(lines) + "\n"


def _dump_section(lines: list[str], fields: Mapping[str, Any], units: Mapping[str, str], indent: str) -> None:
    for key, value in fields.items():
        if _is_empty(value):
            continue
        comment = units.get(key) or _COMMENTS.get(key, "")
        if comment:
            comment = f"  # {'dimensionless' if comment == '-' else comment}"
        if isinstance(value, Mapping):
            lines.append(f"{indent}{_scalar(key)}:{comment}")
            _dump_section(lines, value, units, indent + "  ")
        elif isinstance(value, list):
            lines.append(f"{indent}{_scalar(key)}: [{', '.join(map(_scalar, value))}]{comment}")
        else:
            lines.append(f"{indent}{_scalar(key)}: {_scalar(value)}{comment}")


def _is_empty(value: Any) -> bool:
    """Return whether a value is none, or a section of such values: "key:" alone cannot be read back."""
    if isinstance(value, Mapping):
        return all(map(_is_empty, value.values()))
    return value is None or value in ("", [])


def _scalar(value: Any) -> str:
    """One value as YAML reads it back exactly."""
    # Escapes keep line breaks and the like on one line, so that a comment can follow.
    style = None if str(value).isprintable() else '"'
    text = yaml.safe_dump(value, default_style=style, allow_unicode=True, width=float("inf"))
    return text.removesuffix("...\n").strip()
