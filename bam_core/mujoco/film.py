# SPDX-License-Identifier: Apache-2.0
"""Films that MuJoCo draws without a window: what those of a bench and of a whole robot share."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import mujoco
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from bam_core.errors import MissingSoftware, NotWritable, Unavailable
from bam_core.files.atomic_file import require_file

Frame = NDArray[np.uint8]
"""(HEIGHT, WIDTH, 3)"""

WIDTH, HEIGHT = 640, 480
FILM_RATE = {".gif": 20.0, ".mp4": 50.0}
"""Format -> frames per second; GIF knows hundredths of a second only."""

_NO_GL = "apt install libegl1 libgl1-mesa-dri, or libosmesa6 and set MUJOCO_GL=osmesa"


def add_sky(spec: mujoco.MjSpec) -> None:
    """Put a light background behind what is drawn, in place."""
    spec.add_texture(
        type=mujoco.mjtTexture.mjTEXTURE_SKYBOX,
        builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=[0.95, 0.96, 0.98],
        rgb2=[0.75, 0.8, 0.87],
        width=64,
        height=384,
    )


def open_renderer(model: mujoco.MjModel) -> mujoco.Renderer:
    """Return what draws a model, to be closed.

    Raises:
        BamError: there is no OpenGL without a window on this machine.
    """
    try:
        return mujoco.Renderer(model, height=HEIGHT, width=WIDTH)
    except Exception as error:  # whatever the platform's OpenGL raises
        platform, reason = os.environ.get("MUJOCO_GL", "unset"), " ".join(str(error).split())
        raise MissingSoftware(
            "rendering",
            "OpenGL",
            problem=f"no OpenGL without a window (MUJOCO_GL={platform}: {reason})",
            advice=_NO_GL,
        ) from None


def require_film(path: str | os.PathLike[str], formats: Sequence[str] = tuple(FILM_RATE)) -> None:
    """Check that a film, or a picture, can be written, before the work.

    Raises:
        BamError: unknown format, a place that cannot be written, or mp4 where there is no ffmpeg.
    """
    path = Path(path)
    if path.suffix not in formats:
        raise NotWritable(
            path, f"'{path.suffix}' is no format for this", expected=", ".join(formats), advice="rename it"
        )
    require_file(path)
    if path.suffix == ".mp4" and shutil.which("ffmpeg") is None:
        raise MissingSoftware(
            str(path),
            "ffmpeg",
            problem="mp4 needs the program ffmpeg",
            advice="apt install ffmpeg, or write a .gif",
        )


def film(frames: Iterable[Frame], suffix: str) -> bytes:
    """Return the content of a film's file, at its format's rate; raises BamError where ffmpeg fails."""
    rate = FILM_RATE[suffix]
    return (_gif if suffix == ".gif" else _mp4)(iter(frames), rate)


def _gif(frames: Iterator[Frame], rate: float) -> bytes:
    images = [Image.fromarray(frame).resize((WIDTH // 2, HEIGHT // 2)) for frame in frames]
    content = io.BytesIO()
    images[0].save(
        content, format="GIF", save_all=True, append_images=images[1:], duration=1000.0 / rate, loop=0
    )
    return content.getvalue()


def _mp4(frames: Iterator[Frame], rate: float) -> bytes:
    with tempfile.TemporaryDirectory() as directory:
        film = Path(directory) / "film.mp4"
        command = ["ffmpeg", "-loglevel", "error", "-y", "-f", "rawvideo", "-pix_fmt", "rgb24"]
        command += ["-s", f"{WIDTH}x{HEIGHT}", "-r", f"{rate:g}", "-i", "-"]
        command += ["-pix_fmt", "yuv420p", "-movflags", "+faststart", str(film)]
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=output, stderr=output)
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError), process.stdin as pipe:
                for frame in frames:
                    pipe.write(frame.tobytes())
            status = process.wait()
            output.seek(0)
            reason = " ".join(output.read().decode(errors="replace").split())
        if status != 0:
            raise Unavailable(
                "ffmpeg", f"failed ({reason or f'status {status}'})", advice="write a .gif instead"
            )
        return film.read_bytes()
