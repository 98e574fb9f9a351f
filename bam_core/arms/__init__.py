# SPDX-License-Identifier: Apache-2.0
"""Arms with two hinges in a vertical plane (2R), as in BAM section VI-B: geometry, MJCF and URDF, paths."""

from bam_core.arms.description import arm_spec, arm_urdf
from bam_core.arms.paths import PATHS, Path, path_points
from bam_core.arms.tracking import ArmTrack, track
from bam_core.arms.two_link import ARMS, Link, TwoLinkArm, find_arm

__all__ = [
    "ARMS",
    "PATHS",
    "ArmTrack",
    "Link",
    "Path",
    "TwoLinkArm",
    "arm_spec",
    "arm_urdf",
    "find_arm",
    "path_points",
    "track",
]
