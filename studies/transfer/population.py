# SPDX-License-Identifier: Apache-2.0
"""Virtual servos of one type: units differ, sessions of a unit differ, and so do runs of a session.

The type is the library's servo with its full law. Units that are recorded for the identification, units on
which the study was decided and units of the test come from the same population, with other seeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.found_servo import found_servo
from bam_core.identification.variation.factors import GROUPS, varied
from bam_core.recordings.recording import Recording
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from bam_core.servo.pendulum import GRAVITY, PendulumBench
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from studies.new_unit import OF_RUNS, unit

OF_SESSIONS = (0.10, 0.10, 0.02)
"""Relative standard deviations from session to session, in the order of `GROUPS`."""

LEAST_SUPPLY = 0.94
"""Of the nominal voltage; each episode has a supply between it and 1."""

_SCRIPTS = ("sin_time_square", "sin_sin", "up_and_down", "lift_and_drop")
_LOADS = (0.12, 0.24)  # largest gravity torque as a share of stall torque
_LENGTH = 0.15  # m
_SAMPLE_PERIOD = 5e-3  # s


@dataclass(frozen=True, kw_only=True)
class Episode:
    """The servos of one episode on the hidden robot.

    Attributes:
        servos: one per joint.
        supply: V.
    """

    servos: tuple[ServoModel, ...]
    supply: float


def recordings_of_units(
    servo: ServoModel, kp: Sequence[float], *, units: int, runs: int, random: np.random.Generator
) -> list[Recording]:
    """Return bench recordings, with the names of unit and session.

    Args:
        servo: the type.
        kp: position gains of the runs, firmware units; taken in turn.
        units: how many are recorded.
        runs: of each unit, in two sessions.
        random: draws.
    """
    stall = servo.stall_torque()
    masses = [share * stall / (GRAVITY * _LENGTH) for share in _LOADS]
    recordings: list[Recording] = []
    for number in range(units):
        of_unit = unit(servo, random)
        for session in range(2):
            of_session = _factored(of_unit, OF_SESSIONS, random)
            for run in range(session, runs, 2):
                count = len(recordings)
                recording = synthesize(
                    _servo(servo, _factored(of_session, OF_RUNS, random)),
                    PendulumBench(mass=masses[count % 2], arm_mass=0.02, length=_LENGTH),
                    _SCRIPTS[run % len(_SCRIPTS)],
                    kp[count % len(kp)],
                    SynthesisSettings(sample_period=_SAMPLE_PERIOD, quantised=True),
                )
                label = f"unit{number}", f"unit{number}_{session}"
                name = f"{count}_{recording.name}"
                recordings.append(replace(recording, name=name, unit=label[0], session=label[1]))
    return recordings


def hidden_episodes(
    servo: ServoModel, joints: int, *, robots: int, episodes: int, random: np.random.Generator
) -> list[list[Episode]]:
    """Return, robot by robot, episodes; each robot has units of its own, each episode is a session.

    Args:
        servo: the type.
        joints: of a robot.
        robots: how many.
        episodes: of each.
        random: draws.
    """
    result = []
    for _ in range(robots):
        units = [unit(servo, random) for _ in range(joints)]
        own = []
        for _ in range(episodes):
            runs = [_factored(_factored(one, OF_SESSIONS, random), OF_RUNS, random) for one in units]
            supply = servo.nominal_voltage * random.uniform(LEAST_SUPPLY, 1.0)
            own.append(Episode(servos=tuple(_servo(servo, run) for run in runs), supply=supply))
        result.append(own)
    return result


def _factored(vector: Array, deviations: Sequence[float], random: np.random.Generator) -> Array:
    return varied(vector, np.array([deviations]) * random.standard_normal((1, len(GROUPS))))[0]


def _servo(servo: ServoModel, vector: Array) -> ServoModel:
    return found_servo(servo, FRICTION_MODELS[servo.friction_model], vector)[0]
