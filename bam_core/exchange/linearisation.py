# SPDX-License-Identifier: Apache-2.0
"""A servo's motor and friction as linear laws, for simulators that have no others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from bam_core.servo.firmware_library import firmware_fields
from bam_core.servo.model import ServoModel
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import SERVO_EFFECTS

_INSTEAD = (
    "Identify m1 with --effects none for parameters fitted for MuJoCo, or simulate with bam_core.mujoco for"
    " the whole law"
)
_GRID = 41  # points per axis on which laws are approximated
_TORQUE_SHARE, _SPEED_SHARE = 0.2, 0.5  # of stall torque and of no-load speed, up to which friction is


def linear_motor(servo: ServoModel, supply: float) -> tuple[DcMotor, list[str]]:
    """Return the servo's motor, or the nearest one without saturation; and a remark in that case.

    Nearest in the mean square of the torque over voltages (or for firmware that asks for a current, currents)
    up to the largest, and speeds up to half that without load. It warms as quickly when stalled.
    """
    motor, firmware = servo.motor, servo.firmware
    if not motor.torque_saturation:
        return motor, []
    if firmware.regulates_current:
        stalled = "with the largest current"
        current = np.linspace(0.0, firmware.demand_limit, _GRID)
        torque = motor.torque(motor.resistance * current, 0.0)
        constant, resistance = float(current @ torque / (current @ current)), motor.resistance
        before, after = float(torque[-1]), constant * firmware.demand_limit
    else:
        stalled = "stalled"
        largest = supply * firmware.demand_limit
        speed = _SPEED_SHARE * largest / motor.torque_constant
        voltage, velocity = np.meshgrid(np.linspace(0.0, largest, _GRID), np.linspace(0.0, speed, _GRID))
        axes = np.stack([voltage.ravel(), -velocity.ravel()], axis=1)
        (per_volt, damping), _ = nnls(axes, motor.torque(voltage, velocity).ravel())
        constant, resistance = float(damping / per_volt), float(damping / per_volt**2)
        before, after = float(motor.torque(largest, 0.0)), float(per_volt * largest)
    linear = replace(
        motor,
        torque_constant=constant,
        resistance=resistance,
        torque_saturation=0.0,
        winding_heating=motor.winding_heating * resistance / motor.resistance,
    )
    remark = (
        f"torque_saturation: MuJoCo's torque is proportional to the current. The nearest values are "
        f"{constant:.4g} N·m/A and {resistance:.4g} Ω instead of {motor.torque_constant:.4g} and "
        f"{motor.resistance:.4g}, {stalled} with {after:.3g} instead of {before:.3g} N·m. {_INSTEAD}"
    )
    return linear, [remark]


def m1_friction(servo: ServoModel) -> tuple[float, float, list[str]]:
    """Return damping N·m·s/rad and frictionloss N·m of M1, or of the nearest M1; and a remark in that case.

    Nearest in the mean square over loads that the motor balances, up to a fifth of its stall torque, and
    speeds up to half that without load.
    """
    friction = servo.friction
    if servo.friction_model == "m1":
        return friction.viscous, friction.coulomb, []
    torque = _TORQUE_SHARE * servo.stall_torque()
    speed = _SPEED_SHARE * servo.nominal_voltage / servo.motor.torque_constant
    load, velocity = np.meshgrid(np.linspace(0.0, torque, _GRID), np.linspace(0.0, speed, _GRID))
    budget: NDArray[np.float64] = friction.budget(load, -load, velocity).ravel()
    (damping, frictionloss), residual = nnls(
        np.stack([velocity.ravel(), np.ones(budget.size)], axis=1), budget
    )
    remark = (
        f"friction: MuJoCo has Coulomb and viscous friction only. The nearest values to "
        f"{servo.friction_model} differ by {residual / np.sqrt(budget.size):.2g} N·m rms (mean friction "
        f"{budget.mean():.2g} N·m). This holds for loads up to {torque:.3g} N·m and speeds up to "
        f"{speed:.3g} rad/s. {_INSTEAD}"
    )
    return float(damping), float(frictionloss), [remark]


def left_out(servo: ServoModel, place: str, *, has_controller: bool = True) -> list[str]:
    """Return one line for each effect and firmware feature of a servo that a linear law has not.

    Args:
        servo: the servo.
        place: the law, as in "MuJoCo's dcmotor".
        has_controller: the law has the firmware's position controller.
    """
    effects = [
        f"{name}: is left out, {place} has no such effect"
        for name in SERVO_EFFECTS
        if getattr(servo.servo_effects, name) and name != "firmware_gain"  # it is in the stiffness
    ]
    features = [
        f"{name} of the firmware: is left out, {place} has none"
        for name in ("dead_band", "error_offset", "goal_speed_limit", "goal_acceleration_limit", "protection")
        if has_controller and name in firmware_fields(servo.firmware)
    ]
    return effects + features
