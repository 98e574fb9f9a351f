# SPDX-License-Identifier: Apache-2.0
"""The library in C++ that holds the law of servos and MuJoCo's engine plugin: where it is, and loading it."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NoReturn

import mujoco
import numpy as np

from bam_core.errors import MissingSoftware
from bam_core.servo.plugin_build import built_for, comparable, version_text
from bam_core.servo.plugin_library import source_digest

LIBRARY = "libbam_servo.so"
PATH_VARIABLE = "BAM_SERVO_PLUGIN"
"""Environment variable that names the library where it lies elsewhere."""

_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[2]


def plugin_path() -> Path:
    """Return where the library is, for `mj_loadPluginLibrary` of any MuJoCo program.

    Raises:
        BamError: it has not been built, or only from other sources than those beside this file, or only for
            another MuJoCo than this Python's.
    """
    digest, built = source_digest(_sources()).encode(), library_paths()
    current = [path for path in built if digest in path.read_bytes()]
    for path in current:
        if built_for(path) == comparable(mujoco.mj_version()):
            return path
    if current:
        _refuse_version(current[0])
    named = os.environ.get(PATH_VARIABLE, LIBRARY)
    missing = f"{named}: no such library"
    raise MissingSoftware(
        "servos in MuJoCo",
        str(built[0]) if built else named,
        problem=f"{built[0]} was built from other sources than {_HERE}" if built else missing,
        advice=f"build it with `make setup`, colcon or `pip install .`, or name it in {PATH_VARIABLE}",
    )


def library_paths() -> list[Path]:
    """Return the libraries that have been built, from whatever sources; the preferred one first."""
    named = os.environ.get(PATH_VARIABLE)
    return [path for path in ([Path(named)] if named else _places()) if path.is_file()]


def load_plugin() -> Path:
    """Make the plugin known to MuJoCo in this process, once; return where it came from.

    Raises:
        BamError: it has not been built, or MuJoCo cannot load it.
    """
    return _load()[0]


def interface() -> ctypes.PyDLL:
    """Return the functions of `servo_interface.cc`. They keep Python's lock: each takes microseconds.

    Raises:
        BamError: as of `load_plugin`.
    """
    return _load()[1]


@functools.cache
def doubles(*structures: str) -> np.dtype[np.void]:
    """Return the record of doubles that structures of `servo_law.h` are: "constants", "command" or "state".

    Raises:
        BamError: as of `load_plugin`.
    """
    fields: list[str] = []
    for structure in structures:
        names = interface()[f"bam_servo_{structure}"]
        names.restype = ctypes.c_char_p
        fields += names().decode().split()
    return np.dtype([(name, np.float64) for name in fields])


@functools.cache
def _load() -> tuple[Path, ctypes.PyDLL]:
    path = plugin_path()
    try:
        mujoco.mj_loadPluginLibrary(str(path))  # which reports what would end the process if ctypes loaded it
        functions = ctypes.PyDLL(str(path))
    except Exception as error:
        reason = " ".join(str(error).split())
        raise MissingSoftware(
            str(path),
            "mujoco",
            problem=f"cannot be loaded by MuJoCo {mujoco.__version__} ({reason})",
            advice="build it with `bam build-plugin`",
        ) from None
    return path, functions


def _refuse_version(path: Path) -> NoReturn:
    """Refuse a library for another MuJoCo: its structures are not those that it would read and write."""
    version = built_for(path)
    needed = version_text(version) if version else "of an unknown version"
    raise MissingSoftware(
        str(path),
        "mujoco",
        problem=f"is for MuJoCo {needed}, and this Python has {mujoco.__version__}",
        advice=f"build one with `bam build-plugin`, or install mujoco=={needed}",
    )


def own_library(version: int) -> Path:
    """Return where `bam build-plugin` puts the library for a version of MuJoCo, in the user's cache."""
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser() / "bam_bench" / f"mujoco-{version_text(version)}" / LIBRARY


def _sources() -> list[Path]:
    return [*_HERE.glob("*.cc"), *_HERE.glob("*.h")]


def _places() -> Iterator[Path]:
    """Where builds put the library: beside this file, an ament prefix, a checkout's install, the cache."""
    yield _HERE / LIBRARY
    prefixes = [
        Path(prefix) for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix
    ]
    for prefix in [*prefixes, _ROOT / "install" / "bam_bench", *Path(__file__).parents]:
        yield prefix / "lib" / "bam_bench_mujoco_plugin" / LIBRARY
    with suppress(RuntimeError):  # no home
        yield own_library(comparable(mujoco.mj_version()))
