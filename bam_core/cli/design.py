# SPDX-License-Identifier: Apache-2.0
"""``bam design``: which runs to record next, so that a session is as short as it can be."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bam_core.cli.cluster import add_cluster, executor_for
from bam_core.cli.quantities import quantity_in
from bam_core.errors import Missing, OutOfRange
from bam_core.files.atomic_file import require_file, write_text
from bam_core.text.comma_list import comma_list
from bam_core.text.quantity import LENGTH, MASS, NO_UNIT, VOLTAGE, Units, quantity
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.identification.uncertainty.run_plan import DesignSettings, RunPlan

EXAMPLE = "bam design recordings/ --servo out/xl330/m4.yaml --runs 6 --session next.yaml"

FIRST_SCREEN = ("--servo", "--runs", "--mass", "--length", "--kp", "--vin", "--json", "--session")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Plan the runs that determine most of a servo's parameters per second of recording. A line of the\n"
        "plan has what its run adds to those above it: 'bit' is information (one bit halves the volume of\n"
        "what is still possible), 'helps' the parameter whose standard error shrinks most, with that error\n"
        "before and after, and 'time so far' how long the plan takes up to here, with a minute for every\n"
        "other load."
    )
    parser.add_argument(
        "logs",
        nargs="*",
        metavar="LOGS",
        help="what was recorded already: JSON logs, bags, or directories that are searched recursively "
        "(default: nothing; then only the search bounds of the servo's file are known)",
    )
    parser.add_argument(
        "--servo",
        metavar="NAME|FILE",
        help="the current model: a servo YAML file, best one fitted to LOGS, or a name from 'bam servos'; "
        "the effects of the bench on which it was identified are part of it",
    )
    parser.add_argument("--runs", type=int, default=8, metavar="N", help="how many to plan (default: 8)")
    choice = parser.add_argument_group(
        "what may be varied (default: loads and gains of LOGS and some beside them, or what suits the servo)"
    )
    choice.add_argument("--mass", metavar="KG,...", help="masses; every one at every length")
    choice.add_argument("--length", metavar="M,...", help="lengths, axis to load")
    choice.add_argument(
        "--arm-mass", type=quantity_in(MASS), default=0.0, metavar="KG", help="of the arm (default: 0)"
    )
    choice.add_argument("--kp", metavar="KP,...", help="position gains, firmware units")
    choice.add_argument("--script", default="all", metavar="NAME,...|all", help="scripts (default: all)")
    choice.add_argument(
        "--vin", type=quantity_in(VOLTAGE), metavar="V", help="supply (default: that of LOGS or nominal)"
    )
    add_cluster(parser)
    parser.add_argument("--json", metavar="FILE", help="write the ranking to this file, SI units")
    parser.add_argument(
        "--session",
        metavar="FILE",
        help="write a session for 'bam record': all combinations of the loads, gains and scripts in the plan",
    )


def run(arguments: argparse.Namespace) -> int:
    """Rank runs, print the tables, write what was asked for."""
    from tqdm import tqdm

    from bam_core.identification.data.same_servo import require_same_servo
    from bam_core.identification.uncertainty.run_plan import design_runs
    from bam_core.recordings import load_recordings
    from bam_core.servo.model import load_servo

    if arguments.servo is None:
        raise Missing("--servo", "the servo as known so far, a name from 'bam servos' or a servo YAML file")
    if arguments.runs < 1:
        raise OutOfRange("--runs", arguments.runs, "at least 1")
    servo = load_servo(arguments.servo)
    for file in filter(None, (arguments.json, arguments.session)):
        require_file(file)
    recordings = load_recordings(arguments.logs) if arguments.logs else []
    require_same_servo(servo, recordings)
    settings = _settings(arguments)
    with (
        executor_for(arguments.cluster) as executor,
        tqdm(desc="candidates", unit="run", disable=None, leave=False) as bar,
    ):

        def show(done: int, candidates: int) -> None:
            bar.total = candidates
            bar.update(done)

        plan = design_runs(servo, recordings, settings, executor=executor, progress=show)
    result = plan.summary()
    print(_plan_table(result))
    print()
    print(_parameter_table(result))
    if recordings:
        print("values: where these logs lead from those of the servo file, at the bottom of the valley")
    for line in _shortened(plan.left_out):
        print(line)
    if arguments.json:
        write_text(arguments.json, json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        print(f"wrote {arguments.json}")
    if arguments.session:
        _write_session(arguments.session, plan)
    return 0


def _settings(arguments: argparse.Namespace) -> DesignSettings:
    """Return the options as settings; raises BamError with the name of an option."""
    from bam_core.identification.uncertainty.run_plan import DesignSettings
    from bam_core.servo.pendulum import PendulumBench
    from bam_core.servo.plausible import require_plausible

    if arguments.vin is not None and not 0.1 <= arguments.vin <= 100.0:
        raise OutOfRange("--vin", arguments.vin, "0.1 to 100 V")
    gains = None if arguments.kp is None else _numbers("--kp", arguments.kp, NO_UNIT)
    for kp in gains or ():
        require_plausible("--kp", "kp", kp)
    masses = None if arguments.mass is None else _numbers("--mass", arguments.mass, MASS)
    lengths = None if arguments.length is None else _numbers("--length", arguments.length, LENGTH)
    if (masses is None) != (lengths is None):
        given, missing = ("--mass", "--length") if lengths is None else ("--length", "--mass")
        raise Missing(missing, f"beside {given}: a load is a mass at a length", advice="give both")
    loads = None
    if masses is not None and lengths is not None:
        loads = [
            PendulumBench(mass=mass, length=length, arm_mass=arguments.arm_mass)
            for length in lengths
            for mass in masses
        ]
    return DesignSettings(
        runs=arguments.runs,
        loads=loads,
        gains=gains,
        scripts=None if arguments.script == "all" else comma_list(arguments.script),
        supply_voltage=arguments.vin,
        bench_effects=arguments.servo,
    )


def _numbers(option: str, text: str, units: Units) -> tuple[float, ...]:
    expected = "numbers above 0, as in 8,16,32"
    values = []
    for word in comma_list(text):
        value = quantity(option, word, units)
        if not 0.0 < value < math.inf:
            raise OutOfRange(option, value, expected)
        values.append(value)
    if not values:
        raise Missing(option, expected, advice="give some")
    return tuple(dict.fromkeys(values))


def _plan_table(result: dict[str, Any]) -> str:
    rows = [
        (
            str(number),
            f"{ranked['mass']:g}",
            f"{ranked['length']:g}",
            f"{ranked['kp']:g}",
            ranked["script"],
            f"{ranked['information_bits']:.1f}",
            ranked["helps"],
            f"{ranked['standard_error_before']:.2g} -> {ranked['standard_error_after']:.2g}",
            f"{ranked['seconds'] / 60.0:.1f}",
        )
        for number, ranked in enumerate(result["runs"], 1)
    ]
    header = (
        "run",
        "mass [kg]",
        "length [m]",
        "kp",
        "script",
        "bit",
        "helps",
        "its standard error",
        "time so far [min]",
    )
    return format_table(header, rows)


def _parameter_table(result: dict[str, Any]) -> str:
    rows = [
        (
            name,
            f"{entry['value']:.4g}",
            f"{entry['standard_error_before']:.2g}",
            f"{entry['standard_error_after']:.2g}",
            entry["unit"],
        )
        for name, entry in result["parameters"].items()
    ]
    return format_table(("parameter", "value", "standard error now", "after the plan", "unit"), rows)


def _shortened(lines: Sequence[str], most: int = 5) -> list[str]:
    rest = len(lines) - most
    return [*lines[:most], *([f"and {rest} more, see --json"] if rest > 0 else [])]


def _write_session(path: str, plan: RunPlan) -> None:
    servo, runs = plan.servo, plan.runs
    loads = list(dict.fromkeys(ranked.run.bench for ranked in runs))
    gains = sorted({ranked.run.kp for ranked in runs})
    scripts = list(dict.fromkeys(ranked.run.script.name for ranked in runs))
    wanted = len({(ranked.run.bench, ranked.run.kp, ranked.run.script.name) for ranked in runs})
    lines = [
        f"# {servo.title}: the {wanted} most informative runs by `bam design`, and what completes their",
        "# loads, gains and scripts to all combinations.",
        f"servo: {servo.name}",
        f"supply_voltage: {runs[0].run.supply_voltage:g}  # [V]",
        "loads:  # [kg], [m] from the axis",
        *(
            f"  - {{mass: {load.mass:g}, length: {load.length:g}, arm_mass: {load.arm_mass:g}}}"
            for load in loads
        ),
        f"gains: [{', '.join(f'{kp:g}' for kp in gains)}]  # kp, firmware units",
        f"scripts: [{', '.join(scripts)}]",
    ]
    write_text(path, "\n".join(lines) + "\n")
    count = len(loads) * len(gains) * len(scripts)
    print(f"wrote {path} ({count} runs, {wanted} of them planned)")
