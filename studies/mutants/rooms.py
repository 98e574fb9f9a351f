# SPDX-License-Identifier: Apache-2.0
"""Groups of source files that get deliberate bugs, and the tests of each source file."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bam_core.errors import Missing
from studies.mutants.cpp_mutations import cpp_mutations
from studies.mutants.python_mutations import Mutation, python_mutations


@dataclass(frozen=True, kw_only=True)
class Room:
    """Sources that get deliberate bugs, and the directories of their tests.

    Unlike a room of tools/rooms.py, it may be a part of a directory, or have files of several directories.

    Attributes:
        group: "safety", "law" or "statistics".
        sources: patterns of paths, relative to the tree.
        tests: directories of tests, relative to the tree.
        compiled: processor time to compile one bug with Numba or C++, s; 0: nothing is compiled.
    """

    group: str
    sources: tuple[str, ...]
    tests: tuple[str, ...]
    compiled: float = 0.0

    def files(self, tree: Path) -> list[str]:
        """Return the paths of the sources, relative to the tree.

        Raises:
            BamError: a pattern matches no file, for example because the file has moved.
        """
        sources: list[str] = []
        for pattern in self.sources:
            paths = [path for path in sorted(tree.glob(pattern)) if path.name != "__init__.py"]
            if not paths:
                raise Missing(f"sources {pattern}", "a file", advice="correct studies/mutants/rooms.py")
            sources += [str(path.relative_to(tree)) for path in paths]
        return list(dict.fromkeys(sources))

    def mutations(self, tree: Path) -> list[Mutation]:
        """Return all deliberate bugs of the room."""
        return [mutation for path in self.files(tree) for mutation in mutations_of(tree, path)]


_IDENTIFICATION = "bam_core/identification"
_KERNEL_TIME = 300.0  # s of processor time to compile all kernels

ROOMS = {
    "driver": Room(
        group="safety",
        sources=(
            "bam_ros/driver/servo_loop.py",
            "bam_ros/driver/safety_states.py",
            "bam_ros/driver/joint_states.py",
            "bam_ros/driver/joint_gate.py",
            "bam_ros/driver/loop_requests.py",
            "bam_ros/driver/following_guard.py",
            "bam_ros/driver/joint_limits.py",
            "bam_ros/driver/goal_shaper.py",
            "bam_ros/driver/command_inputs.py",
            "bam_ros/driver/command_streams.py",
            "bam_ros/driver/gains_hold.py",
            "bam_ros/driver/hardware_errors.py",
            "bam_ros/driver/trajectory_points.py",
            "bam_ros/driver/trajectory_follower.py",
        ),
        tests=("test/ros/driver",),
    ),
    "bus guards": Room(
        group="safety",
        sources=(
            "bam_ros/erob/goal_guard.py",
            "bam_ros/erob/faults.py",
            "bam_ros/erob/axis.py",
            "bam_ros/dynamixel/servo.py",
            "bam_ros/dynamixel/guardian.py",
        ),
        tests=("test/ros/erob", "test/ros/dynamixel"),
    ),
    "recorder": Room(
        group="safety",
        sources=(
            "bam_ros/recorder/motion.py",
            "bam_ros/recorder/run.py",
            "bam_ros/recorder/stalls.py",
            "bam_ros/recorder/supply_check.py",
            "bam_ros/recorder/readiness.py",
        ),
        tests=("test/ros/recorder",),
    ),
    "feed-forward guards": Room(
        group="safety",
        sources=(
            "bam_core/feedforward/guard.py",
            "bam_core/feedforward/pid.py",
            "bam_core/feedforward/buffer.py",
            "bam_ros/feedforward/bus.py",
        ),
        tests=("test/core/feedforward", "test/ros/feedforward"),
    ),
    "servo laws": Room(
        group="law",
        sources=(
            "bam_core/servo/friction.py",
            "bam_core/servo/motor.py",
            "bam_core/servo/firmware.py",
            "bam_core/servo/firmware_laws.py",
            "bam_core/servo/effects.py",
            "bam_core/servo/arm_link.py",
            "bam_core/servo/asymmetry.py",
            "bam_core/servo/pendulum.py",
            "bam_core/servo/protection.py",
        ),
        tests=("test/core/servo", "test/core/simulation"),
        compiled=_KERNEL_TIME,
    ),
    "kernel": Room(
        group="law",
        sources=("bam_core/simulation/kernel/*.py",),
        tests=("test/core/simulation",),
        compiled=_KERNEL_TIME,
    ),
    "engine": Room(
        group="law",
        sources=("bam_core/mujoco/native/servo_law.h",),
        tests=("test/core/mujoco",),
        compiled=60.0,
    ),
    "data": Room(
        group="statistics",
        sources=(f"{_IDENTIFICATION}/data/*.py",),
        tests=("test/core/identification/data",),
    ),
    "choice": Room(
        group="statistics",
        sources=(f"{_IDENTIFICATION}/choice/*.py",),
        tests=("test/core/identification/choice",),
    ),
    "uncertainty": Room(
        group="statistics",
        sources=(f"{_IDENTIFICATION}/uncertainty/*.py",),
        tests=("test/core/identification/uncertainty",),
    ),
    "misfit": Room(
        group="statistics",
        sources=(f"{_IDENTIFICATION}/misfit/*.py",),
        tests=("test/core/identification/misfit",),
    ),
    "evidence": Room(
        group="statistics",
        sources=(f"{_IDENTIFICATION}/search/evidence.py", f"{_IDENTIFICATION}/search/sensitivity.py"),
        tests=("test/core/identification/search",),
    ),
}
"""Rooms by name. MuJoCo from Python also runs the C++ law of room `engine`."""


def mutations_of(tree: Path, path: str) -> list[Mutation]:
    """Return all deliberate bugs of a file."""
    source = (tree / path).read_bytes()
    return python_mutations(path, source) if path.endswith(".py") else cpp_mutations(path, source)


def stages_of(tree: Path, room: Room, path: str) -> list[list[str]]:
    """Return the test files for bugs of a source, in stages; a stage runs if all before it have passed.

    The first stage has the test files with the name of the source, and may be empty. Then come the other
    tests of the room, and then all other tests that import the source.
    """
    stem = Path(path).stem.lstrip("_")
    everything = sorted(str(file.relative_to(tree)) for file in (tree / "test").rglob("test_*.py"))
    own = [file for file in everything if file.startswith(tuple(f"{place}/" for place in room.tests))]
    mirrored = [file for file in own if re.fullmatch(rf"test_(\w+_)?{stem}", Path(file).stem)]
    module = path.removesuffix(".py").replace("/", ".")
    package, _, name = module.rpartition(".")
    imports = re.compile(
        rf"\b{re.escape(module)}\b|from {re.escape(package)} import [^\n]*\b{re.escape(name)}\b"
    )
    others = [file for file in everything if file not in own and imports.search((tree / file).read_text())]
    rest = [file for file in own if file not in mirrored]
    stages = [mirrored, *(by_kind(rest)), *(by_kind(others))]
    return [stages[0], *(stage for stage in stages[1:] if stage)]


def by_kind(files: list[str]) -> list[list[str]]:
    """Return tests of the core and tests of nodes separately, because `make test` runs them so."""
    return [[file for file in files if file.startswith("test/ros/") is ros] for ros in (False, True)]
