# SPDX-License-Identifier: Apache-2.0
"""Run a port through the golden cases, and name where and why it differs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import combinations

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BamError
from bam_core.exchange.conformance.cases import VERSION, golden_cases
from bam_core.exchange.conformance.port import PortFactory
from bam_core.exchange.conformance.specification import DEVIATIONS, Specification
from bam_core.exchange.conformance.step import GoldenCase
from bam_core.text.conformance_findings import Difference

TOLERANCES = {"float64": 1e-9, "float32": 1e-4}
"""Largest relative error of a torque by precision; a step of float32 is 6e-8, and stops divide by dt."""

_EXPLAINED = 0.02  # share of a port's error that remains where a deviation explains it


@dataclass(frozen=True, kw_only=True)
class Conformance:
    """The outcome of a conformance run.

    Attributes:
        version: of the golden cases.
        cases: their number.
        largest_error: relative, over all cases.
        differences: one per case that differs beyond the tolerance.
    """

    version: int
    cases: int
    largest_error: float
    differences: tuple[Difference, ...]

    @property
    def conforms(self) -> bool:
        """Whether no case differs."""
        return not self.differences


def conformance(factory: PortFactory, precision: str = "float64") -> Conformance:
    """Return where a port differs from the law.

    Args:
        factory: of the port.
        precision: key in `TOLERANCES`.

    Raises:
        BamError: the port raises, or returns no two finite numbers.
    """
    tolerance = TOLERANCES[precision]
    cases = golden_cases()
    differences = []
    largest = 0.0
    for case in cases:
        got = _torques(factory, case)
        errors = _errors(got, case.expected)
        largest = max(largest, float(errors.max()))
        if errors.max() > tolerance:
            difference = _difference(case, got, errors, tolerance)
            single = min(((name,) for name in DEVIATIONS), key=partial(_unexplained, case, got))
            differences.append((case, got, replace(difference, deviations=_explanation(case, got, [single]))))
    known = sorted({name for *_, difference in differences for name in difference.deviations})
    return Conformance(
        version=VERSION,
        cases=len(cases),
        largest_error=largest,
        differences=tuple(
            difference
            if difference.deviations
            else replace(difference, deviations=_explanation(case, got, _several(known)))
            for case, got, difference in differences
        ),
    )


def _torques(factory: PortFactory, case: GoldenCase) -> Array:
    rows = np.empty((len(case.steps), 2))
    try:
        port = factory(case.servo)
        for index, step in enumerate(case.steps):
            if index in case.resets:
                port.reset()
            motor, friction = port.step(step)
            rows[index] = motor, friction
    except (Exception, SystemExit) as error:  # of the port, which may raise anything, or end the program
        raise BamError(
            f"port, case '{case.name}': {type(error).__name__}: {error} (expected an object with reset() and "
            "step(step) that returns motor and friction torque); correct the port"
        ) from error
    if not np.isfinite(rows).all():
        bad = int(np.argwhere(~np.isfinite(rows))[0, 0])
        raise BamError(
            f"port, case '{case.name}', step {bad}: a torque is NaN or infinite (expected N·m); correct the"
            " port"
        )
    return rows


def _errors(got: Array, expected: Array) -> Array:
    """Return errors (steps, 2) relative to the size of the case's torques."""
    return np.abs(got - expected) / max(1.0, float(np.abs(expected).max()))


def _difference(case: GoldenCase, got: Array, errors: Array, tolerance: float) -> Difference:
    step, column = np.unravel_index(int(errors.argmax()), errors.shape)
    return Difference(
        case=case.name,
        step=int(step),
        quantity=("motor torque", "friction torque")[int(column)],
        expected=float(case.expected[step, column]),
        got=float(got[step, column]),
        share=float((errors.max(axis=1) > tolerance).mean()),
        deviations=(),
        adds_energy=_adds_energy(case, got, tolerance),
    )


def _several(known: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Return sets of mistakes that other cases have shown, and these with one more."""
    for size in range(1, len(known) + 1):
        for chosen in combinations(known, size):
            yield chosen
            yield from ((*chosen, name) for name in DEVIATIONS if name not in chosen)


def _explanation(case: GoldenCase, got: Array, candidates: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the first mistakes that give what the port gives; none where no candidate does."""
    most = _EXPLAINED * float(np.abs(got - case.expected).sum())
    return next((names for names in candidates if _unexplained(case, got, names) <= most), ())


def _unexplained(case: GoldenCase, got: Array, names: tuple[str, ...]) -> float:
    """Return the sum of the differences from a port with these mistakes, N·m."""
    return float(np.abs(got - _mistaken(case.name, names)).sum())


@cache
def _mistaken(name: str, deviations: tuple[str, ...]) -> Array:
    """Return what a port with these mistakes gives in the case of this name."""
    (case,) = (case for case in golden_cases() if case.name == name)
    return _torques(lambda servo: Specification(servo, deviations), case)


def _adds_energy(case: GoldenCase, got: Array, tolerance: float) -> bool:
    """Whether friction has the sign of the velocity that a step ends with."""
    for step, (motor, friction) in zip(case.steps, got, strict=True):
        after = step.velocity + (motor + step.external_torque + friction) * step.dt / step.inertia
        if friction * after > tolerance * max(1.0, abs(friction)):
            return True
    return False
