# SPDX-License-Identifier: Apache-2.0
"""A servo as the numbers that `_law` works with."""

from __future__ import annotations

from bam_core.servo.model import ServoModel
from bam_core.simulation.rows import firmware_stepping


def servo_constants(servo: ServoModel) -> list[float]:
    """Return the row of constants of one servo, in the order of `_law`'s columns."""
    overload = firmware_stepping(servo.firmware)
    motor, firmware, friction = servo.motor, servo.firmware, servo.friction
    servo_effects = servo.servo_effects
    stiffness, damping = (float(gain) for gain in firmware.gains(1.0 + servo_effects.firmware_gain))
    return [
        motor.torque_constant / motor.resistance,
        motor.torque_constant,
        stiffness,
        firmware.demand_limit * (1.0 - servo_effects.limit_shortfall),
        firmware.period,
        *friction.coefficients().values(),
        1.0 if friction.quadratic_rule == "opposing" else 0.0,
        motor.torque_saturation,
        motor.winding_heating * motor.resistance,
        damping,
        1.0 if firmware.regulates_current else 0.0,
        motor.resistance,
        servo_effects.friction_temperature,
        servo_effects.bridge_coasting,
        servo_effects.sensor_delay,
        firmware.resolution if servo_effects.encoder_quantisation else 0.0,
        firmware.dead_band,
        firmware.error_offset,
        servo_effects.goal_speed_limit(firmware.goal_speed_limit),
        servo_effects.load_inertia,
        motor.armature,
        servo_effects.friction_direction,
        overload["overload_threshold"],
        overload["overload_trip"],
        overload["overload_limit"],
        firmware.resolution,
    ]
