# SPDX-License-Identifier: Apache-2.0
"""OpenGL without a window, for options that draw."""

from __future__ import annotations

import os

from bam_core.errors import MissingSoftware


def require_opengl(option: str) -> None:
    """Choose EGL where nothing else is chosen, and check that it is there; before mujoco is imported.

    Raises:
        MissingSoftware: it is not; mujoco could not even be imported.
    """
    os.environ.setdefault("MUJOCO_GL", "egl")  # read when mujoco is imported, which is from here on
    try:
        import mujoco  # noqa: F401
    except Exception as error:
        reason = " ".join(str(error).split())
        raise MissingSoftware(
            option,
            "OpenGL",
            problem=f"no OpenGL for MUJOCO_GL={os.environ['MUJOCO_GL']} ({reason})",
            advice="unset it and apt install libegl1 libgl1-mesa-dri, or apt install libosmesa6 and set "
            "MUJOCO_GL=osmesa",
        ) from None
