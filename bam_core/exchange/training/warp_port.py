# SPDX-License-Identifier: Apache-2.0
"""The law of NVIDIA Warp as a port, in float32: golden cases run through the functions that kernels call.

bam conform --against bam_core.exchange.training.warp_port:servo --precision float32
"""

from __future__ import annotations

import numpy as np
import warp as wp

from bam_core.exchange.conformance import ServoNumbers, Step
from bam_core.exchange.training.step_port import law_numbers
from bam_core.mujoco.step_law import Drive, Memory
from bam_core.mujoco.warp.functions import step_law


class WarpPort:
    """The law of one servo, step by step.

    Args:
        numbers: of the servo.
    """

    def __init__(self, numbers: ServoNumbers) -> None:
        self._numbers = wp.array([[value] for value in law_numbers(numbers)], dtype=wp.float32)
        self._memory = wp.zeros((len(Memory), 1), dtype=wp.float32)
        self._drive = wp.zeros((len(Drive), 1), dtype=wp.float32)
        self._step = wp.zeros(7, dtype=wp.float32)
        self._torques = wp.zeros(2, dtype=wp.float32)

    def reset(self) -> None:
        """Begin an episode."""
        self._memory.zero_()

    def step(self, step: Step) -> tuple[float, float]:
        """Return motor torque and friction torque, N·m."""
        self._step.assign(np.array([float(value) for value in vars(step).values()], dtype=np.float32))
        wp.launch(
            _law_step,
            dim=1,
            inputs=[self._numbers, self._step],
            outputs=[self._memory, self._drive, self._torques],
        )
        motor, friction = self._torques.numpy()
        return float(motor), float(friction)


def servo(numbers: ServoNumbers) -> WarpPort:
    """Return the port for a servo."""
    return WarpPort(numbers)


@wp.kernel(enable_backward=False)
def _law_step(  # type: ignore[no-untyped-def]
    numbers: wp.array2d(dtype=wp.float32),
    step: wp.array(dtype=wp.float32),
    memory: wp.array2d(dtype=wp.float32),
    drive: wp.array2d(dtype=wp.float32),
    torques: wp.array(dtype=wp.float32),
):
    motor, friction = step_law.whole_step(
        numbers, memory, drive, 0, step[0], step[1], step[2], step[3], step[4], step[5], step[6]
    )
    torques[0] = motor
    torques[1] = friction
