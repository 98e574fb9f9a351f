# SPDX-License-Identifier: Apache-2.0
"""The engine plugin is compiled for the MuJoCo that is named; another one is told in one line."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from bam_core.errors import Malformed, MissingSoftware, Unreadable
from bam_core.servo.plugin_build import MujocoFiles, built_for, comparable, compile_plugin, version_text
from test.core.refusals import refused

SOURCES = Path(__file__).parents[3] / "bam_core" / "mujoco" / "native"


def mujoco_at(place: Path, version: int = 3011000, library: str = "libmujoco.so.3.11.0") -> Path:
    """Make a directory that looks like a MuJoCo."""
    header = place / "include" / "mujoco" / "mujoco.h"
    header.parent.mkdir(parents=True)
    header.write_text(f"// version of the header file\n#define mjVERSION_HEADER {version}\n")
    (place / library).parent.mkdir(exist_ok=True)
    (place / library).touch()
    return place


@pytest.mark.parametrize(
    ("below", "library"),
    [
        ("", "libmujoco.so.3.11.0"),  # the Python package
        ("mujoco", "libmujoco.so.3.11.0"),  # site-packages
        ("lib/python3.12/site-packages/mujoco", "libmujoco.so.3.11.0"),  # a virtual environment
        ("", "lib/libmujoco.so"),  # an archive
        ("opt/mujoco_vendor", "lib/libmujoco.so"),  # /opt/ros/DISTRIBUTION
        ("mujoco_vendor/opt/mujoco_vendor", "lib/libmujoco.so"),  # colcon's install
    ],
)
def test_a_mujoco_is_found_where_its_packages_put_it(below: str, library: str, tmp_path: Path) -> None:
    place = mujoco_at(tmp_path / below, library=library)
    found = MujocoFiles.find(tmp_path)
    assert (found.include, found.library, found.version) == (place / "include", place / library, 3011000)


@pytest.mark.parametrize(("number", "told"), [(340, "3.4.0"), (3008001, "3.8.1"), (4000000, "4.0.0")])
def test_versions_are_read_as_old_and_new_headers_write_them(number: int, told: str, tmp_path: Path) -> None:
    assert version_text(comparable(number)) == told
    assert version_text(MujocoFiles.find(mujoco_at(tmp_path, number)).version) == told


def test_a_mujoco_that_is_too_old_is_refused(tmp_path: Path) -> None:
    mujoco_at(tmp_path, 337)
    with refused(Malformed, path=str(tmp_path / "include/mujoco/mujoco.h")):
        MujocoFiles.find(tmp_path)


def test_a_place_without_mujoco_is_refused(tmp_path: Path) -> None:
    with refused(Unreadable, path=str(tmp_path)):
        MujocoFiles.find(tmp_path)


@pytest.mark.parametrize("compiler", ["/nowhere/c++", "false"])
def test_without_a_compiler_that_works_nothing_is_written(
    compiler: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CXX", compiler)
    files = MujocoFiles.find(mujoco_at(tmp_path / "mujoco"))
    with refused(MissingSoftware, software=compiler):
        compile_plugin(tmp_path / "plugin.so", files, SOURCES)
    assert not (tmp_path / "plugin.so").exists()


def test_what_a_compiler_says_first_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler = tmp_path / "compiler"
    compiler.write_text(
        "#!/bin/sh\necho 'In file included from x' >&2\necho 'x.h:3: error: gone' >&2\nexit 1\n"
    )
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    files = MujocoFiles.find(mujoco_at(tmp_path / "mujoco"))
    with refused(MissingSoftware) as caught:
        compile_plugin(tmp_path / "plugin.so", files, SOURCES)
    assert "x.h:3: error: gone" in str(caught.value)


@pytest.mark.long
def test_a_program_with_another_mujoco_is_told_and_does_not_get_the_plugin(tmp_path: Path) -> None:
    found = find_spec("mujoco")
    assert found is not None
    assert found.submodule_search_locations
    own = MujocoFiles.find(Path(found.submodule_search_locations[0]))
    header = tmp_path / "include" / "mujoco" / "mujoco.h"  # of this MuJoCo, with the number of another
    header.parent.mkdir(parents=True)
    renumbered = "#undef mjVERSION_HEADER\n#define mjVERSION_HEADER 3004000\n"
    header.write_text(f'#include "{own.include}/mujoco/mujoco.h"\n{renumbered}')
    for each in (own.include / "mujoco").iterdir():
        if each.name != header.name:
            (header.parent / each.name).symlink_to(each)
    plugin = tmp_path / "plugin.so"
    other = MujocoFiles(include=tmp_path / "include", library=own.library, version=3004000)
    compile_plugin(plugin, other, SOURCES)
    assert built_for(plugin) == 3004000
    program = (
        f"import mujoco; mujoco.mj_loadPluginLibrary({str(plugin)!r})\n"
        "plugin = '<extension><plugin plugin=\"bam_bench.servo\"/></extension>'\n"
        "mujoco.MjModel.from_xml_string(f'<mujoco>{plugin}</mujoco>')"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ended.returncode == 1  # an unknown plugin, not a crash
    told = ended.stdout + ended.stderr
    assert "3.4.0" in told
    assert "bam build-plugin" in told
