# SPDX-License-Identifier: Apache-2.0
"""How often the 95 % intervals of identified parameters hold the truth, for every servo of the library.

For each repeat a session is recorded in simulation, with the servo's own parameters and with what differs
from one session to the next on a bench: loads, where the arm rests when a run starts, the encoder's noise
below a count, rounding to counts, samples taken a little early or late. With ``--drawn``, the parameters are
drawn over the whole search space instead, anew for each repeat. Then the servo's friction model is
searched for all over its space and its uncertainty estimated, as `bam identify` does it, in ignorance of the
truth. Only then is the truth consulted: does each interval hold it, and does a descent that starts there end
lower than the search did?
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from bam_core.arrays import Array
from bam_core.cli.cluster import add_cluster
from bam_core.errors import BadData, BamError, OutOfRange
from bam_core.files.atomic_file import require_file, write_text
from bam_core.identification.executors import Call, Shared, open_cluster, run_jobs, this_machine
from bam_core.identification.fitting import Fitter
from bam_core.identification.found_servo import found_servo
from bam_core.identification.search.gauss_newton import descend, nearest_optimum
from bam_core.identification.search.methods import MIN_EVALUATIONS
from bam_core.identification.search.problem import INTEGRATOR
from bam_core.identification.search.sensitivity import normalised
from bam_core.identification.search.space import SearchSpace, search_space
from bam_core.identification.uncertainty.candidate_runs import CandidateRun, arm_stretch, stall_torque
from bam_core.identification.uncertainty.terms import uncertainty_terms
from bam_core.identification.uncertainty.uncertainty import describe
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.servo.bench_effects_file import load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo, servo_names
from bam_core.servo.pendulum import GRAVITY, PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.text.table import format_table

REPEATS = 50

_LOADS = ((0.25, 0.10), (0.50, 0.15), (0.40, 0.20))  # share of the stall torque, length in m
_DEMANDS = (1.5, 4.0)  # duty per rad of position error: gains
_ARM_MASS = 0.02  # kg
_LOAD_SPREAD = 0.07  # of the masses from repeat to repeat; each is known to the fit
_START_SPREAD = 0.03  # rad; where the arm rests when a run starts
_NOISE = 0.3  # of an encoder count, before rounding
_JITTER = 2e-4  # s
_FINE = 80  # steps of the integrator per period of the firmware that recorded: next to none are left to make
_TRIALS = 600  # of a search, per free parameter
_LINK = ("arm_compliance", "arm_backlash")  # effects
_ARRIVED = 0.002  # of the training error that a descent from the truth may be lower
_MOVES = 0.1  # rad; a run in which the arm turns less tells next to nothing of its friction
_MOVING_SHARE = 0.5  # of the runs of a session whose arm has to move
_DRAWS = 1000  # of a servo that can move its session


@dataclass(frozen=True, kw_only=True)
class Repeat:
    """One session, its fit, and how both compare with the truth.

    Attributes:
        covered: (n,) the interval holds the truth.
        identifiable: (n,) as the fit says.
        off: (n,) estimate minus truth, in shares of the search range.
        width: (n,) of the interval, in the same.
        arrived: a descent from the truth ends hardly lower than the search.
        converged: the search says that it came to rest.
    """

    covered: NDArray[np.bool_]
    identifiable: NDArray[np.bool_]
    off: Array
    width: Array
    arrived: bool
    converged: bool


@dataclass(frozen=True, kw_only=True)
class Case:
    """A servo whose parameters are to be found again.

    Attributes:
        servo: its firmware and laws.
        space: in which it is searched for.
        truth: (PARAMETERS,) of servo and bench; where they lie outside the search, its nearest end.
    """

    servo: ServoModel
    space: SearchSpace
    truth: Array


def case_for(servo: ServoModel, bench_effects: BenchEffects = IDEAL_BENCH) -> Case:
    """Return the case of a servo on a bench, as an identification would see it.

    A rigid arm is another law than one on the stiffest link: what loads the gears is the arm's weight alone.
    Where it is rigid, the link is left out, as weighing of effects leaves it out.
    """
    known = servo.search
    effects = tuple(name for name in known.effects if name not in _LINK or getattr(bench_effects, name) > 0.0)
    paper = replace(
        servo,
        integrator=INTEGRATOR,
        friction=replace(servo.friction, quadratic_rule="paper"),
        search=replace(known, effects=effects),
    )
    runs = [run.as_recording(paper) for run in session_runs(paper)]
    space = search_space(FRICTION_MODELS[servo.friction_model], runs, known.ranges, effects)
    truth = space.vectors(space.point(parameter_vector(paper, bench_effects))[None])[0]
    return Case(servo=paper, space=space, truth=truth)


def drawn_case(servo: ServoModel, bench_effects: BenchEffects, random: np.random.Generator) -> Case:
    """Return a case whose parameters are drawn over the whole search space of a servo on a bench.

    Coordinates of the search are drawn evenly (see `space.Axis`), and again where the arm would not move in
    half of the runs: nobody identifies a servo that cannot lift its load.

    Args:
        servo: its firmware, friction model and search ranges count.
        bench_effects: which of them are there.
        random: draws.

    Raises:
        BadData: no draw moves its session.
    """
    space = case_for(servo, bench_effects).space
    for _ in range(_DRAWS):
        (vector,) = space.vectors(random.random((1, space.dimension)))
        case = case_for(*found_servo(servo, FRICTION_MODELS[servo.friction_model], vector))
        runs = [run.as_recording(case.servo) for run in session_runs(case.servo)]
        samples = Rollout.for_servo(runs, case.servo).samples(1)
        moved = [
            np.ptp(positions)
            for positions in np.split(samples.positions(case.truth)[0], np.cumsum(samples.counts)[:-1])
        ]
        if np.mean(np.array(moved) > _MOVES) >= _MOVING_SHARE:
            return case
    raise BadData(servo.name, f"none of {_DRAWS} draws moves its arm", advice="narrow its search ranges")


def session_runs(servo: ServoModel, random: np.random.Generator | None = None) -> list[CandidateRun]:
    """Return 24 runs that suit a servo's strength: three loads, two gains, four scripts."""
    supply = servo.nominal_voltage
    spread = np.zeros(len(_LOADS)) if random is None else random.uniform(-1, 1, len(_LOADS)) * _LOAD_SPREAD
    stretch = arm_stretch(servo, supply)
    loads = [
        PendulumBench(
            mass=round(
                float(share * stall_torque(servo, supply) / (GRAVITY * stretch * length) * (1.0 + more)), 4
            ),
            length=stretch * length,
            arm_mass=_ARM_MASS,
        )
        for (share, length), more in zip(_LOADS, spread, strict=True)
    ]
    gains = [round(servo.firmware.kp_for(demand)) for demand in _DEMANDS]
    return [
        CandidateRun(script=script, kp=float(kp), bench=load, supply_voltage=supply)
        for script in SCRIPTS.values()
        for kp in gains
        for load in loads
    ]


