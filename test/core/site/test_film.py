# SPDX-License-Identifier: Apache-2.0
"""The film of the bench: what the repository holds, and that its program draws both arms."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageSequence

from test.documented import ROOT
from test.missing import skip_or_fail

from site_pages import film  # isort: skip

FILM = ROOT / "docs" / "pictures" / "bench.gif"
DRAW = """
import os, sys
os.environ["MUJOCO_GL"] = "egl"
from itertools import islice
import numpy as np
from bam_core import PendulumBench, SynthesisSettings, load_servo, synthesize
from site_pages import film
servo = load_servo("mx106")
settings = SynthesisSettings(sample_period=0.01)
run = synthesize(servo, PendulumBench(mass=1.0, length=0.2), "lift_and_drop", 8.0, settings)
pictures = list(film.frames(run, {"right": servo, "sts3215": load_servo("sts3215")}))
np.savez(sys.argv[1], *map(np.asarray, pictures[::20]))
"""


def program(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code as a process: which OpenGL is used is decided when mujoco is imported."""
    path = os.pathsep.join([str(ROOT / "tools"), str(ROOT)])
    kept = {name: os.environ[name] for name in os.environ if name not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**kept, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


def test_the_film_of_the_repository_is_small_and_moves() -> None:
    assert FILM.stat().st_size < 1_000_000
    with Image.open(FILM) as opened:
        pictures = [np.asarray(each.convert("RGB")) for each in ImageSequence.Iterator(opened)]
        assert opened.info["loop"] == 0
    assert len(pictures) == round(6.0 / film.FRAME)
    assert all((one != other).any() for one, other in pairwise(pictures[:40]))


@pytest.mark.long
def test_both_arms_are_drawn(tmp_path: Path) -> None:
    done = program(DRAW, str(tmp_path / "frames.npz"))
    if "no OpenGL" in done.stderr:
        skip_or_fail(f"this machine cannot draw: {done.stderr}; apt install libegl1 libgl1-mesa-dri")
    assert done.returncode == 0, done.stderr
    pictures = list(np.load(tmp_path / "frames.npz").values())
    shape = (film.TITLE + film.SCENE + film.CURVE, 2 * film.WIDTH, 3)
    assert {each.shape for each in pictures} == {shape}
    scene = slice(film.TITLE, film.TITLE + film.SCENE)
    red, blue = pictures[-1][scene, : film.WIDTH].astype(int), pictures[-1][scene, film.WIDTH :].astype(int)
    assert (red[..., 0] - red[..., 2]).max() > 80
    assert (blue[..., 2] - blue[..., 0]).max() > 80


def test_a_film_has_the_same_colours_throughout() -> None:
    draw = np.random.default_rng(0)
    pictures = [Image.fromarray(draw.integers(0, 255, (24, 32, 3), dtype=np.uint8)) for _ in range(3)]
    content = film.gif(pictures)
    assert content.startswith(b"GIF89a")
    assert len(content) < 3 * 24 * 32 + 3 * film.COLORS + 2000


def test_without_opengl_the_film_stays_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "bench.gif"
    file.write_bytes(b"as it was")
    code = "import sys; from site_pages.film import main; sys.exit(main(sys.argv[1:]))"
    done = program(code, str(file), MUJOCO_GL="of no machine")
    assert done.returncode == 0, done.stderr
    assert "the film stays as it is" in done.stderr
    assert file.read_bytes() == b"as it was"
