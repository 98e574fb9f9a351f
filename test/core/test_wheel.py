# SPDX-License-Identifier: Apache-2.0
"""The wheel in a fresh virtual environment without ROS: identify, simulate with the engine plugin, report."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from test.core.identification_cases import mx106, record, write_log

ROOT = Path(__file__).parents[2]
WITHIN = 900.0  # s; installing takes a minute, or several on a busy machine or line

SOURCES = ("bam_core", "requirements", "pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE")

SWING = """
import mujoco
from bam_core import NativeServo, actuate, equip, equip_native
from bam_core.mujoco.native import plugin_path

arm = '''<mujoco><worldbody><body><joint name="j" axis="0 1 0"/>
  <geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.2" mass="0.3"/></body></worldbody></mujoco>'''
spec = mujoco.MjSpec.from_string(arm)
equip_native(spec, {"j": NativeServo(servo="mx106")})
model = spec.compile()
data = mujoco.MjData(model)
data.ctrl[:] = 0.5
while data.time < 2.0:
    mujoco.mj_step(model, data)

spec = mujoco.MjSpec.from_string(arm)
equip(spec, {"j": "mx106"})
model = spec.compile()
servos = actuate(model, mujoco.MjData(model), {"j": "mx106"})
servos.torque_enabled[:], servos.goal_position[:] = 1.0, 0.5
while servos.data.time < 2.0:
    servos.step()
print(plugin_path())
print(float(data.qpos[0]), float(servos.position[0]))
"""


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command that knows nothing of this environment; return what it printed."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "AMENT"))
    }
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, capture_output=True, text=True, timeout=WITHIN
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_only_the_product_is_installed() -> None:
    (installed,) = (ROOT / "install" / "bam_bench" / "lib").glob("python3*/site-packages")
    names = {each.name for each in installed.iterdir() if each.suffix not in (".egg-info", ".dist-info")}
    assert names == {"bam_bench", "bam_core", "bam_ros"}


@pytest.mark.long
def test_a_wheel_works_where_nothing_else_is(tmp_path: Path) -> None:
    source, home = tmp_path / "source", tmp_path / "home"
    source.mkdir()
    home.mkdir()
    for name in SOURCES:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, source / name)
    wheels = tmp_path / "wheels"
    run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        ".",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        wheels,
        cwd=source,
    )
    (wheel,) = wheels.iterdir()
    assert wheel.name.startswith("bam_bench-")
    assert "-py3-none-linux_" in wheel.name
    assert wheel.stat().st_size < 2e6

    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv" / "bin"
    constraints = ROOT / "requirements" / "lock.txt"
    run(programs / "pip", "install", "-q", wheel, "-c", constraints, cwd=home)
    for script, kp in (("sin_sin", 8.0), ("sin_time_square", 16.0), ("up_and_down", 32.0)):
        write_log(record(mx106("m1"), script, kp), home / f"{script}_{kp:g}.json")
    bam = programs / "bam"
    run(
        bam,
        "identify",
        ".",
        "--servo",
        "mx106",
        "--models",
        "m1",
        "--trials",
        "60",
        "--output",
        "out",
        cwd=home,
    )
    run(bam, "report", "out", cwd=home)
    assert "<html" in (home / "out" / "report.html").read_text()
    where, positions = run(programs / "python", "-c", SWING, cwd=home).splitlines()
    assert Path(where).is_relative_to(tmp_path / "venv")
    native, python = map(float, positions.split())
    assert native == pytest.approx(0.5, abs=0.2)
    assert python == pytest.approx(native, abs=1e-9)
