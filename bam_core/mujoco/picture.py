# SPDX-License-Identifier: Apache-2.0
"""A run on the bench as a picture or a film, drawn by MuJoCo without a window."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from bam_core.files.atomic_file import write_bytes
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec
from bam_core.mujoco.film import (
    FILM_RATE,
    HEIGHT,
    WIDTH,
    Frame,
    add_sky,
    film,
    open_renderer,
    require_film,
)
from bam_core.mujoco.replay import Replay
from bam_core.mujoco.robot import compile_robot
from bam_core.servo.pendulum import PendulumBench

GHOST_JOINT = "ghost_joint"
"""Joint of the translucent arm that shows the goal."""
FORMATS = (".png", *FILM_RATE)
_MOMENTS, _COLUMNS = 8, 4  # of a single picture
_GHOST_ALPHA = 0.25
_FIELD_OF_VIEW = 45.0  # degrees, from top to bottom
_MARGIN = 1.2  # of what is seen around what moves


def scene(bench: PendulumBench) -> mujoco.MjModel:
    """Return the bench to look at: the arm on `joint`, its goal on `ghost_joint`, and a camera."""
    spec = bench_spec(bench)
    ghost = bench_spec(bench)
    for geom in ghost.geoms:
        geom.rgba[3] = _GHOST_ALPHA
    frame = spec.worldbody.add_frame()
    frame.attach_body(ghost.body("arm"), "ghost_", "")
    spec.visual.global_.offwidth, spec.visual.global_.offheight = WIDTH, HEIGHT
    spec.visual.headlight.ambient = [0.5, 0.5, 0.5]
    reach = max([bench.length, *(bench.length + geom.size[0] for geom in spec.geoms if geom.name == "load")])
    distance = _MARGIN * max(reach, 0.05) / math.tan(math.radians(_FIELD_OF_VIEW / 2.0))
    spec.worldbody.add_camera(
        name="front", pos=[distance, 0.0, 0.0], xyaxes=[0, 1, 0, 0, 0, 1], fovy=_FIELD_OF_VIEW
    )
    add_sky(spec)
    return compile_robot(spec)


def pose(model: mujoco.MjModel, data: mujoco.MjData, position: float, goal: float) -> None:
    """Turn arm and ghost to these angles, rad."""
    data.joint(BENCH_JOINT).qpos[0] = position
    data.joint(GHOST_JOINT).qpos[0] = goal
    mujoco.mj_forward(model, data)


class BenchCamera:
    """Draws one bench; to be used in a `with`.

    Raises:
        BamError: there is no OpenGL without a window on this machine.
    """

    def __init__(self, bench: PendulumBench) -> None:
        self._model = scene(bench)
        self._data = mujoco.MjData(self._model)
        self._renderer = open_renderer(self._model)

    def __enter__(self) -> BenchCamera:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._renderer.close()

    def shoot(self, position: float, goal: float) -> Frame:
        """Return the picture (height, width, 3) of one moment; angles in rad."""
        pose(self._model, self._data, position, goal)
        self._renderer.update_scene(self._data, camera="front")
        return self._renderer.render().copy()


def require_picture(path: str | os.PathLike[str]) -> None:
    """Check that a picture or film can be written, before the work; see `film.require_film`."""
    require_film(path, FORMATS)


def render(run: Replay, bench: PendulumBench, path: str | os.PathLike[str]) -> None:
    """Draw a run: .png is eight moments of it, .gif and .mp4 are films at its own speed.

    Raises:
        BamError: see `film.require_film` and `BenchCamera`.
    """
    path = Path(path)
    require_picture(path)
    with BenchCamera(bench) as camera:
        if path.suffix == ".png":
            moments = np.linspace(run.time[0], run.time[-1], _MOMENTS)
            frames = _frames(camera, run, moments)
            write_bytes(
                path, _sheet([_labelled(*labelled) for labelled in zip(frames, moments, strict=True)])
            )
            return
        frames = _frames(camera, run, np.arange(run.time[0], run.time[-1], 1.0 / FILM_RATE[path.suffix]))
        write_bytes(path, film(frames, path.suffix))


def _frames(camera: BenchCamera, run: Replay, times: NDArray[np.float64]) -> Iterator[Frame]:
    for time in times:
        step = min(int(np.searchsorted(run.time, time)), len(run.time) - 1)
        goal = run.goal_position[step] if run.torque_enabled[step] else run.position[step]
        yield camera.shoot(float(run.position[step]), float(goal))


def _labelled(frame: Frame, time: float) -> Frame:
    image = Image.fromarray(frame)
    ImageDraw.Draw(image).text((16, 12), f"{time:.2f} s", fill=(60, 60, 66), font_size=28)
    return np.asarray(image)


def _sheet(frames: list[Frame]) -> bytes:
    rows = [np.concatenate(frames[k : k + _COLUMNS], axis=1) for k in range(0, len(frames), _COLUMNS)]
    content = io.BytesIO()
    Image.fromarray(np.concatenate(rows, axis=0)).resize((WIDTH * 2, HEIGHT), Image.Resampling.LANCZOS).save(
        content, format="PNG"
    )
    return content.getvalue()
