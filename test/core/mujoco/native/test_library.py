# SPDX-License-Identifier: Apache-2.0
"""The library in C++ is loaded if it is of these sources and for this MuJoCo; else one line says why not."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from bam_core.errors import MissingSoftware
from bam_core.mujoco.native import library, plugin_path
from bam_core.servo.plugin_library import source_digest
from test.core.mujoco_cases import SERVO, on_bench
from test.core.refusals import refused


@pytest.fixture
def unloaded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that was loaded before is known."""
    monkeypatch.setattr(library, "_load", library._load.__wrapped__)


@pytest.fixture
def stale(tmp_path: Path) -> Path:
    """The library, as if built from other sources."""
    path = tmp_path / "lib" / "bam_bench_mujoco_plugin" / library.LIBRARY
    path.parent.mkdir(parents=True)
    digest = source_digest(library._sources()).encode()
    path.write_bytes(plugin_path().read_bytes().replace(digest, digest[::-1]))
    return path


def test_a_library_of_other_sources_is_refused_before_it_is_loaded(
    unloaded: None, stale: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(library.PATH_VARIABLE, str(stale))
    monkeypatch.setattr(mujoco, "mj_loadPluginLibrary", lambda path: pytest.fail("it was loaded"))
    with refused(MissingSoftware, software=str(stale)):
        on_bench(SERVO)


def test_a_library_of_these_sources_is_preferred(stale: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = plugin_path()
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(stale.parents[2]))
    assert stale in library.library_paths()
    assert plugin_path() == expected


def test_without_the_library_servos_from_python_are_refused_as_well(
    unloaded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(library.PATH_VARIABLE, "/nowhere/libbam_servo.so")
    with refused(MissingSoftware, software="/nowhere/libbam_servo.so"):
        on_bench(SERVO)


def test_a_library_for_the_structures_of_another_mujoco_is_refused(
    unloaded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mujoco, "mj_version", lambda: 3003007)
    with refused(MissingSoftware, software="mujoco"):
        on_bench(SERVO)


def test_a_library_that_mujoco_cannot_load_is_named_in_one_line(
    unloaded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: str) -> None:
        raise mujoco.FatalError(f"Error loading plugin library '{path}': no memory\nat all")

    monkeypatch.setattr(mujoco, "mj_loadPluginLibrary", refuse)
    with refused(MissingSoftware, software="mujoco"):
        library.load_plugin()
