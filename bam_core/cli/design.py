# SPDX-License-Identifier: Apache-2.0
"""``bam design``: which runs to record next, so that a session is as short as it can be."""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from bam_core.cli.cluster import add_cluster, executor_for
from bam_core.errors import Missing, OutOfRange, WrongType
from bam_core.files.atomic_file import require_file, write_text
from bam_core.text.comma_list import comma_list
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.identification.search.space import SearchSpace
    from bam_core.identification.uncertainty.candidate_runs import Choice
    from bam_core.identification.uncertainty.design import Knowledge, RankedRun
    from bam_core.recordings.recording import Recording
    from bam_core.servo.effects import BenchEffects
    from bam_core.servo.model import ServoModel

EXAMPLE = "bam design recordings/ --servo out/xl330/m4.yaml --runs 6 --session next.yaml"

FIRST_SCREEN = ("--servo", "--runs", "--mass", "--length", "--kp", "--vin", "--json", "--session")

_MOST_CANDIDATES = 2000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.description = (
        "Plan the runs that tell most about a servo's parameters per second of recording. A line of the\n"
        "plan says what its run adds to those above it: 'bit' is information (one bit halves the volume of\n"
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
    choice.add_argument("--arm-mass", type=float, default=0.0, metavar="KG", help="of the arm (default: 0)")
    choice.add_argument("--kp", metavar="KP,...", help="position gains, firmware units")
    choice.add_argument("--script", default="all", metavar="NAME,...|all", help="scripts (default: all)")
    choice.add_argument("--vin", type=float, metavar="V", help="supply (default: that of LOGS or nominal)")
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
    from bam_core.identification.uncertainty.design import prospects, rank
    from bam_core.recordings import load_recordings
    from bam_core.servo.bench_effects_file import load_bench_effects
    from bam_core.servo.model import load_servo

    if arguments.servo is None:
        raise Missing("--servo", "the current model")
    if arguments.runs < 1:
        raise OutOfRange("--runs", arguments.runs, "at least 1")
    servo = load_servo(arguments.servo)
    for file in filter(None, (arguments.json, arguments.session)):
        require_file(file)
    recordings = load_recordings(arguments.logs) if arguments.logs else []
    require_same_servo(servo, recordings)
    choice, refused = _choice(arguments, servo, recordings)
    candidates = choice.runs()
    if len(candidates) > _MOST_CANDIDATES:
        raise OutOfRange(
            "count of candidates",
            len(candidates),
            f"at most {_MOST_CANDIDATES}",
            advice="give fewer of --mass, --length, --kp or --script",
        )
    bench_effects = load_bench_effects(arguments.servo)
    space, knowledge = _knowledge(servo, bench_effects, recordings, choice)
    with (
        executor_for(arguments.cluster) as executor,
        tqdm(total=len(candidates), desc="candidates", unit="run", disable=None, leave=False) as bar,
    ):
        found, strayed = prospects(
            servo, candidates, space, knowledge, progress=bar.update, executor=executor
        )
    plan = rank(found, space, knowledge, arguments.runs)
    result = _result(servo, space, knowledge, plan, (*refused, *strayed))
    print(_plan_table(result))
    print()
    print(_parameter_table(result))
    if recordings:
        print("values: where these logs lead from those of the servo file, at the bottom of the valley")
    for line in _shortened(result["left_out"]):
        print(line)
    if arguments.json:
        write_text(arguments.json, json.dumps(result, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
        print(f"wrote {arguments.json}")
    if arguments.session:
        _write_session(arguments, servo, plan)
    return 0


def _choice(
    arguments: argparse.Namespace, servo: ServoModel, recordings: Sequence[Recording]
) -> tuple[Choice, tuple[str, ...]]:
    """Put together what may be varied; return it and a line about each load that is too heavy."""
    from bam_core.identification.uncertainty.candidate_runs import choice_for, choice_near, liftable
    from bam_core.recordings.trajectories import script
    from bam_core.servo.pendulum import PendulumBench
    from bam_core.servo.plausible import require_plausible

    if arguments.vin is not None and not 0.1 <= arguments.vin <= 100.0:
        raise OutOfRange("--vin", arguments.vin, "0.1 to 100 V")
    choice = choice_near(servo, recordings) if recordings else choice_for(servo, arguments.vin)
    if arguments.vin is not None:
        choice = replace(choice, supply_voltage=arguments.vin)
    if arguments.script != "all":
        names = comma_list(arguments.script)
        choice = replace(choice, scripts=tuple(script(name) for name in dict.fromkeys(names)))
    if arguments.kp is not None:
        choice = replace(choice, gains=_numbers("--kp", arguments.kp))
        for kp in choice.gains:
            require_plausible("--kp", "kp", kp)
    masses = None if arguments.mass is None else _numbers("--mass", arguments.mass)
    lengths = None if arguments.length is None else _numbers("--length", arguments.length)
    if masses is None and lengths is None:
        return choice, ()
    if masses is None or lengths is None:
        one, other = ("--mass", "--length") if lengths is None else ("--length", "--mass")
        raise Missing(other, f"beside {one}: a load is a mass at a length", advice="give both")
    loads = [
        PendulumBench(mass=mass, length=length, arm_mass=arguments.arm_mass)
        for length in lengths
        for mass in masses
    ]
    fits, refused = liftable(servo, loads, choice.supply_voltage)
    return replace(choice, loads=fits), refused


def _numbers(option: str, text: str) -> tuple[float, ...]:
    expected = "numbers above 0, as in 8,16,32"
    values = []
    for word in comma_list(text):
        try:
            value = float(word)
        except ValueError:
            raise WrongType(option, word, expected) from None
        if not 0.0 < value < math.inf:
            raise OutOfRange(option, value, expected)
        values.append(value)
    if not values:
        raise Missing(option, expected, advice="give some")
    return tuple(dict.fromkeys(values))


def _knowledge(
    servo: ServoModel, bench_effects: BenchEffects, recordings: Sequence[Recording], choice: Choice
) -> tuple[SearchSpace, Knowledge]:
    from bam_core.identification.search.gauss_newton import nearest_optimum
    from bam_core.identification.search.space import search_space
    from bam_core.identification.uncertainty.design import Knowledge
    from bam_core.identification.uncertainty.uncertainty import uncertainty_terms
    from bam_core.servo.friction import friction_model
    from bam_core.simulation.rollout import Rollout

    logs = list(recordings) or [run.as_recording(servo) for run in choice.runs()]
    space = search_space(
        friction_model(servo.friction_model), logs, servo.search.ranges, servo.search.effects
    )
    known = Knowledge.before_any_recording(servo, space, bench_effects)
    if not recordings:
        return space, known
    optimum = nearest_optimum(Rollout.for_servo(recordings, servo), space, known.vector)
    return space, Knowledge.from_terms(
        uncertainty_terms(servo, optimum.vector, recordings, optimum, bent=False)
    )


def _result(
    servo: ServoModel,
    space: SearchSpace,
    knowledge: Knowledge,
    plan: Sequence[RankedRun],
    left_out: Sequence[str],
) -> dict[str, Any]:
    """Return the content of the JSON file."""
    from bam_core.identification.search.sensitivity import normalised, slope_at, value_at
    from bam_core.servo.parameters import PARAMETER_UNITS

    where = normalised(space, knowledge.vector)
    slopes = [slope_at(axis, share) for axis, share in zip(space.axes, where, strict=True)]
    names = [axis.name for axis in space.axes]

    def errors(of: Any) -> dict[str, float]:
        return {name: float(each * slope) for name, each, slope in zip(names, of, slopes, strict=True)}

    return {
        "servo": servo.name,
        "friction_model": servo.friction_model,
        "runs": [
            {
                "script": each.run.script.name,
                "kp": each.run.kp,
                "mass": each.run.bench.mass,
                "arm_mass": each.run.bench.arm_mass,
                "length": each.run.bench.length,
                "supply_voltage": each.run.supply_voltage,
                "information_bits": each.gain,
                "helps": each.helps,
                "standard_error_before": errors(each.before)[each.helps],
                "standard_error_after": errors(each.after)[each.helps],
                "seconds": each.seconds,
            }
            for each in plan
        ],
        "parameters": {
            axis.name: {
                "value": value_at(axis, float(share)),
                "unit": PARAMETER_UNITS[axis.name],
                "standard_error_before": errors(plan[0].before)[axis.name],
                "standard_error_after": errors(plan[-1].after)[axis.name],
            }
            for axis, share in zip(space.axes, where, strict=True)
        },
        "left_out": list(left_out),
    }


def _plan_table(result: dict[str, Any]) -> str:
    rows = [
        (
            str(number),
            f"{each['mass']:g}",
            f"{each['length']:g}",
            f"{each['kp']:g}",
            each["script"],
            f"{each['information_bits']:.1f}",
            each["helps"],
            f"{each['standard_error_before']:.2g} -> {each['standard_error_after']:.2g}",
            f"{each['seconds'] / 60.0:.1f}",
        )
        for number, each in enumerate(result["runs"], 1)
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
            f"{each['value']:.4g}",
            f"{each['standard_error_before']:.2g}",
            f"{each['standard_error_after']:.2g}",
            each["unit"],
        )
        for name, each in result["parameters"].items()
    ]
    return format_table(("parameter", "value", "standard error now", "after the plan", "unit"), rows)


def _shortened(lines: Sequence[str], most: int = 5) -> list[str]:
    rest = len(lines) - most
    return [*lines[:most], *([f"and {rest} more, see --json"] if rest > 0 else [])]


def _write_session(arguments: argparse.Namespace, servo: ServoModel, plan: Sequence[RankedRun]) -> None:
    loads = list(dict.fromkeys(each.run.bench for each in plan))
    gains = sorted({each.run.kp for each in plan})
    scripts = list(dict.fromkeys(each.run.script.name for each in plan))
    wanted = len({(each.run.bench, each.run.kp, each.run.script.name) for each in plan})
    lines = [
        f"# {servo.title}: the {wanted} runs that `bam design` found to tell most, and what completes their",
        "# loads, gains and scripts to all combinations.",
        f"servo: {servo.name}",
        f"supply_voltage: {plan[0].run.supply_voltage:g}  # [V]",
        "loads:  # [kg], [m] from the axis",
        *(
            f"  - {{mass: {load.mass:g}, length: {load.length:g}, arm_mass: {load.arm_mass:g}}}"
            for load in loads
        ),
        f"gains: [{', '.join(f'{kp:g}' for kp in gains)}]  # kp, firmware units",
        f"scripts: [{', '.join(scripts)}]",
    ]
    write_text(arguments.session, "\n".join(lines) + "\n")
    count = len(loads) * len(gains) * len(scripts)
    print(f"wrote {arguments.session} ({count} runs, {wanted} of them planned)")
