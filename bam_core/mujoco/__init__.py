# SPDX-License-Identifier: Apache-2.0
"""Servos in MuJoCo: motor, firmware and extended friction for the joints of any model, and the bench.

Put servos on a description with `equip`, compile it, and step it with `actuate(model, data, servos).step()`;
with `equip_native` of `native`, `mj_step` does it all. `replay` runs the commands of recordings on the bench.
"""

from bam_core.mujoco.actuate import actuate
from bam_core.mujoco.actuation import ServoActuation, SimulationError
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec, bench_urdf
from bam_core.mujoco.black_box import BlackBox, DivergedRun, load_diverged_run
from bam_core.mujoco.equip import equip
from bam_core.mujoco.replay import BenchCommands, Replay, replay, replay_recording, simulate_recording
from bam_core.mujoco.robot import compile_robot
from bam_core.mujoco.robot_file import load_robot

__all__ = [
    "BENCH_JOINT",
    "BenchCommands",
    "BlackBox",
    "DivergedRun",
    "Replay",
    "ServoActuation",
    "SimulationError",
    "actuate",
    "bench_spec",
    "bench_urdf",
    "compile_robot",
    "equip",
    "load_diverged_run",
    "load_robot",
    "replay",
    "replay_recording",
    "simulate_recording",
]
