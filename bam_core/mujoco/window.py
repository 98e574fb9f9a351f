# SPDX-License-Identifier: Apache-2.0
"""MuJoCo's own viewer: a run on the bench, or any model while it is simulated."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco

from bam_core.errors import Unavailable
from bam_core.mujoco.picture import pose, scene
from bam_core.mujoco.replay import Replay
from bam_core.servo.pendulum import PendulumBench

_FRAME = 1.0 / 60.0  # s
_PAUSE = 1.0  # s between two showings


_RENDER = "write a picture with --render instead"


def require_screen(advice: str = _RENDER) -> None:
    """Check that there is one, before the work; raises Unavailable with this advice."""
    if sys.platform.startswith("linux") and not {"DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ):
        raise Unavailable(
            "--view",
            "there is no screen (DISPLAY is not set)",
            advice=advice,
        )


@contextmanager
def _window(model: mujoco.MjModel, data: mujoco.MjData, advice: str = _RENDER) -> Iterator[Any]:
    """Open the viewer, which only shows what is in `data`; raises Unavailable."""
    import mujoco.viewer  # needs a screen from here on

    try:
        window = mujoco.viewer.launch_passive(model, data)
    except Exception as error:
        reason = " ".join(str(error).split())
        raise Unavailable("--view", f"no window ({reason})", advice=advice) from None
    with window:
        yield window


def show_live(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Simulate in real time until the window is closed; its sliders set the controls.

    Where the simulation is slower than real time, it goes on at its own speed.

    Raises:
        BamError: the viewer cannot open a window.
    """
    with _window(model, data, "simulate it behind ROS topics with the node 'simulator' instead") as window:
        while window.is_running():
            begin = time.monotonic()
            end = data.time + _FRAME
            with window.lock():
                while data.time < end and time.monotonic() < begin + _FRAME:
                    mujoco.mj_step(model, data)
            window.sync()
            time.sleep(max(_FRAME - (time.monotonic() - begin), 0.0))


def show(run: Replay, bench: PendulumBench) -> None:
    """Show a run over and over, at its own speed, until the window is closed.

    Raises:
        BamError: there is no screen, or the viewer cannot open a window on it.
    """
    require_screen()
    model = scene(bench)
    data = mujoco.MjData(model)
    length = float(run.time[-1] - run.time[0])
    with _window(model, data) as window:
        start = time.monotonic()
        while window.is_running():
            elapsed = min((time.monotonic() - start) % (length + _PAUSE), length)
            step = min(int(run.time.searchsorted(run.time[0] + elapsed)), len(run.time) - 1)
            with window.lock():
                goal = run.goal_position if run.torque_enabled[step] else run.position
                pose(model, data, float(run.position[step]), float(goal[step]))
            window.sync()
            time.sleep(_FRAME)
