# SPDX-License-Identifier: Apache-2.0
"""``bam build-plugin``: MuJoCo's engine plugin, compiled for another MuJoCo than the one it came with."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path

EXAMPLE = "bam build-plugin --mujoco /opt/ros/lyrical"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--mujoco",
        type=Path,
        metavar="PATH",
        help="a MuJoCo, 3.4 or newer: the Python package or its environment, an unpacked archive, or the "
        "prefix of ROS's mujoco_vendor (default: that of this Python)",
    )
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FILE",
        help="library to write (default: in the user's cache, where Python with that MuJoCo finds it)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compile, and print which program can load the result."""
    import mujoco

    from bam_core.files.atomic_file import require_file
    from bam_core.mujoco.native import library
    from bam_core.servo.plugin_build import MujocoFiles, comparable, compile_plugin, version_text

    package = find_spec("mujoco")
    own = (
        package.submodule_search_locations[0] if package and package.submodule_search_locations else "mujoco"
    )
    files = MujocoFiles.find(arguments.mujoco or Path(own))
    if arguments.output is not None:
        require_file(arguments.output)
    target = arguments.output or library.own_library(files.version)
    compile_plugin(target, files, Path(library.__file__).parent)
    print(f"wrote {target} for MuJoCo {version_text(files.version)}")
    if files.version != comparable(mujoco.mj_version()):
        print(f"this Python has MuJoCo {mujoco.__version__} and cannot load it; a program with that one can")
    elif arguments.output is not None:
        print(f"for this Python: export {library.PATH_VARIABLE}={target.absolute()}")
    return 0
