# SPDX-License-Identifier: Apache-2.0
"""The compiled steps of an arm of emulated servos; what its links weigh comes from outside.

As for the bench, nothing is shared with the simulations of `bam_core`: friction is a budget of BAM eq. 10 at
every joint, found together for all of them by projected Gauss-Seidel, which is not how MuJoCo's solver works.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bam_core.compilation import compiled
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k

SUBSTEPS = 2
"""Steps of the arm in a period of the firmware's loop."""
STEP = k.TICK / SUBSTEPS
"""s."""

_SWEEPS = 40  # of Gauss-Seidel; armatures dominate, it converges to 1e-9 of a budget in half as many
_SUPPLY_STEPS = round(STEP / physics.STEP)


@compiled()
def tick_all(
    states: NDArray[np.float64],
    windows: NDArray[np.int64],
    commands: NDArray[np.float64],
    parameters: NDArray[np.float64],
) -> None:
    """Run the firmware's loop of all servos once; rows are servos, see `bench_kernel.advance`."""
    for joint in range(len(states)):
        k.tick(states[joint], windows[joint], commands[joint], parameters[joint])


@compiled()
def push_all(
    states: NDArray[np.float64],
    commands: NDArray[np.float64],
    parameters: NDArray[np.float64],
    mobility: NDArray[np.float64],
    external: NDArray[np.float64],
) -> None:
    """Change the velocities of all joints over one step, and the voltages of their supplies.

    Args:
        states: (joints, STATE_SIZE), changed in place.
        commands: (joints, COMMAND_SIZE).
        parameters: (joints, PARAMETER_SIZE).
        mobility: (joints, joints) inverse of the arm's inertia with armatures, 1/(kg·m²).
        external: (joints,) gravity, Coriolis and centrifugal torque at the joints, N·m.
    """
    count = len(states)
    limit, friction, total = np.empty(count), np.zeros(count), np.empty(count)
    for joint in range(count):
        state, p = states[joint], parameters[joint]
        current = k.motor_current(state, int(commands[joint, k.MODE]), p)
        state[physics.CURRENT] = current
        motor = p[physics.TORQUE_CONSTANT] * current
        limit[joint] = physics.budget(p, motor, external[joint], state[physics.VELOCITY])
        total[joint] = motor + external[joint]
        for _ in range(_SUPPLY_STEPS):
            physics.draw(state, p, max(state[k.DUTY] * current, 0.0), k.supply_ripple(state))
    velocity = states[:, physics.VELOCITY] + STEP * (mobility @ total)
    for _ in range(_SWEEPS):
        for joint in range(count):
            stop = friction[joint] - velocity[joint] / (STEP * mobility[joint, joint])
            held = min(max(stop, -limit[joint]), limit[joint])
            velocity += STEP * (held - friction[joint]) * mobility[:, joint]
            friction[joint] = held
    states[:, physics.VELOCITY] = velocity