def record_session(case: Case, random: np.random.Generator) -> list[Recording]:
    """Record a session in simulation, with what a bench adds to it."""
    servo = case.servo
    held = []
    for run in session_runs(servo, random):
        recording = run.as_recording(servo)
        start = recording.position + random.normal(0.0, _START_SPREAD)
        held.append(replace(recording, position=start))
    fine = Rollout(
        held,
        servo.firmware,
        RolloutSettings(
            dt=servo.firmware.period, substeps=_FINE, quadratic_rule=servo.friction.quadratic_rule
        ),
    )
    count = servo.firmware.resolution
    recorded = []
    for recording, position in zip(held, fine.positions(case.truth), strict=True):
        late = np.gradient(position, recording.time) * random.normal(0.0, _JITTER, len(position))
        noisy = position + late + random.normal(0.0, _NOISE * count, len(position))
        recorded.append(replace(recording, position=np.round(noisy / count) * count))
    return recorded


def drawn_repeat(source: tuple[ServoModel, BenchEffects], seed: int, trials: int | None) -> Repeat:
    """Draw a servo, then do as `repeat`; `source` is as the first arguments of `drawn_case`."""
    return repeat(drawn_case(*source, np.random.default_rng((seed, 1))), seed, trials)


def repeat(case: Case, seed: int, trials: int | None = _TRIALS) -> Repeat:
    """Record, search and ask once.

    Args:
        case: the servo.
        seed: of everything random.
        trials: simulations of the session that the search may take, per free parameter; None: as many as
            `bam identify` takes.
    """
    servo, space = case.servo, case.space
    recordings = record_session(case, np.random.default_rng(seed))
    fitter = Fitter(servo, recordings, seed=seed)
    budget = trials * space.dimension if trials else None
    fit = fitter.plan(FRICTION_MODELS[servo.friction_model], trials=budget).make()
    optimum = nearest_optimum(fitter.rollout, space, fit.vector)
    told = describe(
        uncertainty_terms(servo, fit.vector, recordings, optimum), normalised(space, fit.vector)
    ).estimates
    values = case.truth[[PARAMETERS.index(axis.targets[0]) for axis in space.axes]]
    rounding = 1e-9 * np.abs(values)
    low, high = (np.array([getattr(estimate, end) for estimate in told]) for end in ("low", "high"))
    best = descend(fitter.rollout, space, case.truth)
    reached, reachable = fitter.rollout.errors(np.stack([fit.vector, best.vector])).mean(axis=1)
    return Repeat(
        covered=(low - rounding <= values) & (values <= high + rounding),
        identifiable=np.array([estimate.identifiable for estimate in told]),
        off=normalised(space, fit.vector) - normalised(space, case.truth),
        width=_shares(space, high) - _shares(space, low),
        arrived=bool(reached <= (1.0 + _ARRIVED) * reachable),
        converged=fit.result.converged,
    )


def _shares(space: SearchSpace, values: Array) -> Array:
    vector = space.base.copy()
    for axis, value in zip(space.axes, values, strict=True):
        vector[[PARAMETERS.index(target) for target in axis.targets]] = value
    return normalised(space, vector)


