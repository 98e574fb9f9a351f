# SPDX-License-Identifier: Apache-2.0
"""``bam export --lerobot``: runs of a robot as a LeRobot dataset."""

from __future__ import annotations

import argparse
import logging
from collections.abc import Sequence
from pathlib import Path

from bam_core.errors import Conflict

log = logging.getLogger(__name__)

_OPTIONS = ("fps", "task", "robot_type", "robot")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    group = parser.add_argument_group("LeRobot dataset (version 3, without images), of recordings of a robot")
    group.add_argument("--lerobot", action="store_true", help="write a LeRobot dataset; needs pyarrow")
    group.add_argument(
        "--fps",
        type=int,
        metavar="N",
        help="frames per second; goals between frames are lost (default: 30, LeRobot's)",
    )
    group.add_argument("--task", metavar="TEXT", help="what the robot does (default: move)")
    group.add_argument(
        "--robot-type", metavar="NAME", help="LeRobot's name of the robot (default: so101_follower)"
    )
    group.add_argument(
        "--robot",
        metavar="FILE",
        help="description, MJCF or URDF, whose limits are 0 and 100 of grippers (default: they are left out)",
    )


def require_lerobot(arguments: argparse.Namespace) -> None:
    """Raise Conflict where an option is given that only `--lerobot` has."""
    for name in _OPTIONS:
        if getattr(arguments, name) is not None and not arguments.lerobot:
            option = f"--{name.replace('_', '-')}"
            raise Conflict(
                option, "is for a LeRobot dataset", expected="--lerobot", advice="give both, or none"
            )


def export_dataset(sources: Sequence[str], output: Path, arguments: argparse.Namespace) -> None:
    """Write the runs of the sources as one dataset.

    Raises:
        BamError: no runs, or what `write_dataset` raises.
    """
    from bam_core.robot.lerobot_dataset import is_gripper
    from bam_core.robot.lerobot_writer import DatasetSettings, write_dataset
    from bam_core.robot.load import RunSettings, load_runs
    from bam_core.text.finding import log_findings
    from bam_core.text.robot_evidence_findings import JointsFinding

    # A dataset keeps no gains, so a run without any will do.
    settings_of_runs = RunSettings(kp=1.0, kd=0.0, strict=True)
    runs = load_runs(sources, settings_of_runs)
    given = {name: value for name in _OPTIONS[:-1] if (value := getattr(arguments, name)) is not None}
    ranges = {} if arguments.robot is None else _ranges(arguments.robot)
    grippers = {name: span for name, span in ranges.items() if is_gripper(name)}
    settings = DatasetSettings(**given, gripper_ranges=grippers)
    left_out = write_dataset(output, runs, settings)
    if left_out:
        log_findings(log, [JointsFinding(kind="unknown_range", joints=tuple(left_out))])
    print(f"wrote {output}: {len(runs)} episodes at {settings.fps} frames per second")


def _ranges(robot: str) -> dict[str, tuple[float, float]]:
    """Return joint -> (lowest, highest) rad, of the joints that have limits."""
    from bam_core.mujoco.robot_file import load_robot

    model = load_robot(robot).compile()
    joints = [model.joint(index) for index in range(model.njnt)]
    return {
        joint.name: (float(joint.range[0]), float(joint.range[1]))
        for joint in joints
        if model.jnt_limited[joint.id]
    }
