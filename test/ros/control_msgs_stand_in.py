# SPDX-License-Identifier: Apache-2.0
"""The interfaces of `control_msgs` that the action needs, built from `test/ros/interfaces`: wheels lack them.

They go over the middleware as the real ones do. Where `control_msgs` is installed, that one is used.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ROOT / "test" / "ros" / "interfaces" / "control_msgs"
PLACE = ROOT / "build" / "stand_ins"
STEPS = (
    "cmake -S {sources} -B {place}/build -GNinja -DCMAKE_INSTALL_PREFIX={place}/install "
    "-DPython3_EXECUTABLE={python} -DBUILD_TESTING=OFF",
    "cmake --build {place}/build --target install",
)


def python_path() -> str | None:
    """Return what PYTHONPATH needs for the stand-in, built on the first call; None where the real one is."""
    if importlib.util.find_spec("control_msgs") is not None:
        return None
    digest = hashlib.sha256(sys.executable.encode())
    for source in sorted(path for path in SOURCES.rglob("*") if path.is_file()):
        digest.update(source.read_bytes())
    stamp = PLACE / "stamp"
    if not stamp.is_file() or stamp.read_text() != digest.hexdigest():
        _build()
        stamp.write_text(digest.hexdigest())
    for library in (PLACE / "install" / "lib").glob("lib*.so"):
        link = Path(sys.prefix, "lib", library.name)  # beside the wheels' own, where the middleware looks
        link.unlink(missing_ok=True)
        link.symlink_to(library)
    version = f"python{sysconfig.get_python_version()}"
    return str(PLACE / "install" / "lib" / version / "site-packages")


def _build() -> None:
    """Build with the generators of the wheels; about 20 seconds."""
    shutil.rmtree(PLACE, ignore_errors=True)
    PLACE.mkdir(parents=True)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    prefixes = {"AMENT_PREFIX_PATH": sys.prefix, "CMAKE_PREFIX_PATH": sys.prefix}
    for step in STEPS:
        words = step.format(sources=SOURCES, place=PLACE, python=sys.executable).split(" ")
        subprocess.run(
            words, env={**os.environ, **prefixes, "PATH": programs}, check=True, capture_output=True
        )
