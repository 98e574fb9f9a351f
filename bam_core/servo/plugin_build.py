# SPDX-License-Identifier: Apache-2.0
"""Compiling the library of servos in MuJoCo, against the headers of any MuJoCo from 3.4 on.

`python -m bam_core.servo.plugin_build TARGET MUJOCO SOURCES` compiles the sources in a directory.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bam_core.errors import BamError, Malformed, MissingSoftware, Unreadable
from bam_core.files.atomic_file import write_bytes
from bam_core.servo.plugin_library import write_library

OLDEST = 3_004_000
"""The oldest MuJoCo for which the tests of the plugin were run: that of mujoco_vendor."""

_HEADER = re.compile(r"#define\s+mjVERSION_HEADER\s+(\d+)")
_BUILT_FOR = re.compile(rb"bam_bench\.servo for mjVERSION_HEADER (\d+);")  # as servo_plugin.cc has it
_FLAGS = ("-std=c++17", "-O2", "-fPIC", "-shared")


@dataclass(frozen=True, kw_only=True)
class MujocoFiles:
    """A MuJoCo to compile against.

    Attributes:
        include: directory of `mujoco/mujoco.h`.
        library: the shared library.
        version: such as 4000000 for 4.0.0.
    """

    include: Path
    library: Path
    version: int

    @classmethod
    def find(cls, path: Path) -> MujocoFiles:
        """Find header and library.

        Args:
            path: the Python package `mujoco` or what it is installed in, an unpacked archive of MuJoCo, or
                the prefix where ROS's mujoco_vendor is.

        Raises:
            BamError: there is none, or it is too old.
        """
        for place in _places(path):
            header = place / "include" / "mujoco" / "mujoco.h"
            libraries = [*place.glob("libmujoco.so*"), *place.glob("lib/libmujoco.so*")]
            if not header.is_file() or not libraries:
                continue
            number = _HEADER.search(header.read_text(encoding="utf-8", errors="replace"))
            version = comparable(int(number[1])) if number else 0
            if version < OLDEST:
                raise Malformed(
                    header,
                    f"is of MuJoCo {version_text(version)}",
                    expected=f"{version_text(OLDEST)} or newer",
                    advice="name a newer one",
                )
            return cls(include=place / "include", library=min(libraries), version=version)
        raise Unreadable(
            path,
            "no MuJoCo is here",
            expected="include/mujoco/mujoco.h and libmujoco.so",
            advice="name the Python package mujoco, an unpacked archive of MuJoCo, or mujoco_vendor's prefix",
        )


def compile_plugin(target: Path, mujoco: MujocoFiles, sources: Path) -> None:
    """Compile the library, whole or not at all.

    Args:
        target: the file to write.
        mujoco: what it is for.
        sources: directory of `servo_plugin.cc`.

    Raises:
        BamError: there is no compiler, or it refuses, or the file cannot be written.
    """
    units = sorted(sources.glob("*.cc"))
    with tempfile.TemporaryDirectory() as place:
        write_library(Path(place, "servo_library.inc"), [*units, *sources.glob("*.h")])
        built = Path(place, "built.so")
        paths = [f"-I{mujoco.include}", f"-I{place}", *map(str, units), str(mujoco.library)]
        _run([os.environ.get("CXX") or "c++", *_FLAGS, *paths, "-o", str(built)])
        write_bytes(target, built.read_bytes())


def built_for(library: Path) -> int | None:
    """Return the version of the MuJoCo for which a library was built, None where it has no mark."""
    mark = _BUILT_FOR.search(library.read_bytes())
    return comparable(int(mark[1])) if mark else None


def comparable(version: int) -> int:
    """Return MuJoCo's number of its version as newer ones have it: 3.4.0 called itself 340."""
    if version > 9999:
        return version
    return version // 100 * 1_000_000 + version // 10 % 10 * 1000 + version % 10


def version_text(version: int) -> str:
    """Return a comparable version as people write it."""
    return f"{version // 1_000_000}.{version // 1000 % 1000}.{version % 1000}"


def _places(path: Path) -> Iterator[Path]:
    """Yield where a MuJoCo may be below the path that somebody names."""
    yield path
    yield path / "mujoco"
    yield path / "opt" / "mujoco_vendor"
    yield path / "mujoco_vendor" / "opt" / "mujoco_vendor"  # install/ of colcon
    yield from path.glob("lib/python3*/site-packages/mujoco")  # a virtual environment


def _run(command: Sequence[str]) -> None:
    try:
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    except OSError as error:
        raise MissingSoftware(
            "the plugin for MuJoCo",
            command[0],
            problem=f"cannot run the compiler {command[0]} ({error.strerror})",
            advice="install one (apt install g++), or name it in CXX",
        ) from None
    if ended.returncode:
        lines = ended.stderr.splitlines()
        reason = next((line for line in lines if "error" in line), lines[-1] if lines else "no word of why")
        raise MissingSoftware(
            "the plugin for MuJoCo",
            command[0],
            problem=f"{command[0]} ended with status {ended.returncode}: {reason.strip()}",
            advice="see whether header and library are of one MuJoCo",
        )


def main(argv: Sequence[str] | None = None) -> int:
    """Compile; for setup.py, in whose process the package cannot be imported."""
    target, mujoco, sources = map(Path, sys.argv[1:] if argv is None else argv)
    try:
        compile_plugin(target, MujocoFiles.find(mujoco), sources)
    except BamError as error:
        print(f"setup.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
