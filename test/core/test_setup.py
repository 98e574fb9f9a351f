# SPDX-License-Identifier: Apache-2.0
"""The packages agree on what they need, and importing it costs nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from types import FunctionType
from xml.etree import ElementTree

import bam_core

ROOT = Path(__file__).parents[2]


LICENCE = "SPDX-License-Identifier: Apache-2.0"
ROOMS = ("bam_core", "bam_ros", "examples", "launch", "papers", "resource", "studies", "test", "tools")
CODE = {".py", ".cc", ".h", ".sh", ".js", ".css", ".jinja", ".in"}  # servo files and interfaces are data


def names(lines: list[str]) -> set[str]:
    matches = [re.match(r"[A-Za-z][\w-]*", line.strip()) for line in lines]
    return {match[0].lower() for match in matches if match}


def test_the_ros_packages_name_what_has_a_rosdep_key() -> None:
    """What has none is named in a comment, with all others."""
    text = (ROOT / "package.xml").read_text().lower()
    for file in ("core.in", "ros.in"):
        for name in names((ROOT / "requirements" / file).read_text().splitlines()):
            key = {"pyserial": "serial", "pyyaml": "yaml"}.get(name, name)
            assert key in text, name


def test_both_packages_have_one_version() -> None:
    assert ElementTree.parse(ROOT / "package.xml").findtext("version") == bam_core.__version__


def test_importing_bam_core_loads_no_heavy_module() -> None:
    code = "import sys, bam_core; print(*sys.modules)"
    out = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, timeout=300, check=True
    ).stdout
    assert not set(out.split()) & {"numpy", "scipy", "numba", "matplotlib", "mujoco", "yaml", "rosbags"}


def test_every_public_name_exists_and_is_documented() -> None:
    for name in bam_core.__all__:
        value = getattr(bam_core, name)
        assert value.__doc__ or not isinstance(value, type | FunctionType), name  # aliases of types have none
    assert set(bam_core.__all__) == set(dir(bam_core))


def test_every_source_file_names_its_licence() -> None:
    sources = [path for room in ROOMS for path in (ROOT / room).rglob("*") if path.suffix in CODE]
    sources += [ROOT / name for name in ("CMakeLists.txt", "Makefile", "setup.py", ".ci/run")]
    assert len(sources) > 600
    without = [path for path in sources if LICENCE not in "".join(path.read_text().splitlines(True)[:2])]
    assert without == []
