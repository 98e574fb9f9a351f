# SPDX-License-Identifier: Apache-2.0
"""How far a robot and its bus may be from their description."""

from __future__ import annotations

from dataclasses import dataclass

from bam_core.text.tolerance_words import require_tolerances


@dataclass(frozen=True, kw_only=True)
class RobotTolerances:
    """One standard deviation of what a robot's description and bus leave open; zero: known exactly.

    Attributes:
        delay: s, of goals on their way, beside `expected_delay`.
        expected_delay: s.
        zero: rad, of every encoder.
        strength: share, of every motor's torque beside its type's.
        back_emf: share, of every motor's torque constant beside its type's.
        friction: share, of every gear's friction without load beside its type's.
        load_friction: share, of its friction under load.
        mass: share, of the mass of every heavy body.
        centre: m, of its centre, in every direction.
        table: m, of the height of a table that runs show.

    Raises:
        BamError: a value is negative, not finite or far beyond any robot.
    """

    delay: float = 5e-3
    expected_delay: float = 5e-3
    zero: float = 0.02
    strength: float = 0.05
    back_emf: float = 0.05
    friction: float = 0.1
    load_friction: float = 0.1
    mass: float = 0.03
    centre: float = 3e-3
    table: float = 5e-3

    def __post_init__(self) -> None:
        require_tolerances(self)


DEFAULT = RobotTolerances()
"""Of `identify_robot`."""
