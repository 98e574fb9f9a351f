# SPDX-License-Identifier: Apache-2.0
"""A log in BAM's JSON form, whole or changed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def log(**changes: Any) -> dict[str, Any]:
    entries = [
        {
            "position": 0.1 * k,
            "speed": 1.0,
            "load": 885 if k % 2 else 65536 - 885,
            "input_volts": 7.3,
            "temp": 29,
            "timestamp": 0.004 + 0.005 * k,
            "goal_position": 0.11 * k,
            "torque_enable": k < 30,
        }
        for k in range(60)
    ]
    whole = {
        "mass": 0.49,
        "length": 0.1,
        "kp": 100,
        "vin": 7.4,
        "motor": "xl330",
        "trajectory": "sin_sin",
        "entries": entries,
    }
    return whole | changes


def save(tmp_path: Path, content: Any) -> Path:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(content))
    return path
