# SPDX-License-Identifier: Apache-2.0
"""What errors of the bench do to a fit: by the implicit function theorem, dp/dh = -(JᵀWJ)⁻¹·JᵀW·∂r/∂h.

A mass that is 3 % off its header leads to parameters that are off, and no log contradicts: motor, friction
and inertia of a servo that is 3 % weaker move a load that is 3 % lighter the same way. So headers are part of
what intervals allow for. Half of the variance of an error is common to all loads (the scale, the ruler), half
is each load's own (its screws); all of it where there is one load.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.identification.search.evidence import set_right
from bam_core.identification.search.sensitivity import Sensitivity, residuals_at
from bam_core.identification.uncertainty.tolerances import Tolerances
from bam_core.recordings.recording import Recording
from bam_core.servo.model import ServoModel
from bam_core.simulation.rollout import PARAMETERS, Rollout

_UNOBSERVABLE = 0.2  # share of an error's effect on the arm that remains after parameters compensate for it
_MATTERS = 1e-3  # of the search range, by which parameters move for an error that is worth reporting

Change = Callable[[Sequence[Recording], float], list[Recording]]


@dataclass(frozen=True, kw_only=True)
class HeaderError:
    """One thing about the bench that may be wrong.

    Attributes:
        name: as in `Tolerances`, with the load where it is one load's own.
        deviation: one standard deviation, in the unit of the tolerance.
        shift: (dimension,) by which the fit moves for it, in shares of the search range.
        unobservable: from these recordings: parameters compensate for it almost completely.
    """

    name: str
    deviation: float
    shift: Array
    unobservable: bool

    def summary(self, names: Sequence[str]) -> dict[str, Any]:
        """Return its entry in ``summary.json``: shifts in shares of the search range, by parameter."""
        return {
            "name": self.name,
            "deviation": self.deviation,
            "untold": self.unobservable,
            "shifts": {name: float(shift) for name, shift in zip(names, self.shift, strict=True)},
        }


def header_errors(
    servo: ServoModel,
    recordings: Sequence[Recording],
    optimum: Sensitivity,
    right: Sensitivity,
    tolerances: Tolerances,
) -> list[HeaderError]:
    """Return what errors of the bench would do to a fit, those that would move it.

    Args:
        servo: with the parameters found.
        recordings: that they were fitted to.
        optimum: the linear model at the fit.
        right: the same where its uncertainty is counted from; its residuals are those of right simulations.
        tolerances: of the bench.
    """
    headers = []
    free = {axis.name for axis in optimum.space.axes}

    def moved(logs: Sequence[Recording], vector: Array) -> Array:
        return residuals_at(Rollout.for_servo(logs, servo), vector) - optimum.residuals

    for name, deviation, change in _changes(recordings, tolerances):
        ahead, behind = (moved(change(recordings, sign * deviation), optimum.vector) for sign in (1.0, -1.0))
        headers.append(_error(name, deviation, right, 0.5 * (ahead - behind)))
    for name, deviation, effect in (
        ("zero", tolerances.zero, "zero_offset"),
        ("delay", tolerances.delay, "command_delay"),
    ):
        if deviation > 0.0 and effect not in free:
            vectors = [optimum.vector.copy(), optimum.vector.copy()]
            for vector, sign in zip(vectors, (1.0, -1.0), strict=True):
                vector[PARAMETERS.index(effect)] += sign * deviation
            ahead, behind = (moved(recordings, vector) for vector in vectors)
            headers.append(_error(name, deviation, right, 0.5 * (ahead - behind)))
    return [header for header in headers if np.max(np.abs(header.shift), initial=0.0) > _MATTERS]


def _error(name: str, deviation: float, right: Sensitivity, offset: Array) -> HeaderError:
    """Return how parameters compensate for an error of the bench."""
    ahead, behind = (set_right(right, sign * offset).normalised for sign in (1.0, -1.0))
    shift = 0.5 * (ahead - behind)
    size = float(offset @ offset)
    left = offset + right.jacobian @ shift
    return HeaderError(
        name=name,
        deviation=deviation,
        shift=shift,
        unobservable=size > 0.0 and float(left @ left) < _UNOBSERVABLE**2 * size,
    )


def _changes(recordings: Sequence[Recording], tolerances: Tolerances) -> list[tuple[str, float, Change]]:
    """Name what may be wrong, one standard deviation of it, and what changes recordings by as much."""
    changes: list[tuple[str, float, Change]] = []
    for name, deviation, field, unit in (
        ("mass", tolerances.mass, "mass", "kg"),
        ("arm_mass", tolerances.arm_mass, "arm_mass", "kg"),
        ("length", tolerances.length, "length", "m"),
        ("inertia", tolerances.inertia, "flywheel", "kg·m²"),
    ):
        values = sorted({getattr(log.bench, field) for log in recordings} - {0.0})
        if deviation == 0.0 or not values:
            continue
        relative = name != "length"
        share = 1.0 if len(values) == 1 else math.sqrt(0.5)
        changes.append((name, share * deviation, _bench_change(field, values, relative)))
        if len(values) > 1:
            changes += [
                (f"{name} of {value:g} {unit}", share * deviation, _bench_change(field, [value], relative))
                for value in values
            ]
    if tolerances.supply > 0.0:
        changes.append(("supply", tolerances.supply, _other_supply))
    return changes


def _bench_change(name: str, values: Sequence[float], relative: bool) -> Change:
    def change(recordings: Sequence[Recording], by: float) -> list[Recording]:
        changed = []
        for log in recordings:
            value = getattr(log.bench, name)
            shifted = value * (1.0 + by) if relative else value + by
            bench = replace(log.bench, **{name: max(shifted, 0.0)}) if value in values else log.bench
            changed.append(log if bench is log.bench else replace(log, bench=bench))
        return changed

    return change


def _other_supply(recordings: Sequence[Recording], by: float) -> list[Recording]:
    return [
        replace(log, supply_voltage=log.supply_voltage * (1.0 + by), voltage=log.voltage * (1.0 + by))
        for log in recordings
    ]
