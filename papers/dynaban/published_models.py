# SPDX-License-Identifier: Apache-2.0
"""Parameters of an MX-64 as Dynaban's authors published them with their program."""

from __future__ import annotations

import math

from papers.dynaban.motor_model import DynabanModel

PROGRAM = DynabanModel(
    torque_constant=1.6,
    resistance=4.1,
    viscous=0.00144,
    static=0.1249,
    coulomb=0.0254,
    stribeck_velocity=0.3068,
    armature=0.00353,
)
"""Tuned by hand: constants of model/main.py, from which its fits start. Its k_vis is below zero, since its
friction torque has the sign of the torque on the shaft; here it is above zero."""

FIRMWARE = DynabanModel(
    torque_constant=1.399,
    resistance=4.07,
    viscous=0.0811,
    static=0.1212,
    coulomb=(-0.0811 * 0.195 - math.exp(-1.0) * 0.1212 + 0.103) / (1.0 - math.exp(-1.0)),
    stribeck_velocity=0.195,
    armature=0.00353,
)
"""Fitted: constants of firmware/trajectory_manager.cpp, the fit with the score of 0.39 in model/main.py. What
the firmware calls kcoul is friction at the speed linearTransition. The program never takes over the inertia
that it searches (it writes `io` for `i0`), so that of the fit is the measured one."""
