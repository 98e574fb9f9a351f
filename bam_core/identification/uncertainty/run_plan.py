# SPDX-License-Identifier: Apache-2.0
"""A plan of the next runs: loads, gains and scripts that determine a servo's parameters best."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

from bam_core.arrays import Array
from bam_core.errors import OutOfRange
from bam_core.errors.checks import require_positive
from bam_core.errors.field_types import require_field_types
from bam_core.identification.data.same_servo import require_same_servo
from bam_core.identification.search.gauss_newton import nearest_optimum
from bam_core.identification.search.sensitivity import normalised, slope_at, value_at
from bam_core.identification.search.space import SearchSpace, search_space
from bam_core.identification.uncertainty.candidate_runs import Choice, choice_for, choice_near, liftable
from bam_core.identification.uncertainty.design import Knowledge, RankedRun, prospects, rank
from bam_core.identification.uncertainty.terms import uncertainty_terms
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import script
from bam_core.servo.bench_effects_file import BenchEffectsLike, load_bench_effects
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.friction import friction_model
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.servo.parameters import PARAMETER_UNITS
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import Rollout

_MOST_CANDIDATES = 2000


@dataclass(frozen=True, kw_only=True)
class DesignSettings:
    """Settings of `design_runs`: the length of the plan, and what may be varied.

    What is None is taken from the recordings, and some beside it; without recordings, what suits the servo.

    Attributes:
        runs: length of the plan, at least 1.
        loads: benches to choose from; those that the servo cannot lift are left out.
        gains: kp, firmware units.
        scripts: names in `trajectories.SCRIPTS`; None: all.
        supply_voltage: V.
        bench_effects: of the bench on which the servo was identified, see `load_bench_effects`.
    """

    runs: int = 8
    loads: Collection[PendulumBench] | None = None
    gains: Collection[float] | None = None
    scripts: Collection[str] | None = None
    supply_voltage: float | None = None
    bench_effects: BenchEffectsLike = IDEAL_BENCH

    def __post_init__(self) -> None:
        require_field_types(self)
        if self.supply_voltage is not None:
            require_positive("plan", supply_voltage=self.supply_voltage)
        if self.runs < 1:
            raise OutOfRange("runs", self.runs, "at least 1")


DEFAULT_SETTINGS = DesignSettings()
"""Of `design_runs`."""


@dataclass(frozen=True, kw_only=True)
class RunPlan:
    """Runs to record next, best first.

    Attributes:
        servo: the current model.
        space: its free parameters.
        vector: (PARAMETERS,) of the model before the plan, SI; fitted to the recordings if there are any.
        runs: at least one.
        left_out: a line about each load or run that was left out.
    """

    servo: ServoModel
    space: SearchSpace
    vector: Array
    runs: tuple[RankedRun, ...]
    left_out: tuple[str, ...]

    def summary(self) -> dict[str, Any]:
        """Return plain values, SI: the content of the JSON file."""
        where = normalised(self.space, self.vector)
        slopes = [slope_at(axis, share) for axis, share in zip(self.space.axes, where, strict=True)]
        names = [axis.name for axis in self.space.axes]

        def errors(of: Array) -> dict[str, float]:
            return {name: float(error * slope) for name, error, slope in zip(names, of, slopes, strict=True)}

        return {
            "servo": self.servo.name,
            "friction_model": self.servo.friction_model,
            "runs": [
                {
                    "script": planned.run.script.name,
                    "kp": planned.run.kp,
                    "mass": planned.run.bench.mass,
                    "arm_mass": planned.run.bench.arm_mass,
                    "length": planned.run.bench.length,
                    "supply_voltage": planned.run.supply_voltage,
                    "information_bits": planned.gain,
                    "helps": planned.helps,
                    "standard_error_before": errors(planned.before)[planned.helps],
                    "standard_error_after": errors(planned.after)[planned.helps],
                    "seconds": planned.seconds,
                }
                for planned in self.runs
            ],
            "parameters": {
                axis.name: {
                    "value": value_at(axis, float(share)),
                    "unit": PARAMETER_UNITS[axis.name],
                    "standard_error_before": errors(self.runs[0].before)[axis.name],
                    "standard_error_after": errors(self.runs[-1].after)[axis.name],
                }
                for axis, share in zip(self.space.axes, where, strict=True)
            },
            "left_out": list(self.left_out),
        }


def design_runs(
    servo: ServoLike,
    recordings: Sequence[Recording] = (),
    settings: DesignSettings = DEFAULT_SETTINGS,
    *,
    executor: Executor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> RunPlan:
    """Plan the runs that determine a servo's parameters best per second of recording.

    Args:
        servo: current model, best one fitted to the recordings; library name or file.
        recordings: made already; without any, only the search ranges of the servo are known.
        settings: length of the plan, and what may be varied.
        executor: simulates batches of candidates; None: this process.
        progress: called with the candidates simulated since the last call, and the count of all.

    Raises:
        BamError: recordings of another servo or in open loop, an unknown script, no load that the servo can
            lift, or too many candidates.
    """
    servo = load_servo(servo)
    require_same_servo(servo, recordings)
    choice, heavy = _choice(servo, recordings, settings)
    candidates = choice.runs()
    if len(candidates) > _MOST_CANDIDATES:
        raise OutOfRange(
            "count of candidates",
            len(candidates),
            f"at most {_MOST_CANDIDATES}",
            advice="give fewer loads, gains or scripts",
        )
    space, knowledge = _knowledge(servo, load_bench_effects(settings.bench_effects), recordings, choice)

    def done(count: int) -> None:
        if progress is not None:
            progress(count, len(candidates))

    possible, refused = prospects(servo, candidates, space, knowledge, progress=done, executor=executor)
    return RunPlan(
        servo=servo,
        space=space,
        vector=knowledge.vector,
        runs=tuple(rank(possible, space, knowledge, settings.runs)),
        left_out=(*heavy, *refused),
    )


def _choice(
    servo: ServoModel, recordings: Sequence[Recording], settings: DesignSettings
) -> tuple[Choice, tuple[str, ...]]:
    """Return what may be varied, and a line about each load that is too heavy."""
    supply = settings.supply_voltage
    choice = choice_near(servo, recordings) if recordings else choice_for(servo, supply)
    if supply is not None:
        choice = replace(choice, supply_voltage=supply)
    if settings.scripts is not None:
        choice = replace(choice, scripts=tuple(script(name) for name in dict.fromkeys(settings.scripts)))
    if settings.gains is not None:
        choice = replace(choice, gains=tuple(settings.gains))
    if settings.loads is None:
        return choice, ()
    fits, heavy = liftable(servo, settings.loads, choice.supply_voltage)
    return replace(choice, loads=fits), heavy


def _knowledge(
    servo: ServoModel, bench_effects: BenchEffects, recordings: Sequence[Recording], choice: Choice
) -> tuple[SearchSpace, Knowledge]:
    """Return the free parameters, and what the recordings determine of them."""
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
