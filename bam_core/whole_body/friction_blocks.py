# SPDX-License-Identifier: Apache-2.0
"""Friction of a moving joint beside that of its servo file, a few seconds at a time.

In one block, observed friction is regressed on the friction that the file predicts, with a constant:

    τ_f = a·sgn(ω)·(p_0·exp(-γ·(T - 25 °C)) + p_l) + b + c·τ_e

p_0 is friction without load, p_l what load adds (BAM eq. 10), and τ_e the load by the robot's model. A load
that the model lacks, or an effort of the wrong scale, is part of b and c as long as the joint moves both
ways; a is the factor of friction. Errors of neighbouring samples are alike, so they count as fewer
(`integral_time_scale`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import WrongShape
from bam_core.identification.search.time_scale import integral_time_scale
from bam_core.servo.model import ServoModel

REFERENCE_TEMPERATURE = 25.0
"""°C, at which a servo file has its friction (`ServoEffects.friction_temperature`)."""

SLOWEST = 0.1
"""rad/s; below, an arm may stick, and friction is as large as the other torques there."""

_LEAST_FACTOR = 0.05  # of friction: a smaller slope is no friction, but an error of the torque
_MOST_ERROR = 0.5  # of the logarithm, above which a block does not count
_FEWEST = 20  # samples of a block
_LEAST_SHARE = 0.1  # of the samples, in either direction


@dataclass(frozen=True, kw_only=True)
class FrictionSamples:
    """Samples of one joint, (samples,) each; those slower than `SLOWEST` do not count.

    Attributes:
        torque: friction that was observed, N·m, with the sign of velocity.
        no_load: friction that the file predicts without load at 25 °C, N·m, zero or more.
        load: what load adds to it, N·m, zero or more.
        external: torque of the load, by the robot's model, N·m.
        velocity: rad/s.
        temperature: of the servo, °C; NaN where it is unknown.

    Raises:
        BamError: the lengths differ.
    """

    torque: Array
    no_load: Array
    load: Array
    external: Array
    velocity: Array
    temperature: Array

    def __post_init__(self) -> None:
        for name in ("no_load", "load", "external", "velocity", "temperature"):
            if getattr(self, name).shape != self.torque.shape:
                raise WrongShape(name, getattr(self, name).shape, f"{self.torque.shape}, as torque")


@dataclass(frozen=True, kw_only=True)
class FrictionBlock:
    """Friction in a few seconds of motion.

    Attributes:
        log_factor: logarithm of observed friction by what the file predicts at this temperature.
        error: its standard error, from the scatter of the samples.
        no_load_share: of predicted friction, how much is not caused by load, 0 to 1.
        temperature: mean, °C; NaN where it is unknown.
    """

    log_factor: float
    error: float
    no_load_share: float
    temperature: float


def predicted_friction(
    servo: ServoModel, motor_torque: Array, external_torque: Array, velocity: Array
) -> tuple[Array, Array]:
    """Return the friction of a moving joint, N·m: without load at 25 °C, and what load adds.

    Args:
        servo: of the joint.
        motor_torque: (samples,) N·m.
        external_torque: (samples,) N·m, signed like motor torque.
        velocity: (samples,) rad/s.
    """
    no_load = servo.friction.budget(0.0, 0.0, velocity)
    return no_load, np.maximum(servo.friction.budget(motor_torque, external_torque, velocity) - no_load, 0.0)


def friction_block(samples: FrictionSamples, friction_temperature: float = 0.0) -> FrictionBlock | None:
    """Return the friction of samples; None where they determine too little, as motion one way alone.

    Args:
        samples: of a few seconds.
        friction_temperature: γ of the servo's file, 1/K.
    """
    moving = (np.abs(samples.velocity) > SLOWEST) & np.isfinite(samples.torque)
    forth = float(np.mean(samples.velocity[moving] > 0.0)) if np.any(moving) else 0.0
    if np.count_nonzero(moving) < _FEWEST or not _LEAST_SHARE <= forth <= 1.0 - _LEAST_SHARE:
        return None
    temperature = samples.temperature[moving]
    known = temperature[np.isfinite(temperature)]
    mean_temperature = float(np.mean(known)) if len(known) else math.nan
    warming = mean_temperature - REFERENCE_TEMPERATURE if len(known) else 0.0
    no_load = samples.no_load[moving] * math.exp(-friction_temperature * warming)
    predicted = no_load + samples.load[moving]
    expected = predicted * np.sign(samples.velocity[moving])
    others = np.stack([np.ones(len(expected)), samples.external[moving]], axis=1)
    both = np.stack([expected, samples.torque[moving]], axis=1)
    own, observed = (both - others @ np.linalg.lstsq(others, both, rcond=None)[0]).T
    power = float(own @ own)
    if power <= 0.0:
        return None
    factor = float(own @ observed) / power
    residual = observed - factor * own
    scale = integral_time_scale(residual) or 0.5
    variance = float(np.mean(residual**2)) * max(2.0 * scale, 1.0) / power
    used = max(factor, _LEAST_FACTOR)
    error = math.sqrt(variance) / used
    if error > _MOST_ERROR:
        return None
    return FrictionBlock(
        log_factor=math.log(used),
        error=error,
        no_load_share=float(no_load.sum() / predicted.sum()),
        temperature=mean_temperature,
    )
