# SPDX-License-Identifier: Apache-2.0
"""What runs of a robot cannot tell, found before time is spent on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from bam_core.errors import BadData
from bam_core.robot.run import RobotRun
from bam_core.servo.friction import FRICTION_MODELS

LEAST_RATE = 50.0
"""Hz. Friction falls from its value at rest within 0.1 rad/s, which a joint passes in 20 to 50 ms."""

LEAST_MOTION = 0.02  # rad; less is within play and a few counts of the encoder
_STRIBECK = "stribeck_velocity"


def require_evidence(
    runs: Sequence[RobotRun], joints: Sequence[str], types: Mapping[str, str], models: Sequence[str]
) -> list[str]:
    """Return warnings about what the runs will not tell.

    Args:
        runs: to fit to.
        joints: that count.
        types: joint -> servo.
        models: friction models that are asked for.

    Raises:
        BadData: friction that fades with speed is asked of slow recordings, or all joints of a servo's type
            rest all the time.
    """
    slow = [run for run in runs if 1.0 / float(np.median(np.diff(run.time))) < LEAST_RATE]
    fading = [name for name in models if _STRIBECK in FRICTION_MODELS[name].parameters]
    if slow and fading:
        rate = 1.0 / float(np.median(np.diff(slow[0].time)))
        without = ",".join(name for name in FRICTION_MODELS if name not in fading and _is_plain(name))
        raise BadData(
            f"{slow[0].name}, {rate:.0f} Hz",
            f"is too slow for friction that fades with speed ({', '.join(fading)})",
            expected=f"{LEAST_RATE:.0f} Hz or more",
            advice=f"say --models {without}",
        )
    motion = {
        joint: max(float(np.ptp(run.position[run.counts, run.column(joint)])) for run in runs)
        for joint in joints
    }
    for servo in dict.fromkeys(types[joint] for joint in joints):
        own = [joint for joint in joints if types[joint] == servo]
        if max(motion[joint] for joint in own) < LEAST_MOTION:
            raise BadData(
                f"servo {servo}",
                f"moves by less than {LEAST_MOTION:g} rad in every run, on every joint",
                expected="motions of at least one of them",
                advice="record some, or leave its joints out with --joints",
            )
    resting = [joint for joint in joints if motion[joint] < LEAST_MOTION]
    if not resting:
        return []
    return [
        f"{', '.join(resting)}: rest within {LEAST_MOTION:g} rad in all runs, which tells what they carry "
        "and nothing of their friction in motion"
    ]


def _is_plain(name: str) -> bool:
    return _STRIBECK not in FRICTION_MODELS[name].parameters
