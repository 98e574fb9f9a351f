# SPDX-License-Identifier: Apache-2.0
"""`pip install .`: the part that needs no ROS 2. Names and extras are in pyproject.toml.

MuJoCo's engine plugin is compiled into the wheel, against the MuJoCo that builds it. Its interface in C
changes with every release, so the wheel asks for just that one.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

from setuptools import Command, Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
NATIVE = HERE / "bam_core" / "mujoco" / "native"
LIBRARY = "libbam_servo.so"


def requirements() -> list[str]:
    """Return what requirements/core.in names, with the MuJoCo that is here."""
    lines = (HERE / "requirements" / "core.in").read_text(encoding="utf-8").splitlines()
    names = [line.partition("#")[0].strip() for line in lines]
    mujoco = f"mujoco=={version('mujoco')}" if find_spec("mujoco") else ""
    return [mujoco if mujoco and name.startswith("mujoco") else name for name in names if name]


def compile_plugin(target: Path) -> None:
    """Compile the engine plugin against the MuJoCo of this Python."""
    found = find_spec("mujoco")
    if found is None or not found.submodule_search_locations:
        raise SystemExit("setup.py: MuJoCo is not installed (expected mujoco>=3.12); pip install mujoco")
    # pip's isolated build finds the build requirements by PYTHONPATH: what is in it stays.
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-m", "bam_core.servo.plugin_build", str(target)]
    arguments = [found.submodule_search_locations[0], str(NATIVE)]
    if subprocess.run([*command, *arguments], check=False, env=environment).returncode:
        raise SystemExit("setup.py: the engine plugin was not built; see the line above")


class BuildWithPlugin(build_py):
    """Copies the packages and puts the plugin beside its Python code."""

    def run(self) -> None:
        super().run()
        here = HERE if self.editable_mode else Path(self.build_lib)
        compile_plugin(here / NATIVE.relative_to(HERE) / LIBRARY)


class PlatformWheel(bdist_wheel):
    """Any Python 3, but this platform: the plugin knows nothing of Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class WithLibrary(Distribution):
    """Tells setuptools that the package holds compiled code."""

    def has_ext_modules(self) -> bool:
        return True


commands: dict[str, type[Command]] = {"build_py": BuildWithPlugin, "bdist_wheel": PlatformWheel}
setup(install_requires=requirements(), cmdclass=commands, distclass=WithLibrary)
