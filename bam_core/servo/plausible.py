# SPDX-License-Identifier: Apache-2.0
"""Between which values a quantity of a servo can lie, as it is read from a file: beyond are typing errors.

The ranges are generous: they hold every servo from those of a gram to joints of machine tools, seen at the
output shaft and gearbox included. They keep products and quotients of parameters far from the largest and
smallest numbers of a computer, where simulations overflow.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from bam_core.errors import OutOfRange

_TORQUE = 1e5  # N·m; the largest industrial robots have joints of 1e4
_SHARE = 1e2  # of a torque; gears that lock themselves have shares above 1

PLAUSIBLE: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "nominal_voltage": (0.1, 1e3),  # V; one cell has 1, rectified mains of 400 V has 560
        "supply_voltage": (0.1, 1e3),
        "kp": (1e-6, 1e8),  # firmware units; registers have 16 bits, those of Dynamixel Y 32
        "gear_ratio": (1e-2, 1e5),
        "torque_constant": (1e-6, 1e3),  # N·m/A; coreless motors have 1e-4, large gears multiply by 1e3
        "resistance": (1e-4, 1e5),  # Ω; motors of kilowatts have 1e-2, the smallest have 1e2
        "armature": (0.0, 1e4),  # kg·m²; a rotor of 1e-2 behind 1:500 has 2500
        "torque_saturation": (0.0, 1e3),  # 1/A; halves the torque at 1 mA
        "winding_heating": (0.0, 1e4),  # K/J; a gram of copper has 2.6
        "viscous": (0.0, _TORQUE),  # N·m·s/rad
        "coulomb": (0.0, _TORQUE),
        "stribeck_coulomb": (0.0, _TORQUE),
        "stribeck_velocity": (1e-6, 1e4),  # rad/s
        "stribeck_exponent": (1e-2, 1e2),  # literature has 0.5 to 2, fits come to 10
        "load": (0.0, _SHARE),
        "load_stribeck": (0.0, _SHARE),
        "load_motor": (0.0, _SHARE),
        "load_external": (0.0, _SHARE),
        "load_motor_stribeck": (0.0, _SHARE),
        "load_external_stribeck": (0.0, _SHARE),
        "quadratic_motor": (0.0, 1e3),  # 1/(N·m)
        "quadratic_external": (0.0, 1e3),
        "input_side": (0.0, _SHARE),
        "output_side": (0.0, _SHARE),
        "train_mae": (0.0, 1e4),  # rad; simulations count no larger error
        "selection_mae": (0.0, 1e4),
        "test_mae": (0.0, 1e4),
        # Firmware: encoders have up to 32 bits; cycles are of drives for machine tools and of hobby servos.
        "counts_per_turn": (1.0, 2.0**32),
        "factory_kp": (1e-6, 1e8),
        "period": (5e-5, 0.1),  # s
        "duty_per_kp_rad": (1e-9, 1e4),
        "duty_limit": (1e-3, 1.0),
        "amps_per_kp_rad": (1e-9, 1e4),
        "current_limit": (1e-3, 1e4),  # A
        "damping": (0.0, 1e4),  # A·s/rad
        "dead_band": (0.0, math.pi),  # rad
        "error_offset": (0.0, math.pi),  # rad
        "goal_speed_limit": (1e-3, 1e4),  # rad/s
        "goal_acceleration_limit": (1e-3, 1e6),  # rad/s²
        "kd_scale": (1e-9, 10.0),  # s; of known ones 5e-4 to 3e-2
        "kd": (1e-6, 65535.0),
        "ki_scale": (1e-6, 1e6),  # 1/s; of known ones 2 to 4
        "ki": (1e-6, 65535.0),
        "threshold": (1e-3, 1.0),
        "time": (1e-3, 1e4),  # s
        "limit": (0.0, 1.0),
        # Effects of servo and bench; see `effects.EFFECTS` for what real ones have.
        "friction_temperature": (0.0, 1.0),  # 1/K; oils have less than 0.1
        "firmware_gain": (0.0, 1e3),  # the unit of an unknown gain may be any
        "sensor_delay": (0.0, 1.0),  # s
        "goal_slew_time": (0.0, 1e3),  # s/rad
        "zero_offset": (0.0, 4.0 * math.pi),  # rad, as positions of recordings
        "arm_compliance": (0.0, 1e2),  # rad/(N·m)
        "arm_backlash": (0.0, math.pi),  # rad
        "arm_mass": (0.0, 20.0),  # kg, as of recordings
        "load_gyration": (0.0, 5.0),  # m, as lengths of recordings
    }
)
"""Name of a field -> least and largest amount; its type checks for zero and infinite values."""


def require_plausible(thing: str, name: str, value: float, unit: str = "") -> None:
    """Raise OutOfRange where the amount of a value is none that a servo can have.

    Args:
        thing: what has the value, as the line names it.
        name: of the field; one without a range may have any value.
        value: in its unit.
        unit: for the line.
    """
    if name not in PLAUSIBLE or value == 0.0 or not math.isfinite(value):
        return
    least, most = PLAUSIBLE[name]
    if not least <= abs(value) <= most:
        sign = "-" if value < 0.0 else ""
        ends = (most, least) if sign else (least, most)
        raise OutOfRange(
            thing,
            value,
            " to ".join(f"{sign if end else ''}{end:g}" for end in ends) + (f" {unit}" if unit else ""),
            printed=f"{value:g}",
            advice="correct it, or its unit",
        )
