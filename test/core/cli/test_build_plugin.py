# SPDX-License-Identifier: Apache-2.0
"""``bam build-plugin``: the library lands where Python finds it, or where the user says."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import mujoco
import pytest

from bam_core.cli import execute, main
from bam_core.errors import Unreadable
from bam_core.mujoco.native import library, plugin_path
from test.core.refusals import refused
from test.core.servo.test_plugin_build import mujoco_at


@pytest.fixture(autouse=True)
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compiler that takes no time: it gives the library that is there already."""
    program = tmp_path / "compiler"
    program.write_text(f'#!/bin/sh\nfor last; do :; done\ncp "{plugin_path()}" "$last"\n')
    program.chmod(0o755)
    monkeypatch.setenv("CXX", str(program))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_what_was_built_for_this_python_is_found_by_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = tmp_path / "package"  # an installation whose own library is for another MuJoCo
    alone.mkdir()
    for source in library._sources():
        shutil.copy(source, alone)
    number = f"mjVERSION_HEADER {mujoco.mj_version()};".encode()
    (alone / library.LIBRARY).write_bytes(plugin_path().read_bytes().replace(number, b"x" * len(number)))
    monkeypatch.setattr(library, "_HERE", alone)
    monkeypatch.setattr(library, "_ROOT", tmp_path)
    monkeypatch.delenv("AMENT_PREFIX_PATH", raising=False)
    monkeypatch.delenv(library.PATH_VARIABLE, raising=False)
    assert main(["build-plugin"]) == 0
    assert plugin_path() == tmp_path / f"cache/bam_bench/mujoco-{mujoco.__version__}" / library.LIBRARY


def test_a_library_for_another_mujoco_is_said_to_be_none_for_this_python(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = mujoco_at(tmp_path / "other", 340, "libmujoco.so.3.4.0")
    target = tmp_path / "plugin.so"
    assert main(["build-plugin", "--mujoco", str(other), "--output", str(target)]) == 0
    told = capsys.readouterr().out
    assert {"3.4.0", mujoco.__version__} <= set(re.findall(r"\d+\.\d+\.\d+", told))
    assert library.PATH_VARIABLE not in told
    assert target.read_bytes() == plugin_path().read_bytes()


def test_for_this_python_the_variable_that_names_the_output_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build-plugin", "--output", str(tmp_path / "plugin.so")]) == 0
    assert f"{library.PATH_VARIABLE}={tmp_path / 'plugin.so'}" in capsys.readouterr().out


def test_a_place_without_mujoco_is_refused(tmp_path: Path) -> None:
    with refused(Unreadable, path=str(tmp_path / "none")):
        execute(["build-plugin", "--mujoco", str(tmp_path / "none")])
