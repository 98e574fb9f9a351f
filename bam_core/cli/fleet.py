# SPDX-License-Identifier: Apache-2.0
"""``bam fleet``: units of one servo side by side."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bam_core.errors import Missing
from bam_core.files.atomic_file import require_directory, write_text

if TYPE_CHECKING:
    from bam_core.identification.fleet import Estimate, Fleet
    from bam_core.plots.fleet import Panel

EXAMPLE = "bam fleet identified_units/ --output identified_units/comparison"

FILE = "fleet.json"
PICTURE = "units.png"

_SIDE_BY_SIDE = 4  # units whose columns fit on a screen


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Compare units of one servo: intervals of each, what differs, outliers, the spread of all.\n\n"
        "DIR holds one directory per unit, as 'bam identify --by unit' writes them."
    )
    parser.add_argument("directories", nargs="*", metavar="DIR", help="results of units, or of one unit each")
    parser.add_argument(
        "--model", metavar="M1", help="friction model (default: the last that all units have)"
    )
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="of the draws (default: 0)")
    parser.add_argument(
        "--drift",
        action="store_true",
        help="DIR holds sessions, as 'bam identify --by session' writes them: how each unit changes over its "
        "sessions, with the temperature as a covariate",
    )
    parser.add_argument(
        "--output",
        metavar="DIR",
        help=f"write {FILE}, {PICTURE} and typical_MODEL.yaml there: the servo file of the type, a prior for "
        "'bam identify --prior'; of two units, its spread is mostly that of servos in general",
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare, print, write."""
    from bam_core.identification.fleet import compare_units, unit_files
    from bam_core.servo.friction import friction_model

    if not arguments.directories:
        raise Missing("DIR", "results of units, as 'bam identify --by unit' writes them")
    output = None if arguments.output is None else Path(arguments.output)
    if output is not None:
        require_directory(output)
    model = None if arguments.model is None else friction_model(arguments.model.strip().lower()).name
    directories = [Path(directory) for directory in arguments.directories]
    files = unit_files(directories, model)
    if arguments.drift:
        from bam_core.cli.fleet_drift import show_drift

        show_drift(files, arguments.seed, output)
        return 0
    fleet = compare_units(files, seed=arguments.seed)
    _print(fleet)
    if output is not None:
        _write(fleet, output)
        _write_type(files, output / f"typical_{fleet.friction_model}.yaml")
    return 0


def _print(fleet: Fleet) -> None:
    from bam_core.identification.variation.compared import QUANTITIES
    from bam_core.text.fleet_words import (
        agreement_sentence,
        difference_sentence,
        outlier_sentence,
        spread_sentence,
    )
    from bam_core.text.table import format_table

    header = ["unit", *(f"{quantity.title} [{quantity.unit}]" for quantity in QUANTITIES.values())]
    rows = [
        [unit, *(_cell(estimates[name]) for name in QUANTITIES)] for unit, estimates in fleet.units.items()
    ]
    units = len(fleet.units)
    typical = {name: math.exp(population.mean) for name, population in fleet.populations.items()}
    rows.append(
        ["typical unit", *(f"{typical[name]:.4g}" if name in typical else "-" for name in QUANTITIES)]
    )
    rows.append(["spread", *(_spread_cell(fleet, name) for name in QUANTITIES)])
    rows.append(["unseen", *(_unseen_cell(fleet, name) for name in QUANTITIES)])
    columns = [list(column) for column in zip(header, *rows, strict=True)]
    # Quantities are rows: six of them are wider than a screen, units go side by side as far as they fit.
    print(format_table(columns[0], columns[1:]) if units <= _SIDE_BY_SIDE else format_table(header, rows))
    print(f"{fleet.friction_model}; value and 95 % interval. The load is {fleet.load:.3g} N·m.")
    for name in fleet.differing:
        members = sorted(fleet.members[name], key=lambda unit: fleet.units[unit][name].value)
        low, high = members[0], members[-1]
        ratio = fleet.units[high][name].value / fleet.units[low][name].value
        print(difference_sentence(QUANTITIES[name].title, low, high, ratio))
    for outlier in fleet.outliers:
        title = QUANTITIES[outlier.quantity].title
        print(outlier_sentence(outlier.unit, title, outlier.ratio, outlier.probability))
    if not fleet.differing and not fleet.outliers:
        unknown = [quantity.title for name, quantity in QUANTITIES.items() if name not in fleet.populations]
        print(agreement_sentence(units, unknown))
    print(spread_sentence(units))


