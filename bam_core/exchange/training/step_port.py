# SPDX-License-Identifier: Apache-2.0
"""`mujoco.step_law` as a port of the law: golden cases run through the functions that compilers get."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from bam_core.exchange.conformance import ServoNumbers, Step
from bam_core.mujoco.step_law import NO_LIMIT, Drive, Memory, Number, whole_step

_SHARED = MappingProxyType(
    {
        "demand_limit": "limit",
        "demand_per_kp_rad": "stiffness",
        "demand_per_root_kp_velocity": "damping",
        "supply_voltage": "supply",
        "kd_scale": "rate_time",
        "ki_scale": "integral_rate",
    }
)
"""Numbers of the law by their name in golden cases, where that is another one; gains are 1."""


def law_numbers(numbers: ServoNumbers) -> list[float]:
    """Return the numbers of a golden case in the order of `Number`."""
    given = {**vars(numbers), **numbers.friction}
    values = {name: given.get(_SHARED.get(name, name), 0.0) for name in Number.__members__}
    values.update(kp=1.0, kd=1.0, ki=1.0, regulates_current=float(numbers.law == "current"))
    for name in ("goal_speed_limit", "goal_acceleration_limit"):
        values[name] = values[name] if values[name] < NO_LIMIT else 0.0
    return [float(value) for value in values.values()]


class StepPort:
    """The law of one servo in plain Python, step by step.

    Args:
        numbers: of the servo.
    """

    def __init__(self, numbers: ServoNumbers) -> None:
        self._numbers = np.array([law_numbers(numbers)]).T
        self._memory, self._drive = np.zeros((len(Memory), 1)), np.zeros((len(Drive), 1))

    def reset(self) -> None:
        """Begin an episode."""
        self._memory[:] = 0.0

    def step(self, step: Step) -> tuple[float, float]:
        """Return motor torque and friction torque, N·m."""
        given = (float(value) for value in vars(step).values())
        motor, friction = whole_step(self._numbers, self._memory, self._drive, 0, *given)
        return float(motor), float(friction)


def servo(numbers: ServoNumbers) -> StepPort:
    """Return the port for a servo."""
    return StepPort(numbers)
