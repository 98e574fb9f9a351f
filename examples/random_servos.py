# SPDX-License-Identifier: Apache-2.0
"""Another random servo in every episode, under a policy at 50 Hz: domain randomisation in MuJoCo.

.venv/bin/python examples/random_servos.py
"""

import mujoco
import numpy as np

import bam_core

for episode, servo in enumerate(bam_core.draw_servos("sts3215", count=5, seed=1)):  # or identified/m4.yaml
    spec = bam_core.bench_spec(bam_core.PendulumBench(mass=0.5, length=0.15))  # or load_robot("my.xml")
    bam_core.equip_native(spec, {bam_core.BENCH_JOINT: bam_core.NativeServo(servo=servo, kp=16)})
    model = bam_core.compile_robot(spec)
    data, errors = mujoco.MjData(model), []
    while data.time < 2.0:
        data.ctrl[0] = np.sin(3.0 * data.time)  # the policy: observation in, goal position [rad] out
        mujoco.mj_step(model, data, nstep=round(0.02 / model.opt.timestep))  # 20 ms; servo law in each step
        errors.append(abs(data.ctrl[0] - data.qpos[0]))
    print(f"episode {episode}: k_t {servo.motor.torque_constant:.4f} N·m/A, off by {np.mean(errors):.3f} rad")
