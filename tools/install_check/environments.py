# SPDX-License-Identifier: Apache-2.0
"""Clean virtual environments of pip and of uv, and what is installed into them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from install_packages import PIP, pip_settings, uv_environment

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 1800.0
"""s; of one command, an installation included: a busy machine or a slow line takes many minutes."""
_FOREIGN = ("PYTHON", "AMENT", "CMAKE", "COLCON", "ROS", "LD_LIBRARY", "VIRTUAL_ENV", "CONDA", "NUMBA")
"""Beginnings of variables that would let a clean environment see another one."""


class CommandError(Exception):
    """A command that should have worked did not; the text has its last lines."""


def run(command: Sequence[str | Path] | str, cwd: Path, environment: Mapping[str, str] | None = None) -> str:
    """Run a command, a text by bash; return what it printed.

    Raises:
        CommandError: it failed, or took longer than `TIMEOUT`.
    """
    words = ["bash", "-c", command] if isinstance(command, str) else list(map(str, command))
    try:
        done = subprocess.run(
            words,
            cwd=cwd,
            env=dict(environment if environment is not None else clean_variables()),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=TIMEOUT,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise CommandError(f"took longer than {TIMEOUT:g} s") from None
    if done.returncode != 0:
        last = "\n".join(f"    {line}" for line in done.stdout.splitlines()[-15:])
        raise CommandError(f"exit status {done.returncode}\n{last}")
    return done.stdout


def clean_variables() -> dict[str, str]:
    """Return the variables of this process without those of other Python environments and ROS."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_FOREIGN)}


@dataclass(frozen=True)
class Environment:
    """A virtual environment that holds nothing yet but its installer.

    Attributes:
        directory: of the environment.
        tool: "pip" or "uv".
    """

    directory: Path
    tool: str

    @classmethod
    def make(cls, directory: Path, tool: str) -> Environment:
        """Make one with the Python that runs this."""
        made = cls(directory, tool)
        base = Path(sys.base_prefix) / "bin" / f"python{sys.version_info.major}.{sys.version_info.minor}"
        command = [base, "-m", "venv"] if tool == "pip" else [_uv(), "venv", "--quiet", "--python", base]
        run([*command, directory], directory.parent, made.variables)
        return made

    @property
    def variables(self) -> dict[str, str]:
        """Variables of a shell in which it is activated; uv's settings are those of pip."""
        result = {**clean_variables(), "VIRTUAL_ENV": str(self.directory)}
        result["PATH"] = f"{self.directory / 'bin'}:{_uv().parent}:{result['PATH']}"
        if self.tool == "uv":
            listed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=False)
            result = uv_environment(pip_settings(listed.stdout), result)
        return result

    def install(self, what: str, cwd: Path) -> None:
        """Install a package, by a command as a reader types it."""
        install = "pip install --quiet" if self.tool == "pip" else "uv pip install --quiet"
        run(f"{install} {what}", cwd, self.variables)


def _uv() -> Path:
    result = Path(sys.prefix) / "bin" / "uv"
    if not result.is_file():
        raise CommandError(f"{result}: does not exist; run 'make dev'")
    return result


def copy_sources(target: Path) -> None:
    """Copy the files that git tracks, as they are now: a build leaves nothing behind in the working tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


def build(source: Path, target: Path) -> tuple[Path, Path]:
    """Build wheel and sdist in an isolated environment, the wheel from the sdist; return their paths."""
    variables = Environment(Path(sys.prefix), "uv").variables
    run(
        [_uv(), "build", "--quiet", "--python", sys.executable, "--out-dir", target, source],
        source,
        variables,
    )
    (wheel,) = target.glob("*.whl")
    (sdist,) = target.glob("*.tar.gz")
    names = {name.partition("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    if others := {name for name in names if not name.endswith(".dist-info")} - {"bam_core"}:
        raise CommandError(f"{wheel.name}: contains {', '.join(sorted(others))} (expected bam_core alone)")
    return wheel, sdist