def _cell(estimate: Estimate) -> str:
    if estimate.log_error is None:
        return "not known"
    low, high = estimate.interval
    return f"{estimate.value:.4g} ({low:.3g} to {high:.3g})"


def _spread_cell(fleet: Fleet, name: str) -> str:
    population = fleet.populations.get(name)
    if population is None or population.unseen is None:  # two units do not determine it
        return "-"
    low, high = population.spread_interval
    return f"{100 * population.spread:.2g} % ({100 * low:.2g} to {100 * high:.2g})"


def _unseen_cell(fleet: Fleet, name: str) -> str:
    population = fleet.populations.get(name)
    if population is None or population.unseen is None:
        return "-"
    low, high = (math.exp(end) for end in population.unseen)
    return f"{low:.3g} to {high:.3g}"


def _write(fleet: Fleet, output: Path) -> None:
    from bam_core.plots.fleet import fleet_figure
    from bam_core.plots.save import save_figure

    write_text(output / FILE, json.dumps(_summary(fleet), indent=1, allow_nan=False) + "\n")
    print(f"wrote {output / FILE}")
    if panels := _panels(fleet):
        save_figure(fleet_figure(panels), output / PICTURE)
        print(f"wrote {output / PICTURE}")


def _write_type(files: Mapping[str, Path], path: Path) -> None:
    from bam_core.identification.servo_type import servo_type
    from bam_core.identification.uncertainty.prediction_file import save_prediction

    typical = servo_type(files)
    typical.servo.save(path)
    save_prediction(path, typical.prediction)
    print(f"wrote {path}; of a new unit: bam identify RECORDINGS --prior {path} --output DIR")


def _panels(fleet: Fleet) -> list[Panel]:
    from bam_core.identification.variation.compared import QUANTITIES
    from bam_core.plots.fleet import Panel

    panels = []
    for name, population in fleet.populations.items():
        unseen = population.unseen
        estimates = {unit: fleet.units[unit][name] for unit in fleet.members[name]}
        panels.append(
            Panel(
                title=f"{QUANTITIES[name].title} [{QUANTITIES[name].unit}]",
                rows=[(unit, estimate.value, *estimate.interval) for unit, estimate in estimates.items()],
                odd=[outlier.unit for outlier in fleet.outliers if outlier.quantity == name],
                mean=math.exp(population.mean),
                unseen=None if unseen is None else (math.exp(unseen[0]), math.exp(unseen[1])),
            )
        )
    return panels


def _summary(fleet: Fleet) -> dict[str, Any]:
    quantities = {}
    for name, population in fleet.populations.items():
        unseen = population.unseen
        quantities[name] = {
            "typical": math.exp(population.mean),
            "typical_log_error": population.mean_error,
            "spread": population.spread,
            "spread_interval": list(population.spread_interval),
            "p_equal": population.difference,
            "unseen": None if unseen is None else [math.exp(end) for end in unseen],
            "units": list(fleet.members[name]),
        }
    return {
        "friction_model": fleet.friction_model,
        "load": fleet.load,
        "units": {
            unit: {
                name: {"value": estimate.value, "interval": list(estimate.interval)}
                for name, estimate in estimates.items()
            }
            for unit, estimates in fleet.units.items()
        },
        "quantities": quantities,
        "differing": list(fleet.differing),
        "outliers": [vars(outlier) for outlier in fleet.outliers],
    }
