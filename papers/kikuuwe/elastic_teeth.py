# SPDX-License-Identifier: Apache-2.0
"""Kikuuwe's rod of section 6.1 behind gears with elastic teeth, backlash and presliding.

The paper models none of these. Both sides of the gear move on their own, as in (11) before the constraint
(10) joins them. Seen at the output, with n for the torque that the teeth transmit and s for the direction of
sliding,

    m·v̇_u = f_u - n - γ_v·|n|·s,   M·v̇ = -f_v + n - γ_u·|n|·s,

whose sum and weighted difference are (14) with λ = (γ_u + γ_v)·n. The teeth are a spring and a damper with
backlash, and s follows Dahl's law, so that friction at rest gives way a little before it slides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from papers.kikuuwe.examples import (
    ROD_START,
    ROD_STIFFNESS,
    ROD_VISCOSITY,
    TIMESTEP,
    RodRun,
    rod_drive,
    rod_gear,
)

_STEP = 1e-5  # s; presliding and teeth oscillate at about 1500 rad/s, a hundredth of what this resolves


@dataclass(frozen=True, kw_only=True)
class Teeth:
    """What the gear is like beyond the paper.

    Attributes:
        stiffness: N·m/rad at the output; ten times that of the spring which the rod meets.
        damping: N·m·s/rad; 5 % of critical with half a kg·m².
        backlash: rad, from flank to flank; a third of a degree, as makers of small servos state.
        presliding: rad, over which friction at rest builds up to 1 - 1/e.
    """

    stiffness: float = 1e5
    damping: float = 22.0
    backlash: float = 6e-3
    presliding: float = 1e-4


def run_elastic_rod(
    output_side: float, *, teeth: Teeth | None = None, start: float = ROD_START, duration: float = 2.0
) -> RodRun:
    """Simulate section 6.1 with such a gear by Runge and Kutta's fourth order.

    Args:
        output_side: γ_v.
        teeth: of the gear.
        start: position at first, rad, in the middle of the backlash.
        duration: s.
    """
    teeth = teeth or Teeth()
    gear = rod_gear(output_side)
    count = round(duration / TIMESTEP)
    time: Array = TIMESTEP * np.arange(1, count + 1, dtype=np.float64)
    drive = np.array([rod_drive(t) for t in time])
    sides = gear.asymmetry
    constants = (
        *(gear.input_inertia, gear.output_inertia, sides.input_side, sides.output_side),
        *(teeth.stiffness, teeth.damping, 0.5 * teeth.backlash, teeth.presliding),
        *(ROD_STIFFNESS, ROD_VISCOSITY),
    )
    trace = np.empty((count, 2))
    _integrate(constants, drive, start, round(TIMESTEP / _STEP), _STEP, trace)
    contact = np.minimum(ROD_STIFFNESS * trace[:, 0], 0.0) + ROD_VISCOSITY * trace[:, 1]
    return RodRun(
        gear=gear, time=time, drive=drive, position=trace[:, 0], velocity=trace[:, 1], contact=contact
    )


@compiled()
def _rates(
    state: tuple[float, float, float, float, float], drive: float, constants: tuple[float, ...]
) -> tuple[float, float, float, float, float]:
    """Return the derivatives of input and output angle, input and output velocity, and s."""
    m, M, u, v, stiffness, damping, gap, presliding, spring, viscosity = constants
    input_angle, angle, input_velocity, velocity, s = state
    twist, rate = input_angle - angle, input_velocity - velocity
    n = 0.0
    if twist > gap:
        n = max(stiffness * (twist - gap) + damping * rate, 0.0)
    elif twist < -gap:
        n = min(stiffness * (twist + gap) + damping * rate, 0.0)
    load = min(spring * angle, 0.0) + viscosity * velocity
    size = abs(n) * s
    sliding = input_velocity
    direction = 1.0 if sliding > 0.0 else -1.0
    return (
        input_velocity,
        velocity,
        (drive - n - v * size) / m,
        (n - load - u * size) / M,
        sliding / presliding * (1.0 - direction * s),
    )


@compiled()
def _moved(
    state: tuple[float, float, float, float, float],
    rates: tuple[float, float, float, float, float],
    step: float,
) -> tuple[float, float, float, float, float]:
    a, b, c, d, e = state
    p, q, r, s, t = rates
    return a + step * p, b + step * q, c + step * r, d + step * s, e + step * t


@compiled()
def _integrate(
    constants: tuple[float, ...], drive: Array, start: float, substeps: int, step: float, trace: Array
) -> None:
    """Fill in angle and velocity of the output after every sample of the drive, (n, 2)."""
    state = (start, start, 0.0, 0.0, 0.0)
    for k in range(len(drive)):
        for _ in range(substeps):
            one = _rates(state, drive[k], constants)
            two = _rates(_moved(state, one, 0.5 * step), drive[k], constants)
            three = _rates(_moved(state, two, 0.5 * step), drive[k], constants)
            four = _rates(_moved(state, three, step), drive[k], constants)
            state = _moved(
                _moved(_moved(_moved(state, one, step / 6.0), two, step / 3.0), three, step / 3.0),
                four,
                step / 6.0,
            )
        trace[k, 0] = state[1]
        trace[k, 1] = state[3]
