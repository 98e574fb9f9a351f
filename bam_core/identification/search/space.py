# SPDX-License-Identifier: Apache-2.0
"""The space a search moves in: every free parameter on a scale where equal steps matter equally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.motor_evidence import has_free_scale, motor_evidence
from bam_core.identification.search.space_prior import SpacePrior
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import EFFECTS
from bam_core.servo.friction import Friction, FrictionModel
from bam_core.servo.parameters import MOTOR_PARAMETERS
from bam_core.simulation.rollout import PARAMETERS

_STRETCH = 0.05  # s; over which encoder counts are small against what a driven load moves
_EDGE = 1e-3  # closer to the end of its axis than this, a parameter counts as stopped by its bound
_RELATIVE = ("firmware_gain",)  # errors relative to a value, above -1
_WIDE = 4.0  # from the smallest to the largest gain; the usual range of ±30 % is a factor of 1.9


@dataclass(frozen=True, kw_only=True)
class Axis:
    """One free parameter between its bounds, seen as a coordinate between 0 and 1.

    A positive parameter whose size is not known beforehand lies on a logarithmic scale. One that may be zero
    lies on a square: zero is a point of the axis (and not infinitely far away), small values are spread out.
    One that may be negative lies on a linear scale. The relative error of a gain whose unit is unknown may be
    large: there 1 + error lies on a logarithmic scale.

    Attributes:
        name: of the parameter.
        low: lower bound, SI; zero makes the scale a square, anything above logarithmic, below linear.
        high: upper bound, SI.
        targets: entries of PARAMETERS that this parameter sets.
    """

    name: str
    low: float
    high: float
    targets: tuple[str, ...]

    @property
    def origin(self) -> float:
        """Where a logarithmic scale begins: at -1 for a wide relative error, else at 0."""
        is_wide = self.name in _RELATIVE and 1.0 + self.high > _WIDE * (1.0 + self.low) > 0.0
        return -1.0 if is_wide else 0.0

    def value(self, coordinate: Array) -> Array:
        """Return the parameter at coordinates in 0..1."""
        low, high = self.low - self.origin, self.high - self.origin
        if low > 0.0:
            return np.asarray(low * (high / low) ** coordinate + self.origin)
        if self.low < 0.0:
            return np.asarray(self.low + (self.high - self.low) * coordinate)
        return np.asarray(self.high * coordinate**2)

    def coordinate(self, value: float) -> float:
        """Return the coordinate of a parameter value; values beyond the bounds go to the nearer end."""
        inside = min(max(value, self.low), self.high)
        low, high = self.low - self.origin, self.high - self.origin
        if low > 0.0:
            return float(np.log((inside - self.origin) / low) / np.log(high / low))
        if self.low < 0.0:
            return (inside - self.low) / (self.high - self.low)
        return float(np.sqrt(inside / self.high))


@dataclass(frozen=True, kw_only=True)
class SearchSpace:
    """The free parameters of one friction model and its motor.

    Points are unbounded: coordinates beyond 0..1 are folded back like light between two mirrors, so a search
    needs no rule for bounds and no point is wasted.

    Attributes:
        axes: one per free parameter.
        base: (PARAMETERS,) values of the parameters that are not free.
        prior: what is known of the free parameters; None: only their bounds.
    """

    axes: tuple[Axis, ...]
    base: Array
    prior: SpacePrior | None = None

    @property
    def dimension(self) -> int:
        """Count of free parameters."""
        return len(self.axes)

    def vectors(self, points: Array) -> Array:
        """Return the parameter vectors of points.

        Args:
            points: (n, dimension), any real numbers.

        Returns:
            (n, PARAMETERS) SI.
        """
        folded = fold(points)
        vectors = np.tile(self.base, (len(points), 1))
        for column, axis in enumerate(self.axes):
            for target in axis.targets:
                vectors[:, PARAMETERS.index(target)] = axis.value(folded[:, column])
        return vectors

    def point(self, vector: Array) -> Array:
        """Return the point of a parameter vector, (dimension,) in 0..1, nearest where it lies outside."""
        return np.array([axis.coordinate(vector[PARAMETERS.index(axis.targets[0])]) for axis in self.axes])

    def at_bound(self, vector: Array) -> tuple[str, ...]:
        """Name the parameters that a bound has stopped; zero is a legitimate value, not a bound."""
        stopped = []
        for axis, coordinate in zip(self.axes, self.point(vector), strict=True):
            low_end = axis.low != 0.0 and coordinate < _EDGE
            if low_end or coordinate > 1.0 - _EDGE:
                stopped.append(axis.name)
        return tuple(stopped)


def fold(points: Array) -> Array:
    """Fold real numbers into 0..1 by reflection at both ends; identity inside."""
    return np.asarray(1.0 - np.abs(np.mod(points, 2.0) - 1.0))


def search_space(
    model: FrictionModel,
    recordings: Sequence[Recording],
    known: Mapping[str, tuple[float, float]] | None = None,
    effects: Sequence[str] = (),
) -> SearchSpace:
    """Return the space for a friction model and effects, with bounds that follow from what was on the bench.

    Bounds are wide: they keep the search among motors that could have moved this bench at all. With U the
    supply and G the largest gravity torque, k_t lies between a no-load speed of 150 rad/s and of 0.5 rad/s
    at U; the armature between a thousandth and a hundred times the bench's own inertia; friction torques
    below 2·G. Of a balanced load (in open loop), what accelerates it stands for G; without any load, the
    largest torque of the motor does. What is known of the servo may narrow them.

    Where recordings have a free scale (nothing on the shaft), motor constants are not free: they are those of
    the measured voltage and current, see `motor_evidence`.

    Args:
        model: which friction parameters are free.
        recordings: the training logs.
        known: (low, high) of parameters, as in `SearchRanges.ranges`.
        effects: which of EFFECTS are free, or on where they are switches; the others are off.
    """
    measured = _measured_motor(recordings)
    bounds = {**_bounds(recordings, measured.get("torque_constant")), **(known or {})}
    switches = {name: EFFECTS[name].high for name in effects if EFFECTS[name].is_switch}
    names = (*MOTOR_PARAMETERS, *model.parameters, *(name for name in effects if name not in switches))
    names = tuple(name for name in names if name not in measured)
    axes = axes_of(model, {name: bounds[name] for name in names})
    switched_off = {
        **{"torque_constant": 1.0, "resistance": 1.0, "armature": 0.0},
        **Friction().coefficients(),
        **dict.fromkeys(EFFECTS, 0.0),
    }
    base = {**switched_off, **switches, **measured}
    return SearchSpace(axes=axes, base=np.array([base[name] for name in PARAMETERS]))


def _measured_motor(recordings: Sequence[Recording]) -> dict[str, float]:
    if not has_free_scale(recordings):
        return {}
    evidence = motor_evidence(recordings)
    return {"torque_constant": evidence.torque_constant, "resistance": evidence.resistance}


def axes_of(model: FrictionModel, ranges: Mapping[str, tuple[float, float]]) -> tuple[Axis, ...]:
    """Return the axes of free parameters of a friction model and its motor, by the (low, high) of each."""
    return tuple(
        Axis(name=name, low=low, high=high, targets=_targets(model, name))
        for name, (low, high) in ranges.items()
    )


def _targets(model: FrictionModel, name: str) -> tuple[str, ...]:
    """Name the entries of PARAMETERS that a parameter sets: M3 and M4 tie two coefficients to one."""
    if name in MOTOR_PARAMETERS or name in EFFECTS:
        return (name,)
    off = Friction().coefficients()
    return tuple(
        key for key, value in model.friction({name: 2.0}).coefficients().items() if value != off[key]
    )


def _bounds(
    recordings: Sequence[Recording], torque_constant: float | None = None
) -> Mapping[str, tuple[float, float]]:
    """Return the bounds; `torque_constant` is given where nothing is on the shaft."""
    supply = max(recording.supply_voltage for recording in recordings)
    gravity = max(max(map(_load_torque, recordings)), 1e-3)
    inertia = max(max(recording.bench.inertia for recording in recordings), 1e-6)
    if torque_constant is not None:
        gravity, inertia = _motor_scale(recordings, torque_constant)
    return {
        "torque_constant": (supply / 150.0, supply / 0.5),
        "resistance": (0.05, 200.0),
        "armature": (1e-3 * inertia, 1e2 * inertia),
        "viscous": (0.0, 2.0 * gravity),  # at 1 rad/s
        "coulomb": (0.0, 2.0 * gravity),
        "stribeck_coulomb": (0.0, 2.0 * gravity),
        "stribeck_velocity": (0.1, 10.0),  # slower than that, an encoder of 4096 counts sees steps, not speed
        "stribeck_exponent": (0.5, 4.0),  # a cusp below, a switch above: neither can be told from a point
        "load": (0.0, 1.0),
        "load_stribeck": (0.0, 1.0),
        "load_motor": (0.0, 1.0),
        "load_external": (0.0, 1.0),
        "load_motor_stribeck": (0.0, 1.0),
        "load_external_stribeck": (0.0, 1.0),
        "quadratic_motor": (0.0, 5.0 / gravity),
        "quadratic_external": (0.0, 5.0 / gravity),
        **{effect.name: (effect.low, effect.high) for effect in EFFECTS.values()},
    }


def _load_torque(recording: Recording) -> float:
    """Return the largest torque of the load, N·m: gravity's, or what accelerates one that hangs nowhere."""
    if recording.bench.gravity_torque > 0.0:
        return recording.bench.gravity_torque
    return recording.bench.inertia * _largest_acceleration(recording)


