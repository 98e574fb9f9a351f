# SPDX-License-Identifier: Apache-2.0
"""Units of one servo side by side: intervals of each, differences, outliers, the spread of all units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Conflict, Missing, OutOfRange, Unreadable
from bam_core.identification.found_servo import found_servo
from bam_core.identification.uncertainty.prediction_file import drawable
from bam_core.identification.variation.compared import LOAD_SHARE, QUANTITIES, compared
from bam_core.identification.variation.population import (
    FEWEST,
    Population,
    estimate_population,
    holm_adjusted,
)
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo

DRAWS = 400
"""Of each unit: its intervals are known to a twelfth of their width."""

SIGNIFICANT = 0.05
"""Probability, over all units and quantities at once, below which a difference is reported."""

_LOWEST, _HIGHEST = 0.025, 0.975
_ONE_ERROR = (0.1587, 0.8413)  # quantiles one standard deviation to either side of a normal's middle
_LARGEST_ERROR = 1.5  # of a logarithm: such an estimate says nothing of a unit
_LEAST_ERROR = 1e-4  # of a logarithm: no draw is closer


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """One quantity of one unit.

    Attributes:
        value: median of the draws, SI.
        interval: 95 %, SI.
        log_error: standard error of the logarithm; None where the recordings do not determine it.
    """

    value: float
    interval: tuple[float, float]
    log_error: float | None


@dataclass(frozen=True, kw_only=True)
class Outlier:
    """A unit that differs from the others.

    Attributes:
        unit: its name.
        quantity: name in `QUANTITIES`.
        ratio: its value by that of the typical unit.
        probability: that a unit like the others is as far from them, all comparisons regarded.
    """

    unit: str
    quantity: str
    ratio: float
    probability: float


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Units of one servo model, identified with the same friction model.

    Attributes:
        friction_model: "m1" to "m6".
        load: N·m, at which friction under load is compared.
        units: unit -> quantity -> estimate.
        populations: quantity -> of all units; without those that fewer than two units determine.
        members: quantity -> units that determine it.
        outliers: the least probable first.
    """

    friction_model: str
    load: float
    units: Mapping[str, Mapping[str, Estimate]]
    populations: Mapping[str, Population]
    members: Mapping[str, Sequence[str]]
    outliers: tuple[Outlier, ...]

    @property
    def differing(self) -> tuple[str, ...]:
        """Quantities in which units differ more than their errors explain, all comparisons regarded."""
        names = list(self.populations)
        adjusted = holm_adjusted(np.array([self.populations[name].difference for name in names]))
        return tuple(name for name, chance in zip(names, adjusted, strict=True) if chance < SIGNIFICANT)


def unit_files(directories: Sequence[Path], friction_model: str | None = None) -> dict[str, Path]:
    """Return the servo file of every unit.

    Args:
        directories: each the results of one unit, or a directory of such.
        friction_model: "m1" to "m6"; None: the last one that all units have.

    Raises:
        BamError: there is no result, fewer than two units, or no model that all of them have.
    """
    results: dict[str, dict[str, Path]] = {}
    for directory in directories:
        if not directory.is_dir():
            raise Unreadable(
                directory, "no such directory", advice="name what 'bam identify --by unit' wrote"
            )
        of_directory = {path: _models(path) for path in (directory, *sorted(directory.iterdir()))}
        units_here = {path: models for path, models in of_directory.items() if models}
        if not units_here:
            raise Missing(
                str(directory),
                "results of units, such as UNIT/m1.yaml",
                advice="run 'bam identify --by unit' first",
            )
        for path, models in units_here.items():
            if path.name in results:
                raise Conflict("units", f"{path.name} is in two directories", advice="rename one")
            results[path.name] = models
    if len(results) < FEWEST:
        raise BadData(
            "units", f"{', '.join(results)} alone", expected="two or more", advice="identify other units, too"
        )
    common = [name for name in FRICTION_MODELS if all(name in models for models in results.values())]
    if friction_model is None and not common:
        having = "; ".join(f"{unit} has {', '.join(models)}" for unit, models in results.items())
        raise Missing(
            "units", f"a friction model that all of them have ({having})", advice="identify one more"
        )
    chosen = friction_model or common[-1]
    if chosen not in common:
        lacking = [unit for unit, models in results.items() if chosen not in models]
        raise Missing(
            f"{chosen}.yaml", f"in the results of {', '.join(lacking)}", advice="name another model"
        )
    return {unit: models[chosen] for unit, models in results.items()}


