# SPDX-License-Identifier: Apache-2.0
"""Compile the numerical kernels into their caches once; else every first process takes half a minute.

So are those modules of others that most commands import: packages are installed uncompiled, because all of it
would take half a minute and most of it is never imported.

Does nothing where no source has changed since it ran last. What is cached is looked at again where it is used
(see `bam_core/compilation.py`): should this not have run, or a kernel be missing here, whoever needs it first
compiles it.
"""

from __future__ import annotations

import hashlib
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
STAMP = ROOT / "build" / "kernels.stamp"
ARM = {"mass": 0.5, "arm_mass": 0.05, "length": 0.1}


def rollouts() -> None:
    """Simulation of recordings, with which servos are identified."""
    sys.dont_write_bytecode = False  # as installers do, which compile whatever the environment says
    import matplotlib.pyplot  # noqa: F401
    import numpy as np
    import optuna  # noqa: F401

    from bam_core.servo.model import load_servo
    from bam_core.servo.pendulum import PendulumBench
    from bam_core.simulation.rollout import Rollout, parameter_vector
    from bam_core.simulation.synthetic import synthesize

    servo = load_servo("mx106")
    recording = synthesize(servo, PendulumBench(**ARM), "sin_sin", 8.0)
    Rollout.for_servo([recording], servo).errors(np.array([parameter_vector(servo)]))


def executors() -> None:
    """Servos in feed-forward and with gears, and those that are emulated."""
    sys.dont_write_bytecode = False
    import numpy as np

    from bam_core.feedforward import FeedForwardLaw
    from bam_core.gears.rollout import GEAR_PARAMETERS, GearRollout
    from bam_core.servo.model import load_servo
    from bam_core.servo.pendulum import PendulumBench
    from bam_core.simulation.synthetic import synthesize
    from bam_ros.emulators.dynamixel.bench import Bench
    from bam_ros.emulators.dynamixel.hidden_servo import draw_hidden_servo
    from bam_ros.emulators.erob.bench import Bench as DriveBench
    from bam_ros.emulators.erob.hidden_drive import draw_hidden_drive

    servo, bench = load_servo("mx106"), PendulumBench(**ARM)
    recording = synthesize(servo, bench, "lift_and_drop", 8.0)
    FeedForwardLaw.from_servo(servo).torque(1.0, 1.0, 1e-3, 0.0)
    GearRollout([recording], firmware=servo.firmware).errors(np.full(len(GEAR_PARAMETERS), 0.5))
    Bench(draw_hidden_servo("mx106", 1), bench).advance_to(0.01)
    DriveBench(draw_hidden_drive("erob80_100", 1), bench).advance_to(10_000_000)


def main() -> int:
    """Compile what has changed, on two processors."""
    sources = [path for room in ("bam_core", "bam_ros") for path in sorted((ROOT / room).rglob("*.py"))]
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    if STAMP.exists() and STAMP.read_text() == digest:
        return 0
    print(
        "\033[1m==> Compiling those numerical kernels that have changed (all: half a minute)\033[0m",
        flush=True,
    )
    with ProcessPoolExecutor(2) as processes:
        for job in [processes.submit(work) for work in (rollouts, executors)]:
            job.result()
    STAMP.parent.mkdir(exist_ok=True)
    STAMP.write_text(digest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
