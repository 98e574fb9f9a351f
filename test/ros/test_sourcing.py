# SPDX-License-Identifier: Apache-2.0
"""`make setup`: which ROS 2 it chooses, and that shells may source what it has built."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PREFIX = Path("install") / "bam_bench"
SCRIPTS = ("local_setup.bash", "local_setup.sh", "local_setup.zsh", "setup.bash", "setup.sh", "setup.zsh")
CLEAN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that setup.sh cannot build: it ends where it has chosen a ROS 2."""
    root = tmp_path / "checkout"
    (root / PREFIX).mkdir(parents=True)
    shutil.copytree(ROOT / "tools", root / "tools")
    return root


@pytest.fixture
def ros(tmp_path: Path) -> Path:
    """A ROS 2 that can be sourced."""
    prefix = tmp_path / "ros" / "jazzy"
    prefix.mkdir(parents=True)
    return prefix


def chosen(checkout: Path, *prefixes: Path, distribution: str = "jazzy") -> bool:
    """Return whether a ROS 2 counts as sourced in a shell with these prefixes."""
    ament = {"AMENT_PREFIX_PATH": ":".join(map(str, prefixes)), "ROS_DISTRO": distribution}
    program = f'. {ROOT}/tools/sourced_ros.sh; ros_is_sourced "{checkout}"'
    return subprocess.run(["bash", "-uc", program], env={**CLEAN, **ament}).returncode == 0


def test_a_sourced_ros_is_used_whatever_overlay_comes_first(checkout: Path, ros: Path) -> None:
    own, other = checkout / PREFIX, ros.parent / "overlay"
    other.mkdir()
    for prefixes in ([ros], [own, ros], [other, own, ros], [ros, own], [ros / "gone", ros]):
        assert chosen(checkout, *prefixes), prefixes


def test_without_a_ros_wheels_are_used(checkout: Path, ros: Path) -> None:
    own = checkout / PREFIX
    for prefixes in ([], [own], [ros / "gone"]):
        assert not chosen(checkout, *prefixes), prefixes
    assert not chosen(checkout, own, ros, distribution="")


def test_setup_uses_the_ros_below_its_own_overlay(checkout: Path, ros: Path) -> None:
    ament = {"AMENT_PREFIX_PATH": f"{checkout / PREFIX}:{ros}", "ROS_DISTRO": "jazzy"}
    program = [checkout / "tools" / "setup.sh"]
    ended = subprocess.run(program, env={**os.environ, **ament}, capture_output=True, text=True)
    assert ended.returncode != 0  # this checkout has nothing to build
    (line,) = re.findall(r'say "(.*\(\$ROS_DISTRO\))"', program[0].read_text())
    assert line.replace("$ROS_DISTRO", "jazzy") in ended.stdout


def test_the_build_does_not_see_what_it_replaces(checkout: Path, ros: Path) -> None:
    lists = {
        "AMENT_PREFIX_PATH": f"{checkout / PREFIX}:{ros}",
        "CMAKE_PREFIX_PATH": f"{ros}:{checkout / PREFIX}",
        "COLCON_PREFIX_PATH": f"{checkout / 'install'}",
    }
    program = f'. {ROOT}/tools/sourced_ros.sh; leave_out_own_overlay "{checkout}"; env'
    shell = ["bash", "-euc", program]
    output = subprocess.run(shell, env={**CLEAN, **lists}, capture_output=True, text=True, check=True).stdout
    left = dict(line.split("=", 1) for line in output.splitlines() if "PREFIX_PATH=" in line)
    assert left == {"AMENT_PREFIX_PATH": str(ros), "CMAKE_PREFIX_PATH": str(ros)}


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A copy of the installed scripts as colcon wrote them, in an environment that `link_venv` has linked."""
    install = tmp_path / "install"
    if not (ROOT / "install" / "setup.bash").is_file():
        pytest.fail("install/setup.bash is missing; run `make setup`")
    for name in SCRIPTS:
        text = (ROOT / "install" / name).read_text()
        python = f'_colcon_python_executable="{tmp_path}/.venv/bin/python"'
        (install / name).parent.mkdir(exist_ok=True)
        (install / name).write_text(re.sub(r'_colcon_python_executable="/[^"]*"', python, text))
    shutil.copy(ROOT / "install" / "_local_setup_util_sh.py", install)
    shutil.copytree(ROOT / PREFIX / "share", tmp_path / PREFIX / "share")
    venv.create(tmp_path / ".venv", symlinks=True)
    link = runpy.run_path(str(ROOT / "tools" / "link_venv.py"))
    (site_packages,) = (tmp_path / ".venv").glob("lib/python3*/site-packages")
    link["write_paths"](site_packages, [], [tmp_path / PREFIX])
    link["use_base_python"](install, tmp_path / ".venv")
    return install


@pytest.mark.parametrize("shell", ["bash", "sh"])
def test_a_shell_that_sources_the_build_finds_the_package(shell: str, installed: Path) -> None:
    where = {"COLCON_CURRENT_PREFIX": str(installed)} if shell == "sh" else {}  # sh does not know its script
    command = [shell, "-c", f'. "{installed}/setup.{shell}"; env']
    output = subprocess.run(
        command, env={**CLEAN, **where}, capture_output=True, text=True, check=True
    ).stdout
    after = dict(line.split("=", 1) for line in output.splitlines() if "=" in line)
    prefix = installed / "bam_bench"
    assert after["AMENT_PREFIX_PATH"] == str(prefix)
    assert after["LD_LIBRARY_PATH"] == str(prefix / "lib")


def test_an_underlay_stays_sourced(installed: Path, tmp_path: Path) -> None:
    command = ["bash", "-c", f'. "{installed}/setup.bash"; echo "$AMENT_PREFIX_PATH"']
    before = {**CLEAN, "AMENT_PREFIX_PATH": str(tmp_path / "ros")}
    output = subprocess.run(command, env=before, capture_output=True, text=True, check=True).stdout
    assert output.strip() == f"{installed / 'bam_bench'}:{tmp_path / 'ros'}"
