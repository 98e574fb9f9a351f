# SPDX-License-Identifier: Apache-2.0
"""A run on the bench as a picture or a film, drawn by MuJoCo without a window."""

from __future__ import annotations

import contextlib
import io
import math
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from bam_core.atomic_file import require_file, write_bytes
from bam_core.errors import MissingSoftware, NotWritable, Unavailable
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec
from bam_core.mujoco.replay import Replay
from bam_core.mujoco.robot import compile_robot
from bam_core.servo.pendulum import PendulumBench

Frame = NDArray[np.uint8]

GHOST_JOINT = "ghost_joint"
"""Joint of the translucent arm that shows the goal."""
FORMATS = (".png", ".gif", ".mp4")
_WIDTH, _HEIGHT = 640, 480
_FILM_RATE = {".gif": 20.0, ".mp4": 50.0}  # frames per second; GIF knows hundredths of a second only
_MOMENTS, _COLUMNS = 8, 4  # of a single picture
_GHOST_ALPHA = 0.25
_FIELD_OF_VIEW = 45.0  # degrees, from top to bottom
_MARGIN = 1.2  # of what is seen around what moves
_NO_GL = "apt install libegl1 libgl1-mesa-dri, or libosmesa6 and set MUJOCO_GL=osmesa"


def scene(bench: PendulumBench) -> mujoco.MjModel:
    """Return the bench to look at: the arm on `joint`, its goal on `ghost_joint`, and a camera."""
    spec = bench_spec(bench)
    ghost = bench_spec(bench)
    for geom in ghost.geoms:
        geom.rgba[3] = _GHOST_ALPHA
    frame = spec.worldbody.add_frame()
    frame.attach_body(ghost.body("arm"), "ghost_", "")
    spec.visual.global_.offwidth, spec.visual.global_.offheight = _WIDTH, _HEIGHT
    spec.visual.headlight.ambient = [0.5, 0.5, 0.5]
    reach = max([bench.length, *(bench.length + geom.size[0] for geom in spec.geoms if geom.name == "load")])
    distance = _MARGIN * max(reach, 0.05) / math.tan(math.radians(_FIELD_OF_VIEW / 2.0))
    spec.worldbody.add_camera(
        name="front", pos=[distance, 0.0, 0.0], xyaxes=[0, 1, 0, 0, 0, 1], fovy=_FIELD_OF_VIEW
    )
    spec.add_texture(
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.95, 0.96, 0.98],
        rgb2=[0.75, 0.8, 0.87],
        width=64,
        height=384,
    )
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
        try:
            self._renderer = mujoco.Renderer(self._model, height=_HEIGHT, width=_WIDTH)
        except Exception as error:  # whatever the platform's OpenGL raises
            platform, reason = os.environ.get("MUJOCO_GL", "unset"), " ".join(str(error).split())
            raise MissingSoftware(
                "rendering",
                "OpenGL",
                problem=f"no OpenGL without a window (MUJOCO_GL={platform}: {reason})",
                advice=_NO_GL,
            ) from None

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
    """Check that a picture can be written, before the work.

    Raises:
        BamError: unknown format, a place that cannot be written, or mp4 where there is no ffmpeg.
    """
    path = Path(path)
    if path.suffix not in FORMATS:
        raise NotWritable(
            path, f"'{path.suffix}' is no format for this", expected=", ".join(FORMATS), advice="rename it"
        )
    require_file(path)
    if path.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise MissingSoftware(
            str(path),
            "ffmpeg",
            problem="mp4 needs the program ffmpeg",
            advice="apt install ffmpeg, or write a .gif",
        )


def render(run: Replay, bench: PendulumBench, path: str | os.PathLike[str]) -> None:
    """Draw a run: .png is eight moments of it, .gif and .mp4 are films at its own speed.

    Raises:
        BamError: see `require_picture` and `BenchCamera`.
    """
    path = Path(path)
    require_picture(path)
    with BenchCamera(bench) as camera:
        if path.suffix == ".png":
            moments = np.linspace(run.time[0], run.time[-1], _MOMENTS)
            frames = _frames(camera, run, moments)
            write_bytes(path, _sheet([_labelled(*each) for each in zip(frames, moments, strict=True)]))
            return
        rate = _FILM_RATE[path.suffix]
        frames = _frames(camera, run, np.arange(run.time[0], run.time[-1], 1.0 / rate))
        write_bytes(path, (_gif if path.suffix == ".gif" else _mp4)(frames, rate))


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
    Image.fromarray(np.concatenate(rows, axis=0)).resize(
        (_WIDTH * 2, _HEIGHT), Image.Resampling.LANCZOS
    ).save(content, format="PNG")
    return content.getvalue()


def _gif(frames: Iterator[Frame], rate: float) -> bytes:
    images = [Image.fromarray(frame).resize((_WIDTH // 2, _HEIGHT // 2)) for frame in frames]
    content = io.BytesIO()
    images[0].save(
        content, format="GIF", save_all=True, append_images=images[1:], duration=1000.0 / rate, loop=0
    )
    return content.getvalue()


def _mp4(frames: Iterator[Frame], rate: float) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        film = Path(directory) / "film.mp4"
        command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
        command += ["-s", f"{_WIDTH}x{_HEIGHT}", "-r", f"{rate:g}", "-i", "-"]
        command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", str(film)]
        with tempfile.TemporaryFile() as said:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=said, stderr=said)
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
                for frame in frames:
                    pipe.write(frame.tobytes())
            status = process.wait()
            said.seek(0)
            reason = " ".join(said.read().decode(errors="replace").split())
        if status != 0:
            raise Unavailable(
                "ffmpeg", f"failed ({reason or f'status {status}'})", advice="write a .gif instead"
            )
        return film.read_bytes()