def _motor_scale(recordings: Sequence[Recording], torque_constant: float) -> tuple[float, float]:
    """Return the motor's largest torque, N·m, and the inertia that it accelerates as it was seen to."""
    current = max(float(np.nanmax(np.abs(log.current))) for log in recordings if log.measures_motor)
    torque = max(torque_constant * current, 1e-3)
    return torque, torque / max(max(map(_largest_acceleration, recordings)), 1e-3)


def _largest_acceleration(recording: Recording) -> float:
    """Return the largest acceleration, rad/s², over stretches of `_STRETCH`."""
    reach = max(round(_STRETCH / recording.dt), 1)
    bends = np.diff(recording.position[::reach], n=2)
    return float(np.max(np.abs(bends), initial=0.0)) / (reach * recording.dt) ** 2


def is_nested(inner: FrictionModel, outer: FrictionModel) -> bool:
    """Return whether one model contains the other: M1 is in all, M2 and M3 in M4, M4 in M5, M5 in M6."""
    fewer = len(inner.parameters) < len(outer.parameters)
    return fewer and _coefficients(inner) <= _coefficients(outer)


def added_terms(inner: FrictionModel, outer: FrictionModel) -> int:
    """Return how many coefficients of friction one model has besides those of another."""
    return len(_coefficients(outer) - _coefficients(inner))


def _coefficients(model: FrictionModel) -> set[str]:
    return {target for name in model.parameters for target in _targets(model, name)}
