# SPDX-License-Identifier: Apache-2.0
"""Which parts of the model a block needs: those that any of its candidates has."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bam_core.arrays import Array
from bam_core.simulation.kernel import candidate, state
from bam_core.simulation.kernel.lanes import compiled_lanes
from bam_core.simulation.rows import Stepping


class Parts(NamedTuple):
    """What of the model is on in any lane of a block.

    Attributes:
        load: friction that depends on the load.
        stribeck: friction that fades with speed.
        load_inertia: the inertia of the load presses the teeth, which changes friction.
        motor_effects: saturation, winding heat, or bridge coasting.
        counts: the firmware sees whole counts of its encoder.
        ripple: the supply ripples.
        slew: the set-point takes time to follow the goal.
        profile: the set-point's acceleration is limited.
        error_shape: the firmware has a dead band or an offset.
        rate: the firmware has a derivative gain.
        integral: the firmware has an integral gain.
        protection: the firmware protects itself from overload.
        plain_firmware: `firmware.demand_voltage_in_time` is all that the firmware does.
    """

    load: bool
    stribeck: bool
    load_inertia: bool
    motor_effects: bool
    counts: bool
    ripple: bool
    slew: bool
    profile: bool
    error_shape: bool
    rate: bool
    integral: bool
    protection: bool
    plain_firmware: bool


@compiled_lanes
def parts_of(s: Array, c: Array, lanes: int, ripples: bool, stepping: Stepping) -> Parts:
    """Return the parts that are on; `ripples` where logs have the ripple of the supply."""
    load = _is_on(c, candidate.LOAD_MOTOR, lanes) or _is_on(c, candidate.LOAD_EXTERNAL, lanes)
    stribeck = (
        _is_on(c, candidate.STRIBECK_COULOMB, lanes)
        or _is_on(c, candidate.LOAD_MOTOR_STRIBECK, lanes)
        or _is_on(c, candidate.LOAD_EXTERNAL_STRIBECK, lanes)
        or _is_on(c, candidate.QUADRATIC_MOTOR, lanes)
        or _is_on(c, candidate.QUADRATIC_EXTERNAL, lanes)
    )
    coasting = _is_on(c, candidate.BRIDGE_COASTING, lanes)
    saturation = _is_on(c, candidate.TORQUE_SATURATION, lanes)
    heating = _is_on(c, candidate.WINDING_HEATING, lanes)
    counts = _is_on(c, candidate.ENCODER_QUANTISATION, lanes)
    ripple = ripples and _is_on(c, candidate.SUPPLY_RIPPLE, lanes)
    slew = stepping.goal_speed_limit < math.inf or _is_on(c, candidate.GOAL_SLEW_TIME, lanes)
    profile = _is_on(s, state.SET_ACCELERATION, lanes)
    error_shape = stepping.dead_band > 0.0 or stepping.error_offset > 0.0
    rate = _is_on(s, state.RATE_TIME, lanes)
    integral = _is_on(s, state.INTEGRAL_RATE, lanes)
    protection = stepping.overload_trip < math.inf
    plain_firmware = stepping.renewal >= stepping.substeps and not (
        stepping.regulates_current
        or error_shape
        or rate
        or integral
        or protection
        or slew
        or profile
        or coasting
        or counts
        or ripple
        or _is_on(c, candidate.COMMAND_DELAY, lanes)
        or _is_on(c, candidate.SENSOR_DELAY, lanes)
        or _is_on(c, candidate.LIMIT_SHORTFALL, lanes)
    )
    return Parts(
        load,
        stribeck,
        (load or stribeck) and _is_on(c, candidate.LOAD_INERTIA, lanes),
        coasting or saturation or heating,
        counts,
        ripple,
        slew,
        profile,
        error_shape,
        rate,
        integral,
        protection,
        plain_firmware,
    )


@compiled_lanes
def _is_on(c: Array, row: Any, lanes: int) -> bool:
    """Return whether any candidate has this parameter."""
    on = False
    for i in range(np.uint64(lanes)):
        on = on or c[row + i] != 0.0
    return on
