# SPDX-License-Identifier: Apache-2.0
"""One joint that is watched: samples of observed friction in, its health after every block of motion out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.servo.model import ServoModel
from bam_core.whole_body.friction_blocks import (
    SLOWEST,
    FrictionSamples,
    friction_block,
    predicted_friction,
)
from bam_core.whole_body.friction_health import BLOCK, FrictionHealth, HealthMonitor, HealthSettings

_LONGEST = 5 * BLOCK  # s of motion that may be one way alone, before its samples are given up


@dataclass(frozen=True, kw_only=True)
class WatchedSample:
    """One sample of a joint.

    Attributes:
        friction: torque that acts on the joint, as `ObservedFriction.torque`, N·m; NaN where it is unknown.
        effort: torque of the motor, N·m.
        velocity: rad/s.
        temperature: of the servo, °C; NaN where it is unknown.
    """

    friction: float
    effort: float
    velocity: float
    temperature: float


class FrictionWatch:
    """Compares the friction of a joint with that of its servo file.

    Args:
        servo: the file of this very unit.
        period: of the samples, s.
        settings: what counts as a change.
    """

    def __init__(self, servo: ServoModel, period: float, settings: HealthSettings | None = None) -> None:
        self._servo = servo
        self._monitor = HealthMonitor(servo, settings or HealthSettings())
        self._block, self._longest = round(BLOCK / period), round(_LONGEST / period)
        self._samples: list[WatchedSample] = []

    @property
    def health(self) -> FrictionHealth:
        """What is known now."""
        return self._monitor.health

    def push(self, sample: WatchedSample) -> FrictionHealth | None:
        """Take a sample; return the health where it has completed a block of motion."""
        if not (abs(sample.velocity) > SLOWEST and np.isfinite(sample.friction)):
            return None
        self._samples.append(sample)
        if len(self._samples) % self._block:
            return None
        # In BAM the torques of motor, load and friction add up to what accelerates the arm.
        friction, effort, velocity, temperature = np.array(
            [(at.friction, at.effort, at.velocity, at.temperature) for at in self._samples]
        ).T
        external = -(effort + friction)
        no_load, load = predicted_friction(self._servo, effort, external, velocity)
        block = friction_block(
            FrictionSamples(
                torque=-friction,
                no_load=no_load,
                load=load,
                external=external,
                velocity=velocity,
                temperature=temperature,
            ),
            self._servo.servo_effects.friction_temperature,
        )
        if block is None:
            if len(self._samples) >= self._longest:
                self._samples.clear()
            return None
        self._samples.clear()
        return self._monitor.take(block)
