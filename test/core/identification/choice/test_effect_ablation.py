# SPDX-License-Identifier: Apache-2.0
"""An effect that is there is found again and kept; one that is not there is dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from bam_core.identification.choice.effect_ablation import EffectAblation, _kind, ablate_effects
from bam_core.identification.choice.evaluator import Evaluator
from bam_core.identification.choice.fit_provenance import Origin
from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.choice.selection import Selection
from bam_core.identification.data.folds import selection_folds
from bam_core.identification.data.split import Split, split_recordings
from bam_core.identification.fitting import Fitter
from bam_core.identification.planned_fit import Fit
from bam_core.identification.uncertainty.tolerances import DEFAULT
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects, ServoEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.parameters import SERVO_EFFECTS
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.simulation.rollout_settings import RolloutSettings
from bam_core.simulation.synthetic import SynthesisSettings, synthesize

Array = NDArray[np.float64]

M1 = FRICTION_MODELS["m1"]
TRIALS = 1500
EFFECTS = {  # value, and how close a fit of nine logs must come
    "friction_temperature": (0.02, 0.05),
    "bridge_coasting": (0.8, 0.01),
    "firmware_gain": (0.1, 0.2),
    "limit_shortfall": (0.4, 0.01),
    "sensor_delay": (0.002, 0.02),
    "encoder_quantisation": (1.0, 0.0),
    "arm_mass": (0.08, 0.02),
    "friction_direction": (0.15, 0.03),
    "load_gyration": (0.12, 0.03),
    "supply_ripple": (0.7, 0.02),
}

BRIEFLY = ("friction_direction",)
"""Of firmware, friction and bench; the others are searched for in the long tests."""


@pytest.fixture(scope="module")
def plain() -> ServoModel:
    """An MX-106 with a coarse encoder, whose readings of the supply are aliased."""
    servo = load_servo("mx106")
    return replace(
        servo,
        firmware=replace(servo.firmware, counts_per_turn=512, supply_is_aliased=True),
        motor=DcMotor(torque_constant=2.2, resistance=2.0, armature=0.02),
        friction_model="m1",
        friction=M1.friction({"viscous": 0.05, "coulomb": 0.05}),
        integrator="midpoint",
    )


def session(truth: ServoModel, bench_effects: BenchEffects = IDEAL_BENCH) -> list[Recording]:
    """Three scripts with three set-ups each; the servo warms from log to log and its supply ripples."""
    logs = []
    for script in ("sin_time_square", "sin_sin", "lift_and_drop"):
        for kp, mass in ((8.0, 1.2), (32.0, 0.5), (32.0, 1.2)):
            bench = PendulumBench(mass=mass, length=0.15)
            run = synthesize(
                truth, bench, script, kp, SynthesisSettings(sample_period=5e-3, bench_effects=bench_effects)
            )
            logs.append(
                replace(
                    run,
                    temperature=np.full(len(run), 28.0 + 4.0 * len(logs)),
                    voltage=13.0 + 2.0 * np.sin(7.0 * run.time + len(logs)),
                )
            )
    fine = Rollout(logs, truth.firmware, RolloutSettings(dt=truth.firmware.period, substeps=20))
    found = fine.positions(parameter_vector(truth, bench_effects))
    noise = np.random.default_rng(0)
    return [
        replace(log, position=position + noise.normal(0.0, 0.3e-3, len(log)))
        for log, position in zip(logs, found, strict=True)
    ]


def weight(worse: float, chance: float) -> EffectAblation:
    return EffectAblation(
        name="arm_mass",
        value=0.1,
        train_mae=0.01,
        selection_mae=0.01,
        train_mae_without=0.012,
        selection_mae_without=0.01 + worse,
        chance=chance,
        kept=True,
        kind="needed",
        compared="selection",
    )


def test_an_effect_is_needed_where_held_out_logs_miss_it_by_more_than_chance_and_a_trifle() -> None:
    assert weight(worse=0.003, chance=0.002).is_needed
    assert not weight(worse=0.003, chance=0.004).is_needed
    assert not weight(worse=0.0001, chance=0.0).is_needed


def test_an_effect_is_kept_where_the_error_grows_within_its_standard_error() -> None:
    grows, same = weight(worse=0.003, chance=0.004), weight(worse=0.0, chance=0.004)
    assert _kind(grows, droppable=True) == "within_chance"
    assert _kind(same, droppable=True) != "within_chance"
    assert grows.finding.chance == 0.004


PAIR = ("zero_offset", "arm_mass")


class Told(Evaluator):
    """Tells errors of fits by the effects that they have."""

    def __init__(self, judge: Evaluator, errors: dict[tuple[str, ...], tuple[float, float]]) -> None:
        self._judge, self._errors = judge, errors

    def prepare(self, fits: Sequence[Fit]) -> None:
        """There is nothing to compute."""

    def evaluate(self, fit: Fit) -> ModelFit:
        train, selection = self._errors[fit.effects]
        return replace(self._judge.evaluate(fit), train_mae=train, selection={"a log": selection})


@pytest.mark.parametrize(
    ("train", "selection", "kept"),
    [(1.04, 1.01, False), (1.04, 0.9, False), (1.06, 0.9, True), (1.04, 1.03, True)],
)
def test_an_effect_goes_that_neither_selection_nor_training_misses(
    train: float, selection: float, kept: bool, plain: ServoModel
) -> None:
    logs = session(plain)[:2]
    fitter = Fitter(plain, logs, seed=0)
    full = fitter.plan(M1, trials=60, effects=["zero_offset"], starts=[parameter_vector(plain)]).make()
    judge = Evaluator(fitter.rollout, origin_of(split_recordings(logs, "none")), plain)
    told = Told(judge, {("zero_offset",): (1.0, 1.0), (): (train, selection)})
    used, (ablation,) = ablate_effects(fitter, full, told, droppable=("zero_offset",), trials=60)
    assert ablation.kept == kept == (used.effects == ("zero_offset",))
    if train > 1.05:
        assert ablation.kind == "needed_in_training"


def origin_of(split: Split) -> Origin:
    return Origin(split=split, seed=0, tolerances=DEFAULT)


def start_of(servo: ServoModel, effects: list[str]) -> Array:
    """Some way off: how a search gets there from nowhere is another matter."""
    start = parameter_vector(servo) * 1.1
    for name in effects:
        start[PARAMETERS.index(name)] = 0.5 * EFFECTS[name][0]
    return start


def corrected(
    servo: ServoModel, logs: list[Recording], effects: list[str]
) -> tuple[ModelFit, tuple[EffectAblation, ...]]:
    split = split_recordings(logs, "none")
    fitter = Fitter(servo, split.train, seed=0)
    folds = selection_folds(split.train)
    selection = Selection(folds, lambda fold: Fitter(servo, fold.train, seed=0))
    judge = Evaluator(fitter.rollout, origin_of(split), servo, selection)
    full = fitter.plan(M1, trials=TRIALS, effects=effects, starts=[start_of(servo, effects)]).make()
    used, weights = ablate_effects(fitter, full, judge, droppable=effects, trials=None)
    return judge.evaluate(used), weights


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in BRIEFLY else pytest.mark.long) for name in EFFECTS]
)
def test_an_effect_that_is_there_is_found_and_kept(name: str, plain: ServoModel) -> None:
    value, tolerance = EFFECTS[name]
    own = {name: value} if name in SERVO_EFFECTS else {}
    truth = replace(plain, servo_effects=ServoEffects(**own))
    bench_effects = IDEAL_BENCH if own else BenchEffects(**{name: value})
    fit, (weight,) = corrected(plain, session(truth, bench_effects), [name])
    assert weight.kept
    assert weight.selection_mae_without > 1.2 * weight.selection_mae
    assert weight.value == pytest.approx(value, rel=tolerance)
    assert fit.parameters[name] == weight.value
    assert fit.servo.motor.torque_constant == pytest.approx(2.2, rel=0.01)


@pytest.mark.long
@pytest.mark.parametrize("name", EFFECTS)
def test_an_effect_that_is_not_there_is_dropped(name: str, plain: ServoModel) -> None:
    # One at a time: of ten at once, a search of TRIALS leaves some off zero by what others make up for.
    fit, (weight,) = corrected(plain, session(plain), [name])
    assert not weight.kept
    assert fit.servo.search.effects == ()
    assert weight.kind == "dropped"


@pytest.mark.parametrize(
    ("train", "selection", "kept"),
    [(1.09, 1.0, ()), (1.11, 1.0, PAIR), (1.09, 1.03, PAIR)],
)
def test_effects_that_are_unneeded_alone_but_not_together_stay(
    train: float, selection: float, kept: tuple[str, ...], plain: ServoModel
) -> None:
    logs = session(plain)[:2]
    fitter = Fitter(plain, logs, seed=0)
    full = fitter.plan(M1, trials=60, effects=PAIR, starts=[parameter_vector(plain)]).make()
    judge = Evaluator(fitter.rollout, origin_of(split_recordings(logs, "none")), plain)
    alone = {(name,): (1.04, 1.0) for name in PAIR}
    told = Told(judge, {PAIR: (1.0, 1.0), **alone, (): (train, selection)})
    used, ablations = ablate_effects(fitter, full, told, droppable=PAIR, trials=60)
    assert used.effects == kept
    assert [each.kept for each in ablations] == [name in kept for name in PAIR]


class ToldByLog(Evaluator):
    """Tells errors in training, and in selection by log, by the effects that a fit has."""

    def __init__(
        self, judge: Evaluator, errors: dict[tuple[str, ...], tuple[float, tuple[float, ...]]]
    ) -> None:
        self._judge, self._errors = judge, errors

    def prepare(self, fits: Sequence[Fit]) -> None:
        """There is nothing to compute."""

    def evaluate(self, fit: Fit) -> ModelFit:
        train, selection = self._errors[fit.effects]
        by_log = {str(log): error for log, error in enumerate(selection)}
        return replace(self._judge.evaluate(fit), train_mae=train, selection=by_log)


@pytest.mark.parametrize(
    ("selection", "kept"),
    [
        ((0.6, 0.5, 0.6, 0.5), False),  # every log is followed better without it
        ((0.2, 1.1, 1.1, 1.1), True),  # one log only
        ((0.99, 0.98, 0.99, 0.98), True),  # sure, but a trifle
    ],
)
def test_an_effect_goes_without_which_selection_is_clearly_better_though_training_is_worse(
    selection: tuple[float, ...], kept: bool, plain: ServoModel
) -> None:
    logs = session(plain)[:2]
    fitter = Fitter(plain, logs, seed=0)
    full = fitter.plan(M1, trials=60, effects=["zero_offset"], starts=[parameter_vector(plain)]).make()
    judge = Evaluator(fitter.rollout, origin_of(split_recordings(logs, "none")), plain)
    told = ToldByLog(judge, {("zero_offset",): (1.0, (1.0,) * 4), (): (1.2, selection)})
    used, (ablation,) = ablate_effects(fitter, full, told, droppable=("zero_offset",), trials=60)
    assert ablation.kept == kept == (used.effects == ("zero_offset",))


def test_of_effects_that_cannot_all_go_the_one_goes_that_selection_is_best_without(plain: ServoModel) -> None:
    logs = session(plain)[:2]
    fitter = Fitter(plain, logs, seed=0)
    full = fitter.plan(M1, trials=60, effects=PAIR, starts=[parameter_vector(plain)]).make()
    judge = Evaluator(fitter.rollout, origin_of(split_recordings(logs, "none")), plain)
    first, second = PAIR
    errors = {PAIR: (1.0, 1.0), (first,): (1.04, 0.6), (second,): (1.04, 0.9), (): (1.5, 1.5)}
    used, ablations = ablate_effects(fitter, full, Told(judge, errors), droppable=PAIR, trials=60)
    assert used.effects == (first,)
    assert [ablation.kind for ablation in ablations] == ["needed_together", "dropped"]


@pytest.mark.parametrize(("train", "selection"), [(1.08, 1.0), (1.0, 1.03)])
def test_an_effect_that_is_needed_alone_stays_where_the_other_goes(
    train: float, selection: float, plain: ServoModel
) -> None:
    logs = session(plain)[:2]
    fitter = Fitter(plain, logs, seed=0)
    full = fitter.plan(M1, trials=60, effects=PAIR, starts=[parameter_vector(plain)]).make()
    judge = Evaluator(fitter.rollout, origin_of(split_recordings(logs, "none")), plain)
    needed, other = PAIR
    errors = {PAIR: (1.0, 1.0), (other,): (train, selection), (needed,): (1.0, 1.0), (): (1.0, 1.0)}
    used, ablations = ablate_effects(fitter, full, Told(judge, errors), droppable=PAIR, trials=60)
    assert used.effects == (needed,)
    assert [each.kept for each in ablations] == [True, False]
    assert [each.name for each in ablations] == list(PAIR)
