# SPDX-License-Identifier: Apache-2.0
"""What the demo reports in the end: tables for the terminal, the same as JSON."""

from __future__ import annotations

from typing import Any

from bam_core.servo.model import ServoModel
from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.text.table import format_table
from bam_core.text.verdict_words import headline
from bam_ros.demo.pipeline import Outcome


def summary(outcome: Outcome) -> dict[str, Any]:
    """Return all figures, SI units, ready for JSON."""
    mae = outcome.replayed.mae
    return {
        "models": {
            name: {**figures, "mujoco_mae": mae[name]} for name, figures in outcome.summary["models"].items()
        },
        "chosen": outcome.summary["chosen"],
        "held_out": [run.name for run in outcome.replayed.runs],
        "parameters": {
            name: {
                key: {
                    "identified": value,
                    "hidden": outcome.hidden[key],
                    "error": value / outcome.hidden[key] - 1.0,
                }
                for key, value in _values(servo).items()
            }
            for name, servo in outcome.servos.items()
        },
    }


def text(outcome: Outcome) -> str:
    """Return the tables: errors per model, then parameters of the richest model against the truth."""
    figures = summary(outcome)
    errors = format_table(
        ("model", "test [mrad]", "MuJoCo, test [mrad]", "train [mrad]"),
        [
            (
                f"{name}{' (chosen)' if name == figures['chosen'] else ''}",
                *(f"{model[key] * 1e3:.2f}" for key in ("test_mae", "mujoco_mae", "train_mae")),
            )
            for name, model in figures["models"].items()
        ],
    )
    richest = list(outcome.servos)[-1]
    parameters = format_table(
        (f"{richest}", "unit", "identified", "hidden", "error [%]"),
        [
            (
                key,
                PARAMETER_UNITS[key],
                f"{p['identified']:.4g}",
                f"{p['hidden']:.4g}",
                f"{p['error'] * 100:+.1f}",
            )
            for key, p in figures["parameters"][richest].items()
        ],
    )
    resolution = f"the encoder resolves {outcome.resolution * 1e3:.2g} mrad"
    return (
        f"Mean absolute position error ({resolution}):\n\n{errors}\n\n"
        f"Identified against hidden parameters:\n\n{parameters}\n"
    )


def verdict_lines(outcome: Outcome) -> tuple[str, str]:
    """Return the verdict of the identification, and its rule."""
    verdict = outcome.summary["verdict"]
    return f"{headline(verdict['kind'])}: {verdict['sentence']}", f"rule: {verdict['rule']}"


def _values(servo: ServoModel) -> dict[str, float]:
    motor = servo.motor
    return {
        "torque_constant": motor.torque_constant,
        "resistance": motor.resistance,
        "armature": motor.armature,
        **servo.friction.coefficients(),
    }
