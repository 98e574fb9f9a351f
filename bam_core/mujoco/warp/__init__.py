# SPDX-License-Identifier: Apache-2.0
"""Servos in MuJoCo Warp: many worlds at once, on a GPU or the CPU (`pip install "bam_bench[warp]"`).

Put servos on a description with `equip_warp`, compile it, make Warp's model and data of it, and give both to
`WarpServos`; `mujoco_warp.step` then does it all.
"""

from __future__ import annotations

from bam_core.errors import MissingSoftware

try:
    from bam_core.mujoco.warp.equip import equip_warp
    from bam_core.mujoco.warp.servos import WarpServos
except ModuleNotFoundError as error:
    if (error.name or "").split(".")[0] not in ("warp", "mujoco_warp"):
        raise
    raise MissingSoftware(
        "bam_core.mujoco.warp",
        "mujoco-warp",
        problem=f"no module {error.name}",
        advice='pip install "bam_bench[warp]"',
    ) from None

__all__ = ["WarpServos", "equip_warp"]
