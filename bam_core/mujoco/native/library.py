# SPDX-License-Identifier: Apache-2.0
"""The library in C++ that holds the law of servos and MuJoCo's engine plugin: where it is, and loading it."""

from __future__ import annotations

import ctypes
import functools
import os
import re
from collections.abc import Iterator
from pathlib import Path

import mujoco
import numpy as np

from bam_core.errors import MissingSoftware
from bam_core.servo.plugin_library import source_digest

LIBRARY = "libbam_servo.so"
PATH_VARIABLE = "BAM_SERVO_PLUGIN"
"""Environment variable that names the library where it lies elsewhere."""

_NEEDED = re.compile(r"libmujoco\.so\.([0-9.]*[0-9])")  # in the loader's words: the one that it was built for
_HERE = Path(__file__).resolve().parent
_ROOT = _HERE.parents[2]


def plugin_path() -> Path:
    """Return where the library is, for `mj_loadPluginLibrary` of any MuJoCo program.

    Raises:
        BamError: it has not been built, or only from other sources than those beside this file.
    """
    digest, built = source_digest(_sources()).encode(), library_paths()
    for path in built:
        if digest in path.read_bytes():
            return path
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
        needed = _NEEDED.search(reason)
        built_for = f"mujoco=={needed[1]}" if needed else ""
        raise MissingSoftware(
            str(path),
            built_for.replace("==", " ") or "mujoco",
            problem=f"cannot be loaded by MuJoCo {mujoco.__version__} ({reason})",
            advice=f"{f'install {built_for}, or ' if built_for else ''}build the library with it",
        ) from None
    if functions.bam_servo_mujoco() != mujoco.mj_version():
        raise MissingSoftware(  # the linker found another MuJoCo than Python's, and loaded both
            str(path),
            "mujoco",
            problem=f"is for MuJoCo {functions.bam_servo_mujoco()}, not for Python's {mujoco.mj_version()}",
            advice="build the library with that one",
        )
    return path, functions


def _sources() -> list[Path]:
    return [*_HERE.glob("*.cc"), *_HERE.glob("*.h")]


def _places() -> Iterator[Path]:
    """Where builds put the library: beside this file (wheel), in an ament prefix or a checkout's install."""
    yield _HERE / LIBRARY
    prefixes = [
        Path(prefix) for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if prefix
    ]
    for prefix in [*prefixes, _ROOT / "install" / "bam_bench", *Path(__file__).parents]:
        yield prefix / "lib" / "bam_bench_mujoco_plugin" / LIBRARY
