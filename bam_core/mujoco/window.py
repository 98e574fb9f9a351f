# SPDX-License-Identifier: Apache-2.0
"""A run on the bench in MuJoCo's own viewer."""

from __future__ import annotations

import os
import sys
import time

from bam_core.errors import Unavailable
from bam_core.mujoco.picture import pose, scene
from bam_core.mujoco.replay import Replay
from bam_core.servo.pendulum import PendulumBench

_FRAME = 1.0 / 60.0  # s
_PAUSE = 1.0  # s between two showings


def require_screen() -> None:
    """Check that there is one, before the work; raises Unavailable."""
    if sys.platform.startswith("linux") and not {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ):
        raise Unavailable(
            "--view",
            "there is no screen (DISPLAY is not set)",
            advice="write a picture with --render instead",
        )


def show(run: Replay, bench: PendulumBench) -> None:
    """Show a run over and over, at its own speed, until the window is closed.

    Raises:
        BamError: there is no screen, or the viewer cannot open a window on it.
    """
    require_screen()
    import mujoco.viewer  # needs a screen from here on

    model = scene(bench)
    data = mujoco.MjData(model)
    length = float(run.time[-1] - run.time[0])
    try:
        window = mujoco.viewer.launch_passive(model, data)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise Unavailable(
            "--view", f"no window ({reason})", advice="write a picture with --render instead"
        ) from None
    with window:
        start = time.monotonic()
        while window.is_running():
            elapsed = min((time.monotonic() - start) % (length + _PAUSE), length)
            step = min(int(run.time.searchsorted(run.time[0] + elapsed)), len(run.time) - 1)
            with window.lock():
                goal = run.goal_position if run.torque_enabled[step] else run.position
                pose(model, data, float(run.position[step]), float(goal[step]))
            window.sync()
            time.sleep(_FRAME)
