# SPDX-License-Identifier: Apache-2.0
"""Many simulations of one servo at once, on all cores: MuJoCo's rollout with the engine plugin.

.venv/bin/python examples/rollout_on_all_cores.py
"""

import os

import mujoco.rollout
import numpy as np

from bam_core import BENCH_JOINT, NativeServo, PendulumBench, bench_spec, compile_robot, equip_native

spec = bench_spec(PendulumBench(mass=1.0, length=0.15))
equip_native(spec, {BENCH_JOINT: NativeServo(servo="mx106", kp=32)})
model = compile_robot(spec)
data = [mujoco.MjData(model) for _ in range(os.cpu_count() or 1)]  # one per thread
start = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
mujoco.mj_getState(model, data[0], start, mujoco.mjtState.mjSTATE_FULLPHYSICS)

sine = np.sin(2.0 * np.pi * np.arange(2000) * model.opt.timestep)
goals = np.linspace(0.2, 1.4, 64)[:, None, None] * sine[:, None]  # rad; one amplitude per simulation
states, _ = mujoco.rollout.rollout(model, data, np.tile(start, (64, 1)), goals)
print(f"{states[:, :, 1].size} steps; the largest swing {np.abs(states[:, :, 1]).max():.3f} rad")