def main(argv: Sequence[str] | None = None) -> int:
    """Count, print a table and write JSON."""
    parser = argparse.ArgumentParser(prog="python -m studies.coverage", description=__doc__.split("\n")[0])
    parser.add_argument("--servos", nargs="+", default=list(servo_names()), metavar="NAME")
    parser.add_argument("--repeats", type=int, default=REPEATS, metavar="N")
    parser.add_argument("--seed", type=int, default=0, metavar="N")
    parser.add_argument(
        "--drawn", action="store_true", help="draw the parameters of every repeat over the whole search space"
    )
    parser.add_argument(
        "--trials",
        type=int,
        metavar="N",
        help=f"per free parameter (default: {_TRIALS}; with --drawn, as many as bam identify takes)",
    )
    parser.add_argument("--json", default="coverage_results.json", metavar="FILE")
    add_cluster(parser)
    arguments = parser.parse_args(argv)
    try:
        return _study(arguments)
    except BamError as error:
        print(f"coverage: {error}", file=sys.stderr)
        return 2


def _study(arguments: argparse.Namespace) -> int:
    if arguments.repeats < 1:
        raise OutOfRange("--repeats", arguments.repeats, "at least 1")
    if arguments.trials is not None and arguments.trials < MIN_EVALUATIONS:
        raise OutOfRange("--trials", arguments.trials, f"at least {MIN_EVALUATIONS}")
    require_file(arguments.json)
    cases = {name: case_for(load_servo(name), load_bench_effects(name)) for name in arguments.servos}
    seeds = range(arguments.seed, arguments.seed + arguments.repeats)
    jobs = [(name, seed) for name in cases for seed in seeds]
    if arguments.drawn:
        sources = {name: Shared((load_servo(name), load_bench_effects(name))) for name in cases}
        calls = [Call(drawn_repeat, sources[name], (seed, arguments.trials)) for name, seed in jobs]
    else:
        shared = {name: Shared(case) for name, case in cases.items()}
        calls = [Call(repeat, shared[name], (seed, arguments.trials or _TRIALS)) for name, seed in jobs]
    done: dict[tuple[str, int], Repeat] = {}
    with (
        this_machine() if arguments.cluster is None else open_cluster(arguments.cluster) as executor,
        tqdm(total=len(jobs), desc="coverage", unit="repeat", disable=None) as bar,
    ):
        for index, result in run_jobs(executor, calls):
            done[jobs[index]] = result
            bar.update()
    results = {name: [done[name, seed] for seed in seeds] for name in cases}
    table = {name: _summary(cases[name].space, repeats) for name, repeats in results.items()}
    everything = np.concatenate([repeat.covered for repeats in results.values() for repeat in repeats])
    report = {
        "overall": float(everything.mean()),
        "repeats": arguments.repeats,
        "drawn": arguments.drawn,
        "servos": table,
    }
    write_text(arguments.json, json.dumps(report, indent=2) + "\n")
    print(
        format_table(
            ("servo", "covered [%]", "lowest [%]", "which", "arrived", "not, and says so"),
            [_row(*item) for item in table.items()],
        )
    )
    print(f"overall: {100 * report['overall']:.1f} % of {len(everything)} intervals hold the truth")
    print(f"wrote {Path(arguments.json)}")
    return 0


def _row(name: str, entry: dict[str, Any]) -> tuple[str, ...]:
    parameters: dict[str, float] = entry["parameters"]
    lowest = min(parameters, key=parameters.__getitem__)
    covered, least = f"{100 * entry['coverage']:.1f}", f"{100 * parameters[lowest]:.0f}"
    return name, covered, least, lowest, str(entry["arrived"]), str(entry["told"])


def _summary(space: SearchSpace, repeats: Sequence[Repeat]) -> dict[str, Any]:
    names = [axis.name for axis in space.axes]
    covered = np.mean([repeat.covered for repeat in repeats], axis=0)
    identifiable = np.mean([repeat.identifiable for repeat in repeats], axis=0)
    off = np.sqrt(np.mean([repeat.off**2 for repeat in repeats], axis=0))
    width = np.mean([repeat.width for repeat in repeats], axis=0)
    return {
        "coverage": float(covered.mean()),
        "arrived": sum(repeat.arrived for repeat in repeats),
        "told": sum(not repeat.arrived and not repeat.converged for repeat in repeats),
        "missed": [
            [name for name, held in zip(names, repeat.covered, strict=True) if not held] for repeat in repeats
        ],
        "parameters": dict(zip(names, covered.tolist(), strict=True)),
        "identifiable": dict(zip(names, identifiable.tolist(), strict=True)),
        "root_mean_square_error": dict(zip(names, off.tolist(), strict=True)),  # shares of the search range
        "mean_width": dict(zip(names, width.tolist(), strict=True)),
    }


if __name__ == "__main__":
    # Under this name: workers elsewhere could not load what is pickled as a part of `__main__`.
    from studies import coverage

    sys.exit(coverage.main())
