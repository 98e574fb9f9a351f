# SPDX-License-Identifier: Apache-2.0
"""`bam simulate --render` draws the arm where it was; `--view` shows it; both say what a machine lacks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from PIL import Image, ImageSequence

from bam_core.cli import main
from bam_core.errors import MissingSoftware, NotWritable, Unavailable
from bam_core.mujoco import Replay, window
from bam_core.mujoco.film import _mp4
from bam_core.mujoco.picture import pose, require_picture, scene
from bam_core.servo.pendulum import PendulumBench
from test.core.refusals import refused
from test.missing import skip_or_fail

SIMULATE = ("simulate", "--servo", "mx106", "--script", "lift_and_drop", "--dt", "0.002", "--render")
BENCH = PendulumBench(mass=0.5, length=0.15)


FILM = """
import os, sys
os.environ["MUJOCO_GL"] = "egl"
import numpy as np
from bam_core.mujoco import Replay
from bam_core.mujoco.picture import render
from bam_core.servo.pendulum import PendulumBench
time = np.arange(1001) * 1e-3
still = np.zeros_like(time)
run = Replay(time=time, position=np.sin(6.0 * time), velocity=still, goal_position=still,
             torque_enabled=np.ones(1001, dtype=bool), duty=still, motor_torque=still, friction_torque=still)
