# SPDX-License-Identifier: Apache-2.0
"""A servo as the numbers of `mujoco/native/servo_law.h`, by name."""

from __future__ import annotations

import math

from bam_core.servo.model import ServoModel


def law_values(servo: ServoModel) -> dict[str, float]:
    """Return the constants of a servo and its nominal supply by name, SI units; of a gear nothing."""
    motor, firmware, friction, servo_effects = (
        servo.motor,
        servo.firmware,
        servo.friction,
        servo.servo_effects,
    )
    protection = firmware.protection
    speed = servo_effects.goal_speed_limit(firmware.goal_speed_limit)
    stiffness, damping = (float(gain) for gain in firmware.gains(1.0 + servo_effects.firmware_gain))
    return {
        "torque_constant": motor.torque_constant,
        "resistance": motor.resistance,
        "demand_per_kp_rad": stiffness,
        "demand_per_root_kp_velocity": damping,
        "demand_limit": firmware.demand_limit * (1.0 - servo_effects.limit_shortfall),
        "period": firmware.period,
        "regulates_current": 1.0 if firmware.regulates_current else 0.0,
        **friction.coefficients(),
        "quadratic_opposing": 1.0 if friction.quadratic_rule == "opposing" else 0.0,
        "torque_saturation": motor.torque_saturation,
        "winding_heating": motor.winding_heating,
        "supply_voltage": servo.nominal_voltage,
        "friction_temperature": servo_effects.friction_temperature,
        "bridge_coasting": servo_effects.bridge_coasting,
        "sensor_delay": servo_effects.sensor_delay,
        "encoder_count": firmware.resolution if servo_effects.encoder_quantisation else 0.0,
        "dead_band": firmware.dead_band,
        "error_offset": firmware.error_offset,
        "goal_speed_limit": speed if math.isfinite(speed) else 0.0,
        "goal_acceleration_limit": firmware.goal_acceleration,
        "kd_scale": firmware.kd_scale or 0.0,
        "ki_scale": firmware.ki_scale or 0.0,
        "overload_threshold": protection.threshold if protection else 1.0,
        "overload_time": protection.time if protection else 0.0,
        "overload_limit": protection.limit if protection else 1.0,
        "resolution": firmware.resolution,
        "load_inertia": servo_effects.load_inertia,
        "friction_direction": servo_effects.friction_direction,
        "armature": motor.armature,
    }
