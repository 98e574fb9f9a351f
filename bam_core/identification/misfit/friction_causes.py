# SPDX-License-Identifier: Apache-2.0
"""Friction that M1-M6 do not have: of other shape over direction, angle, velocity, load, way and time."""

from __future__ import annotations

import numpy as np

from bam_core.arrays import Array
from bam_core.compilation import compiled
from bam_core.identification.misfit.cause import FULL, POSITIVE, SHARE, Cause
from bam_core.identification.misfit.motion import Motion
from bam_core.text.misfit_findings import Form

_PRESLIDING = (0.003, 0.006, 0.012, 0.025, 0.05, 0.1)  # rad; two encoder counts to what no gear has
_HARMONICS = tuple(range(3, 61))  # per turn; less is gravity's, more is below what a window tells apart
_SLOW_HARMONICS = tuple(range(1, 25))
_RUN_IN = (0.5, 1.5, 4.0)  # s
_STRIBECK_VELOCITIES = (0.05, 0.2, 0.8)  # rad/s; over which friction at low speed falls
_RIPPLES = 4  # harmonics that act together at most


def _direction(motion: Motion) -> Array:
    moves = motion.moves
    return np.stack([moves, motion.budget * moves, moves, np.abs(motion.velocity)], axis=1)


def _ripple(motion: Motion) -> Array:
    return _waves(motion.position, _HARMONICS)


def _friction_map(motion: Motion) -> Array:
    return -motion.direction[:, None] * _waves(motion.position, _SLOW_HARMONICS)


def _waves(angle: Array, harmonics: tuple[int, ...]) -> Array:
    phases = angle[:, None] * np.array(harmonics)
    return np.stack([np.cos(phases), np.sin(phases)], axis=2).reshape(len(angle), -1)


def _presliding(motion: Motion) -> Array:
    strain = np.empty((len(motion.time), len(_PRESLIDING)))
    for form, way in enumerate(_PRESLIDING):
        _strain(motion.velocity, way, motion.dt, strain[:, form])
    return np.asarray(motion.budget[:, None] * (motion.direction[:, None] - strain))


@compiled()
def _strain(velocity: Array, way: float, dt: float, strain: Array) -> None:
    """Bend bristles (Dahl 1968; LuGre without its Stribeck term): dz/ds = 1 - sign(v)·z over their way."""
    z = 0.0
    for k in range(len(velocity)):
        strain[k] = z
        way_now = velocity[k] * dt / way
        z = (z + way_now) / (1.0 + abs(way_now))


def _drift(motion: Motion) -> Array:
    friction = -motion.direction * motion.budget
    since = motion.time
    decays = [np.exp(-since / scale) for scale in _RUN_IN]
    return np.stack([friction * shape for shape in (since / max(since[-1], motion.dt), *decays)], axis=1)


def _temperature(motion: Motion) -> Array:
    return np.asarray((-motion.direction * motion.budget * motion.temperature_rise / 10.0)[:, None])


def _velocity(motion: Motion) -> Array:
    speed, against = np.abs(motion.velocity), -motion.direction
    decays = [np.exp(-speed / scale) for scale in _STRIBECK_VELOCITIES]
    return np.stack([against * speed**2, *(against * scale for scale in decays)], axis=1)


def _load(motion: Motion) -> Array:
    against, drive, load = -motion.direction, np.abs(motion.motor), np.abs(motion.gravity)
    lifts = (motion.gravity * motion.velocity < 0.0).astype(np.float64)
    shapes = (drive, load, drive**2, load**2, lifts * drive, lifts * load)
    return np.stack([against * shape for shape in shapes], axis=1)


def _load_inertia(motion: Motion) -> Array:
    """Let the torque that accelerates the load press on the gear's teeth (Kikuuwe 2022, eq. 14)."""
    pressing = np.abs(motion.gravity - motion.bench_inertia * motion.acceleration)
    return np.asarray((-motion.direction * (pressing - np.abs(motion.gravity)))[:, None])


def friction_causes() -> list[Cause]:
    """Return the causes that are friction."""
    return [
        Cause(
            kind="direction_asymmetry",
            forms=tuple(Form(shape=shape) for shape in ("torque", "friction", "velocity")),
            sizes=(1, 1, 2),
            torques=_direction,
            effects=("friction_direction",),
        ),
        Cause(
            kind="torque_ripple",
            forms=tuple(Form(value=float(n)) for n in _HARMONICS),
            sizes=(2,) * len(_HARMONICS),
            torques=_ripple,
            together=_RIPPLES,
        ),
        Cause(
            kind="friction_over_angle",
            forms=tuple(Form(value=float(n)) for n in _SLOW_HARMONICS),
            sizes=(2,) * len(_SLOW_HARMONICS),
            torques=_friction_map,
            together=_RIPPLES,
        ),
        Cause(
            kind="presliding",
            forms=tuple(Form(value=way) for way in _PRESLIDING),
            sizes=(1,) * len(_PRESLIDING),
            torques=_presliding,
            range=FULL,
        ),
        Cause(
            kind="friction_drift",
            forms=(Form(shape="linear"), *(Form(value=decay) for decay in _RUN_IN)),
            sizes=(1,) * (1 + len(_RUN_IN)),
            torques=_drift,
        ),
        Cause(
            kind="friction_temperature",
            forms=(Form(),),
            sizes=(1,),
            torques=_temperature,
            range=POSITIVE,
            effects=("friction_temperature",),
        ),
        Cause(
            kind="friction_over_velocity",
            forms=(Form(shape="square"), *(Form(value=velocity) for velocity in _STRIBECK_VELOCITIES)),
            sizes=(1,) * (1 + len(_STRIBECK_VELOCITIES)),
            torques=_velocity,
            together=2,
        ),
        Cause(
            kind="load_inertia",
            forms=(Form(),),
            sizes=(1,),
            torques=_load_inertia,
            range=SHARE,
            effects=("load_inertia",),
        ),
        Cause(
            kind="friction_over_load",
            forms=tuple(
                Form(shape=shape)
                for shape in ("motor", "load", "motor_square", "load_square", "motor_lifting", "load_lifting")
            ),
            sizes=(1,) * 6,
            torques=_load,
            together=3,
        ),
    ]
