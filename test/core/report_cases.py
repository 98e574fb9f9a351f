# SPDX-License-Identifier: Apache-2.0
"""Directories of results to report on: of a small identification, and with everything that one can hold."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.writing import write_identification
from bam_core.servo.model import load_servo
from test.core.identification_cases import mx106, record

EFFECTS = ("torque_saturation", "zero_offset", "command_delay")


def identified(directory: Path) -> Path:
    """Identify synthetic logs of an MX-106, briefly, and save the results."""
    servo = mx106("m4")
    runs = [(script, kp) for script in ("sin_sin", "lift_and_drop") for kp in (8.0, 32.0)]
    logs = [record(servo, *run) for run in (*runs, ("sin_time_square", 16.0), ("up_and_down", 16.0))]
    models = ("m1", "m4", "m6")
    found = identify(
        logs, load_servo("mx106"), IdentifySettings(models=models, trials=200, test="kp=16", effects=EFFECTS)
    )
    write_identification(found, directory)
    _shorten(directory)
    return directory


def _shorten(directory: Path) -> None:
    """Leave out of a summary what needs time, and let it choose a model with friction's whole range of terms:
    few trials decide that by chance."""
    summary = json.loads((directory / "summary.json").read_text())
    models = {
        name: {key: value for key, value in entry.items() if key not in ("uncertainty", "selection")}
        for name, entry in summary["models"].items()
    }
    edit_summary(directory, {"models": models, "choice": None, "effects": None, "chosen": "m4"})


def edit_summary(directory: Path, change: dict[str, Any]) -> None:
    """Replace fields of a summary; None removes one."""
    path = directory / "summary.json"
    summary = json.loads(path.read_text())
    kept = {key: value for key, value in {**summary, **change}.items() if value is not None}
    path.write_text(json.dumps(kept))


def completed(directory: Path) -> Path:
    """Add what an identification also tells of uncertainty, choice and effects."""
    summary = json.loads((directory / "summary.json").read_text())
    models = summary["models"]
    for entry in models.values():
        entry["selection_mae"] = 0.9 * entry["test_mae"]
        entry["selection_standard_error"] = 0.08 * entry["test_mae"]
        entry["uncertainty"] = _uncertainty(entry["parameters"])
    choice = [
        {
            "model": model,
            "selection_mae": entry["selection_mae"],
            "standard_error": entry["selection_standard_error"],
            "free_parameters": len(entry["parameters"]),
            "verdict": "chosen" if model == summary["chosen"] else f"{model} is not told apart from the best",
        }
        for model, entry in models.items()
    ]
    best = models[summary["chosen"]]
    effects = [
        {
            "name": name,
            "unit": "SI",
            "value": best["parameters"][name],
            "train_mae_without": best["train_mae"] * (1.4 - 0.15 * i),
            "selection_mae_without": best["selection_mae"] * (1.3 - 0.15 * i),
            "train_mae": best["train_mae"],
            "selection_mae": best["selection_mae"],
            "kept": i < 2,
            "reason": "held-out logs are followed better with it" if i < 2 else "it bought nothing",
        }
        for i, name in enumerate(EFFECTS)
    ]
    edit_summary(directory, {"models": models, "choice": choice, "effects": effects})
    return directory


def _uncertainty(parameters: dict[str, float]) -> dict[str, Any]:
    """Wide and narrow intervals; the last but one parameter trades with the last."""
    names = list(parameters)
    draws = np.random.default_rng(1).normal(size=(len(names), 3 * len(names)))
    matrix = np.corrcoef(draws)
    matrix[-1, -2] = matrix[-2, -1] = -0.97
    estimates: dict[str, Any] = {}
    for i, (name, value) in enumerate(parameters.items()):
        unknown = name == names[-2]
        error = abs(value) * (0.01 + 0.03 * i)
        estimates[name] = {
            "standard_error": None if unknown else error,
            "interval": None if unknown else [value - 1.96 * error, value + 1.96 * error],
            "identifiable": not unknown,
            "trades_with": [names[-1]] if unknown else [],
            "remark": "No log shows it; a run at a high gain would." if unknown else "",
        }
    return {
        "method": "Gauss-Newton at the optimum, logs resampled.",
        "estimates": estimates,
        "correlation": {"parameters": names, "matrix": matrix.tolist()},
    }


def multiplied(directory: Path, count: int) -> Path:
    """Let a directory hold so many logs: its own ones again and again under other names."""
    summary = json.loads((directory / "summary.json").read_text())
    with np.load(directory / "trajectories.npz") as file:
        arrays = dict(file)
    own = [str(name) for name in arrays["logs"]]
    names = [f"run_{i:03d}_{own[i % len(own)]}" for i in range(count)]
    copies: dict[str, Any] = {"logs": np.array(names)}
    for key, array in arrays.items():
        curve, _, index = key.rpartition("_")
        for i in range(int(index), count, len(own)) if curve else ():
            copies[f"{curve}_{i}"] = array
    np.savez_compressed(directory / "trajectories.npz", **copies)
    digest = hashlib.sha256((directory / "trajectories.npz").read_bytes()).hexdigest()
    origin = {name: own[i % len(own)] for i, name in enumerate(names)}
    for entry in summary["models"].values():
        entry["per_log"] = {name: entry["per_log"][origin[name]] for name in names}
    in_test = set(summary["split"]["test"])
    split = {
        "rule": summary["split"]["rule"],
        "train": [name for name in names if origin[name] not in in_test],
        "test": [name for name in names if origin[name] in in_test],
    }
    logs = {name: summary["logs"][origin[name]] for name in names}
    change = {"models": summary["models"], "split": split, "logs": logs, "trajectories_sha256": digest}
    edit_summary(directory, change)
    return directory
