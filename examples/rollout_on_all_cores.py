# SPDX-License-Identifier: Apache-2.0
"""The same servo in many simulations at once: MuJoCo's rollout with the engine plugin, no Python in the loop.

.venv/bin/python examples/rollout_on_all_cores.py
"""

from __future__ import annotations

import os
import time

import mujoco
import mujoco.rollout
import numpy as np
from numpy.typing import NDArray

from bam_core.mujoco import BENCH_JOINT, bench_spec, compile_robot
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench

STEPS = 2000  # of 1 ms
AMPLITUDES = np.linspace(0.2, 1.4, 64)  # rad, one simulation each


def swing(threads: int) -> NDArray[np.float64]:
    """Return positions (simulations, STEPS) in rad of arms that follow sines of different sizes."""
    spec = bench_spec(PendulumBench(mass=1.0, length=0.15))
    equip_native(spec, {BENCH_JOINT: NativeServo(servo=load_servo("mx106"), kp=32.0)})
    model = compile_robot(spec)
    data = [mujoco.MjData(model) for _ in range(threads)]
    start = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(model, data[0], start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    sine = np.sin(2.0 * np.pi * np.arange(STEPS) * model.opt.timestep)
    goals = AMPLITUDES[:, None, None] * sine[None, :, None]
    states, _ = mujoco.rollout.rollout(model, data, np.tile(start, (len(AMPLITUDES), 1)), goals)
    return states[:, :, 1]


def main() -> None:
    """Time one core and all of them."""
    for threads in (1, os.cpu_count() or 1):
        begin = time.perf_counter()
        positions = swing(threads)
        rate = positions.size / (time.perf_counter() - begin)
        print(f"{threads} threads: {rate:,.0f} steps/s; the largest swing {np.abs(positions).max():.3f} rad")


if __name__ == "__main__":
    main()
