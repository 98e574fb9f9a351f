# SPDX-License-Identifier: Apache-2.0
"""Rows of a block's candidates, in the order of `rollout.PARAMETERS`; see `lanes.py`."""

from __future__ import annotations

import numpy as np

from bam_core.simulation.kernel.lanes import BLOCK

(
    TORQUE_CONSTANT,
    RESISTANCE,
    ARMATURE,
    VISCOUS,
    COULOMB,
    STRIBECK_COULOMB,
    STRIBECK_VELOCITY,
    STRIBECK_EXPONENT,
    LOAD_MOTOR,
    LOAD_EXTERNAL,
    LOAD_MOTOR_STRIBECK,
    LOAD_EXTERNAL_STRIBECK,
    QUADRATIC_MOTOR,
    QUADRATIC_EXTERNAL,
    TORQUE_SATURATION,
    WINDING_HEATING,
    FRICTION_TEMPERATURE,
    BRIDGE_COASTING,
    FIRMWARE_GAIN,
    LIMIT_SHORTFALL,
    SENSOR_DELAY,
    ENCODER_QUANTISATION,
    LOAD_INERTIA,
    GOAL_SLEW_TIME,
    FRICTION_DIRECTION,
    ZERO_OFFSET,
    COMMAND_DELAY,
    ARM_COMPLIANCE,
    ARM_BACKLASH,
    ARM_MASS,
    SUPPLY_RIPPLE,
    LOAD_GYRATION,
) = (np.uint64(row * BLOCK) for row in range(32))