render(run, PendulumBench(mass=0.5, length=0.15), sys.argv[1])
"""


def python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run code as a process: which OpenGL is used is decided when mujoco is imported."""
    kept = {name: os.environ[name] for name in os.environ if name not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if "MUJOCO_GL" not in environment and "no OpenGL" in done.stderr:
        skip_or_fail(f"this machine cannot draw: {done.stderr}; apt install libegl1 libgl1-mesa-dri")
    return done


def bam(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return python("import sys; from bam_core.cli import main; sys.exit(main())", *arguments, **environment)


def brass(picture: np.ndarray) -> np.ndarray:
    """Where the load is: yellow of full strength."""
    red, green, blue = (picture[..., i].astype(int) for i in range(3))
    return (red - blue > 110) & (green > 80)


@pytest.mark.long
def test_a_picture_shows_the_arm_at_eight_moments(tmp_path: Path) -> None:
    done = bam(*SIMULATE, str(tmp_path / "run.png"))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith(f"wrote {tmp_path / 'run.png'}\n")
    sheet = np.asarray(Image.open(tmp_path / "run.png").convert("RGB"))
    assert sheet.shape == (480, 1280, 3)
    tiles = sheet.reshape(2, 240, 4, 320, 3).swapaxes(1, 2).reshape(8, 240, 320, 3)
    loads = [np.argwhere(brass(tile)).mean(axis=0) for tile in tiles]
    assert loads[0][0] > 160  # hangs below the axis at first
    assert min(load[1] for load in loads) < 110  # is lifted to the left, where angles are negative


@pytest.mark.parametrize(("mass", "length"), [(0.5, 0.15), (0.5, 0.1), (2.0, 0.08), (5.0, 0.5)])
def test_the_load_fits_into_the_picture_at_any_angle(mass: float, length: float) -> None:
    model = scene(PendulumBench(mass=mass, length=length))
    camera, load = model.camera("front"), model.geom("load")
    distance, radius = camera.pos[0] - load.pos[0], load.size[0]
    edge = np.arctan2(length, distance) + np.arcsin(radius / np.hypot(length, distance))
    assert 0.7 < edge / np.radians(0.5 * camera.fovy[0]) < 0.95


@pytest.mark.long
def test_a_film_has_the_length_of_the_run(tmp_path: Path) -> None:
    done = python(FILM, str(tmp_path / "run.gif"))
    assert done.returncode == 0, done.stderr
    film = Image.open(tmp_path / "run.gif")
    frames = ImageSequence.Iterator(film)  # such that show the same are one, which lasts longer
    assert sum(frame.info["duration"] for frame in frames) == pytest.approx(1000, abs=60)
    assert film.n_frames > 10


@pytest.fixture
def ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put a shell script in the place of ffmpeg; it finds the film's name in `$last`."""

    def install(script: str) -> None:
        program = tmp_path / "bin" / "ffmpeg"
        program.parent.mkdir()
        program.write_text(f"#!/bin/sh\nfor last; do :; done\n{script}\n")
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")

    return install


FRAMES = [np.full((480, 640, 3), k, dtype=np.uint8) for k in range(5)]


def test_an_mp4_is_made_by_ffmpeg(ffmpeg: Callable[[str], None], tmp_path: Path) -> None:
    ffmpeg('wc -c > "$last"')
    require_picture(tmp_path / "run.mp4")
    assert int(_mp4(iter(FRAMES), 50.0)) == 5 * 480 * 640 * 3


def test_a_failure_of_ffmpeg_is_told(ffmpeg: Callable[[str], None]) -> None:
    ffmpeg("cat > /dev/null; echo no codec >&2; exit 1")
    with refused(Unavailable, thing="ffmpeg") as caught:
        _mp4(iter(FRAMES), 50.0)
    assert "no codec" in caught.value.problem


def test_a_machine_without_opengl_is_told_what_to_install(tmp_path: Path) -> None:
    done = bam(*SIMULATE, str(tmp_path / "run.png"), MUJOCO_GL="osmesa", PYOPENGL_PLATFORM="osmesa")
    if done.returncode == 0:
        pytest.skip("libosmesa6 is installed here")
    assert done.returncode == 2
    assert done.stderr.startswith("bam simulate: --render: no OpenGL for MUJOCO_GL=osmesa")
    assert "libosmesa6" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("run.jpeg", NotWritable),
        ("nowhere/run.png", NotWritable),
        ("run.mp4", MissingSoftware),
    ],
)
def test_what_cannot_be_written_is_refused_first(
    name: str, kind: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with refused(kind):
        require_picture(tmp_path / name)


def test_the_scene_turns_arm_and_goal_on_one_axis() -> None:
    model = scene(BENCH)
    data = mujoco.MjData(model)
    pose(model, data, 0.5 * np.pi, -0.5 * np.pi)
    np.testing.assert_allclose(data.geom("load").xpos[1:], (0.15, 0.0), atol=1e-9)
    np.testing.assert_allclose(data.geom("ghost_load").xpos[1:], (-0.15, 0.0), atol=1e-9)
    assert model.geom("ghost_load").rgba[3] < 0.5 < model.geom("load").rgba[3]


def test_without_a_screen_the_viewer_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert main([*SIMULATE[:-1], "--view"]) == 2
    assert "--view: there is no screen (DISPLAY is not set)" in capsys.readouterr().err


class FakeWindow:
    """A viewer that is closed after some pictures, and remembers them."""

    def __init__(self, data: mujoco.MjData) -> None:
        self.data, self.seen = data, []

    def __enter__(self) -> FakeWindow:
        return self

    def __exit__(self, *error: object) -> None:
        self.seen.append("closed")

    def is_running(self) -> bool:
        return len(self.seen) < 20

    def lock(self) -> nullcontext[None]:
        return nullcontext()

    def sync(self) -> None:
        self.seen.append(float(self.data.joint("joint").qpos[0]))


def test_the_viewer_shows_the_run_at_its_own_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    import mujoco.viewer

    now = [0.0]
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda span: now.__setitem__(0, now[0] + span))
    windows: list[FakeWindow] = []

    def launch(model: mujoco.MjModel, data: mujoco.MjData) -> FakeWindow:
        windows.append(FakeWindow(data))
        return windows[-1]

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(mujoco.viewer, "launch_passive", launch)
    monkeypatch.setattr(window, "time", clock)
    time = np.arange(1001) * 1e-3
    nothing = np.zeros_like(time)
    run = Replay(
        time=time,
        position=2.0 * time,
        velocity=nothing,
        goal_position=nothing,
        torque_enabled=np.ones(len(time), dtype=bool),
        duty=nothing,
        motor_torque=nothing,
        friction_torque=nothing,
    )
    window.show(run, BENCH)
    *positions, end = windows[0].seen
    assert end == "closed"
    assert positions == pytest.approx([2.0 * k / 60.0 for k in range(20)], abs=2.1e-3)
