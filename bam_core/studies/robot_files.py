# SPDX-License-Identifier: Apache-2.0
"""The robots of `config/robots` as files.

`python -m bam_core.studies.robot_files DIRECTORY` writes them anew.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import mujoco

from bam_core.atomic_file import write_text
from bam_core.servo.pendulum import PendulumBench

BENCH = PendulumBench(mass=0.5, length=0.15)
"""As the `simulator` node hangs it where nothing else is said."""


def robot_files() -> dict[str, str]:
    """Return file name -> text: the bench and the arms of BAM section VI-B, as MJCF and as URDF.

    They come without servos, which `equip`, `equip_native` and the `simulator` node add.
    """
    from bam_core.arms import ARMS, arm_spec, arm_urdf
    from bam_core.mujoco import bench_spec, bench_urdf

    files = {"bench.xml": _mjcf(bench_spec(BENCH)), "bench.urdf": bench_urdf(BENCH)}
    for arm in ARMS.values():
        files[f"{arm.name}.xml"] = _mjcf(arm_spec(arm))
        files[f"{arm.name}.urdf"] = arm_urdf(arm)
    return files


def _mjcf(spec: mujoco.MjSpec) -> str:
    spec.compile()
    return spec.to_xml()


def main(argv: Sequence[str] | None = None) -> int:
    """Write all files into the directory that is named."""
    (directory,) = sys.argv[1:] if argv is None else argv
    for name, text in robot_files().items():
        write_text(Path(directory) / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
