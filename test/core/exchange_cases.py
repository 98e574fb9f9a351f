# SPDX-License-Identifier: Apache-2.0
"""Parameter files of BAM's authors."""

from __future__ import annotations

import json
from pathlib import Path

XL330_M4 = {
    "kt": 0.3861709980035537,
    "R": 3.402572641173151,
    "armature": 0.0018954552619850965,
    "q_offset": 0.02807245876562081,
    "friction_base": 0.008758627618365112,
    "friction_stribeck": 7.508873888400355e-17,
    "load_friction_base": 0.06803357334088644,
    "load_friction_stribeck": 0.07381180834784251,
    "dtheta_stribeck": 2.5577016869227474,
    "alpha": 0.7601158768377835,
    "friction_viscous": 0.004621034970462603,
    "model": "m4",
    "actuator": "xl330",
}
"""As published by BAM's authors."""

EROB80_100_M1 = {
    "kt": 7.657864604656686,
    "armature": 0.9589533917163041,
    "friction_base": 5.610965892410754,
    "friction_viscous": 8.392324354671375,
    "model": "m1",
    "actuator": "erob80_100",
}
"""Likewise; it has no R."""


def write(path: Path, data: object) -> Path:
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path