def _models(directory: Path) -> dict[str, Path]:
    if not directory.is_dir():
        return {}
    files = {name: directory / f"{name}.yaml" for name in FRICTION_MODELS}
    return {name: path for name, path in files.items() if path.is_file()}


def compare_units(files: Mapping[str, Path], *, seed: int = 0) -> Fleet:
    """Return units side by side.

    Args:
        files: unit -> servo file that `bam identify` wrote.
        seed: of the draws, 0 or more.

    Raises:
        BamError: a file cannot be read or knows no errors, or units are of several servo or friction models.
    """
    if seed < 0:
        raise OutOfRange("seed", seed, "0 or more")
    servos = {unit: load_servo(path) for unit, path in files.items()}
    for field, values in (
        ("servo", {unit: servo.name for unit, servo in servos.items()}),
        ("friction model", {unit: servo.friction_model for unit, servo in servos.items()}),
    ):
        if len(set(values.values())) > 1:
            these = ", ".join(f"{unit} is {value}" for unit, value in values.items())
            raise Conflict(
                "units", f"differ in their {field}: {these}", advice="compare those that are alike"
            )
    load = LOAD_SHARE * float(np.median([servo.stall_torque() for servo in servos.values()]))
    units = {
        unit: _estimates(files[unit], servo, load, (seed, index))
        for index, (unit, servo) in enumerate(servos.items())
    }
    populations, members = {}, {}
    for name in QUANTITIES:
        having = [unit for unit, of_unit in units.items() if of_unit[name].log_error is not None]
        if len(having) < FEWEST:
            continue
        logarithms = np.log([units[unit][name].value for unit in having])
        errors = np.array([units[unit][name].log_error for unit in having], dtype=np.float64)
        populations[name], members[name] = estimate_population(logarithms, errors), having
    return Fleet(
        friction_model=next(iter(servos.values())).friction_model,
        load=load,
        units=units,
        populations=populations,
        members=members,
        outliers=_outliers(units, populations, members),
    )


def _estimates(path: Path, servo: ServoModel, load: float, seed: tuple[int, int]) -> dict[str, Estimate]:
    prediction = replace(drawable(path), inflation=1.0)  # of the estimates alone, not of other runs
    number = int(np.random.default_rng(seed).integers(2**31))
    vectors = prediction.draw(servo, count=DRAWS, seed=number)
    model = FRICTION_MODELS[servo.friction_model]
    drawn = [compared(found_servo(servo, model, vector)[0], load) for vector in vectors]
    return {name: _estimate(np.array([values[name] for values in drawn])) for name in QUANTITIES}


def _estimate(values: Array) -> Estimate:
    value = float(np.median(values))
    low, high = (float(end) for end in np.quantile(values, (_LOWEST, _HIGHEST)))
    below, above = np.quantile(values, _ONE_ERROR)
    error = None
    if below > 0.0:
        error = max(0.5 * float(np.log(above / below)), _LEAST_ERROR)
        error = error if error < _LARGEST_ERROR else None
    return Estimate(value=value, interval=(low, high), log_error=error)


def _outliers(
    units: Mapping[str, Mapping[str, Estimate]],
    populations: Mapping[str, Population],
    members: Mapping[str, Sequence[str]],
) -> tuple[Outlier, ...]:
    pairs = [(name, unit) for name in populations for unit in members[name]]
    chances = np.concatenate([populations[name].outlying for name in populations] or [np.ones(0)])
    outliers = [
        Outlier(
            unit=unit,
            quantity=name,
            ratio=units[unit][name].value / float(np.exp(populations[name].mean)),
            probability=float(chance),
        )
        for (name, unit), chance in zip(pairs, holm_adjusted(chances), strict=True)
        if chance < SIGNIFICANT
    ]
    return tuple(sorted(outliers, key=lambda outlier: outlier.probability))
