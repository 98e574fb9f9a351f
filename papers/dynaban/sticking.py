# SPDX-License-Identifier: Apache-2.0
"""Joints of the kick whose delay cannot be told, and why the supporting leg's hip roll is one of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bam_core.feedforward.inverse_dynamics import InverseDynamics
from bam_core.feedforward.pid import PidGains
from bam_core.mujoco.robot import compile_robot
from bam_core.servo.firmware_laws import VoltageFirmware
from bam_core.servo.model import ServoModel
from papers.dynaban.kicks import MOVING, REACH, SUPPLY, Experiment, Figures
from papers.dynaban.stand import DURATION, JOINTS, stand_kick, stand_spec

LEFT_OUT = (
    "joints whose search for a delay ends at its limit are left out of the means. This was decided on other"
    " robots, before these were drawn: there one joint set the means"
)

_STEP = 1e-3  # s, of the search for delays
_ROUNDS = 100  # of a contraction


def undecided_joints(*ways: Figures) -> tuple[int, ...]:
    """Return those joints that move, and whose search for a delay ends at its limit in any run of any way."""
    return tuple(joint for joint in MOVING if any(ends_at_limit(way, joint) for way in ways))


def told_joints(*ways: Figures) -> list[int]:
    """Return those joints that move, and whose delay is found in every run of every way."""
    undecided = undecided_joints(*ways)
    return [joint for joint in MOVING if joint not in undecided]


def ends_at_limit(of_way: Figures, joint: int) -> int:
    """Return in how many runs the search for a joint's delay ends at its limit."""
    return int(np.sum(np.abs(of_way.delay[:, joint]) > REACH - _STEP))


def limit_words(of_way: Figures, joints: Sequence[int]) -> str:
    """Say of joints how often the search ends at its limit, and how far they move."""
    return "; ".join(
        f"{JOINTS[joint]} not decided: the search ends at its limit of {1e3 * REACH:.0f} ms in"
        f" {ends_at_limit(of_way, joint)} of {len(of_way.delay)} kicks, and the joint moves by"
        f" {100.0 * float(np.mean(of_way.reached[:, joint])):.0f} % of its way"
        for joint in joints
    )


def sticking_words(joint: int, experiment: Experiment) -> str:
    """Say how wide a joint's static area is by its servo's law, beside the way that it should move.

    Args:
        joint: index.
        experiment: its servo, with friction and resistance as on the robots' mean.
    """
    way, low, load, high = _carried(joint)
    servo, real = experiment.servo, experiment.reality
    friction = servo.friction.scaled(no_load=real.friction)
    raising = lowering = load
    for _ in range(_ROUNDS):
        raising = load + float(friction.budget(raising, -load, 0.0))
        lowering = load - float(friction.budget(lowering, -load, 0.0))
    duties = [torque / _torque_of_duty(servo, real.resistance) for torque in (raising, lowering)]
    firmware = servo.firmware
    assert isinstance(firmware, VoltageFirmware)
    wide = np.degrees((duties[0] - duties[1]) / (firmware.duty_per_kp_rad * PidGains().p))
    return (
        f"{JOINTS[joint]} is not late, it sticks: it carries {low:.1f} to {high:.1f} N·m. At the mean,"
        f" {load:.1f} N·m, M6, whose friction grows with motor torque and load, wants {raising:.1f} N·m"
        f" ({100 * duties[0]:.0f} % duty) to raise it and {lowering:.1f} N·m ({100 * duties[1]:.0f} %) to let"
        f" it sink, and rests between. P = {PidGains().p:g} takes {wide:.1f}° of error for that; the joint's"
        f" whole way is {way:.1f}°"
    )


def _carried(joint: int) -> tuple[float, float, float, float]:
    """Return a joint's way in the kick, °, and the least, mean and largest torque on it, N·m."""
    position, velocity, acceleration = stand_kick()(np.linspace(0.0, DURATION, 100))
    torque = InverseDynamics(compile_robot(stand_spec()), JOINTS).torque(position, velocity, acceleration)
    size = np.abs(torque[:, joint])
    way = float(np.degrees(np.ptp(position[:, joint])))
    return way, float(size.min()), float(size.mean()), float(size.max())


def _torque_of_duty(servo: ServoModel, resistance: float) -> float:
    """Return the torque at rest and full duty, N·m."""
    return SUPPLY * servo.motor.torque_constant / (resistance * servo.motor.resistance)
