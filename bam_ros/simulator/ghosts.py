# SPDX-License-Identifier: Apache-2.0
"""Robots beside the simulated one, whose servos are drawn from what is known of their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import OutOfRange, Unsupported
from bam_core.identification.found_servo import found_servo
from bam_core.identification.uncertainty.bands import percentiles, widened
from bam_core.identification.uncertainty.prediction_file import prediction_for
from bam_core.mujoco import ServoActuation, SimulationError
from bam_core.mujoco.library_warnings import divergence_reported
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoModel, load_servo
from bam_core.validation.validation import LEAST_DRAWS
from bam_ros.simulator.settings import SimulationSettings
from bam_ros.simulator.world import World


@dataclass(frozen=True, kw_only=True)
class Draws:
    """Servos of one joint as they may be.

    Attributes:
        servos: (draws,) with drawn parameters.
        residual: standard deviation of the position that no parameter explains, rad.
    """

    servos: tuple[ServoModel, ...]
    residual: float


def draws_of(servos: Mapping[str, str], count: int) -> dict[str, Draws]:
    """Return what the servo of every joint may be; joints are drawn independently.

    Args:
        servos: joint -> library name or path of the servo's file; predictions are read beside it.
        count: draws, LEAST_DRAWS or more.

    Raises:
        BamError: too few draws, a servo with a gear, or one of which nothing is known.
    """
    if count < LEAST_DRAWS:
        raise OutOfRange("draws", count, f"0 for none, or {LEAST_DRAWS} and more")
    return {joint: _draws(joint, servo, count, seed) for seed, (joint, servo) in enumerate(servos.items())}


def _draws(joint: str, servo: str, count: int, seed: int) -> Draws:
    model, prediction = load_servo(servo), prediction_for(servo)
    if model.gear is not None:
        raise Unsupported(
            f"draws of joint {joint!r}",
            f"{model.title} has a gear",
            expected="a servo as 'bam identify' writes it",
            advice="set draws to 0",
        )
    friction = friction_model(model.friction_model)
    vectors = prediction.draw(model, count=count, seed=seed)
    return Draws(
        servos=tuple(found_servo(model, friction, vector)[0] for vector in vectors),
        residual=prediction.residual,
    )


class Ghosts:
    """Robots that get the same commands as a simulated one; those that diverge are left out from then on.

    Args:
        settings: of the simulated robot.
        draws: joint -> what its servo may be, the same number for all.
    """

    def __init__(self, settings: SimulationSettings, draws: Mapping[str, Draws]) -> None:
        count = len(next(iter(draws.values())).servos)
        self._residuals = [draws[joint].residual for joint in settings.servos]
        self._robots = [
            World(replace(settings, servos={joint: draws[joint].servos[i] for joint in settings.servos}))
            for i in range(count)
        ]
        self._diverged = 0

    @property
    def warnings(self) -> tuple[str, ...]:
        """How many have diverged."""
        if not self._diverged:
            return ()
        count = self._diverged + len(self._robots)
        return (f"simulation: {self._diverged} of {count} draws diverged and are left out of the band",)

    def follow(self, leader: ServoActuation, steps: int) -> None:
        """Advance all by some steps under the commands that the leader has."""
        for robot in list(self._robots):
            actuation = robot.actuation
            for name in ("goal_position", "goal_duty", "torque_enabled", "kp", "ki", "kd"):
                getattr(actuation, name)[:] = getattr(leader, name)
            try:
                with divergence_reported():
                    for _ in range(steps):
                        actuation.step()
            except SimulationError:
                self._robots.remove(robot)
                self._diverged += 1

    def band(self) -> tuple[Array, Array] | None:
        """Return the 5th and 95th percentile of every joint, (joints,) rad each; None with too few left."""
        if len(self._robots) < LEAST_DRAWS // 2:
            return None
        positions = np.array([robot.actuation.position for robot in self._robots])
        ends = [
            widened(percentiles(column[:, None]), residual)
            for column, residual in zip(positions.T, self._residuals, strict=True)
        ]
        return np.array([low[0] for low, _ in ends]), np.array([high[0] for _, high in ends])
