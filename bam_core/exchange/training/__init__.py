# SPDX-License-Identifier: Apache-2.0
"""Servos for training programs: mjlab, Isaac Lab, Newton, Genesis, MuJoCo Playground, MJX, MuJoCo.

A user runs `bam export SERVO --to TARGET --kp KP --output FILE`, or calls `fit_drive` and a writer of
`TARGETS`.
"""

from __future__ import annotations

from bam_core.exchange.training.drive_draws import drive_draws
from bam_core.exchange.training.drive_fit import PricedDrive, fit_drive
from bam_core.exchange.training.linear_drive import DriveGains, LinearDrive, nearest_drive
from bam_core.exchange.training.servo_draws import ServoDraws, servo_draws
from bam_core.exchange.training.targets import TARGETS

__all__ = [
    "TARGETS",
    "DriveGains",
    "LinearDrive",
    "PricedDrive",
    "ServoDraws",
    "drive_draws",
    "fit_drive",
    "nearest_drive",
    "servo_draws",
]
