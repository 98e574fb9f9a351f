# SPDX-License-Identifier: Apache-2.0
"""Gears with asymmetric load-dependent friction and exact static friction (Kikuuwe); see docs/gears.md.

``bam gear LOGS --servo NAME --output gear.yaml`` fits such a gear. Simulations take the file as a servo.
``worm_gear(...)``, `spur_gear` and `leadscrew` compute its `Asymmetry` from geometry.
"""

from bam_core.gears.axproj import AxisProjection, axproj, largest_gain
from bam_core.gears.gear import Gear, GearStep
from bam_core.gears.geared_joints import GearedJoints, JointsStep
from bam_core.gears.geometry import Transmission, leadscrew, spur_gear, worm_gear
from bam_core.gears.internal_force import friction_torque, internal_force, internal_forces
from bam_core.servo.asymmetry import Asymmetry

__all__ = [
    "Asymmetry",
    "AxisProjection",
    "Gear",
    "GearStep",
    "GearedJoints",
    "JointsStep",
    "Transmission",
    "axproj",
    "friction_torque",
    "internal_force",
    "internal_forces",
    "largest_gain",
    "leadscrew",
    "spur_gear",
    "worm_gear",
]
