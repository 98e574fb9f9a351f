# SPDX-License-Identifier: Apache-2.0
"""Pieces, models and stages that the tests of feed-forward share."""

from __future__ import annotations

import numpy as np

from bam_core.feedforward import HandOver, Limits, Piece, PieceBuffer
from papers.dynaban.motor_model import DynabanModel

MODEL = DynabanModel(
    torque_constant=1.6,
    resistance=2.3,
    viscous=0.03,
    static=0.22,
    coulomb=0.12,
    stribeck_velocity=0.6,
    armature=0.0123,
)

LIMITS = Limits(low=[-2.0, -1.0], high=[2.0, 1.5], speed=[6.0, 6.0], torque=[4.0, 4.0])


def line(start: float, duration: float, place, speed, torque=0.0) -> Piece:
    """A piece of two joints along straight lines."""
    position, load = np.zeros((2, 2, 5))
    position[:, 0], position[:, 1], load[:, 0] = place, speed, torque
    return Piece(start=start, duration=duration, position=position, torque=load)


def buffer(**rules: float) -> PieceBuffer:
    """Holding both joints at zero."""
    return PieceBuffer([0.0, 0.0], LIMITS, HandOver(**rules))


VIRTUAL_SUPPLY = 12.0
"""V."""


class Plant:
    """A servo that obeys MODEL, with a small load, in steps of 0.5 ms."""

    def __init__(self) -> None:
        self.position = self.velocity = 0.0

    def advance(self, voltage: float, duration: float) -> None:
        inertia, dt = MODEL.armature + 1e-3, 5e-4
        for _ in range(round(duration / dt)):
            motor = float(MODEL.motor.torque(voltage, self.velocity))
            budget = float(MODEL.budget(self.velocity))
            stop = -(inertia / dt * self.velocity + motor)
            self.velocity += (motor + min(max(stop, -budget), budget)) / inertia * dt
            self.position += self.velocity * dt
