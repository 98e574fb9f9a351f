# SPDX-License-Identifier: Apache-2.0
"""Identification end to end: recovery of known parameters, laws between models, refusals, recorded logs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bam_core.cli.identification_text import effects_table
from bam_core.errors import BadData, BamError, Conflict, Missing, OutOfRange, UnknownName
from bam_core.identification.choice.choice import SAME
from bam_core.identification.choice.evaluator import Evaluator
from bam_core.identification.choice.model_fit import EffectAblation, ModelFit
from bam_core.identification.execution import Execution, Progress
from bam_core.identification.fitting import Fitter
from bam_core.identification.identify import identify
from bam_core.identification.planned_fit import Fit
from bam_core.identification.result import Identification
from bam_core.identification.search.meter import IdentificationCancelled
from bam_core.identification.settings import IdentifySettings, resolve_models
from bam_core.identification.with_uncertainty import with_variation
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import BenchEffects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.search_ranges import SearchRanges
from bam_core.simulation.rollout import Rollout, parameter_vector
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from test.core.identification_cases import leave_out_intervals, mx106, session
from test.core.refusals import refused

RESOLUTION = 1.5e-3
"""rad; of the encoder, with which all logs here are quantised."""


@pytest.fixture(scope="module")
def logs() -> dict[str, list[Recording]]:
    return {model: session(mx106(model)) for model in ("m1", "m4", "m6")}


@pytest.fixture(scope="module")
def brief(logs: dict[str, list[Recording]]) -> Identification:
    with pytest.MonkeyPatch.context() as patch:
        leave_out_intervals(patch)
        return identify(logs["m4"], load_servo("mx106"), IdentifySettings(models="all", trials=300, seed=1))


without_intervals = pytest.mark.usefixtures("no_intervals")


@pytest.mark.long
@pytest.mark.parametrize(("model", "trials"), [("m1", 2000), ("m4", 4000), ("m6", 4000)])
def test_known_parameters_are_recovered(model: str, trials: int, logs: dict[str, list[Recording]]) -> None:
    truth = mx106(model)
    found = identify(
        logs[model], load_servo("mx106"), IdentifySettings(models=[model], trials=trials, test="kp=16")
    )
    fit = found.fits[model]
    assert fit.train_mae <= 1.5 * RESOLUTION
    assert fit.test_mae <= 1.5 * RESOLUTION
    assert fit.servo.motor.torque_constant == pytest.approx(truth.motor.torque_constant, rel=0.05)
    assert fit.servo.motor.armature == pytest.approx(truth.motor.armature, rel=0.05)
    assert fit.servo.friction.viscous == pytest.approx(truth.friction.viscous, rel=0.05)


@pytest.mark.long
def test_effects_of_motor_and_bench_are_recovered() -> None:
    xl330 = load_servo("xl330")
    truth = replace(
        xl330,
        motor=DcMotor(
            torque_constant=0.4, resistance=2.8, armature=1.8e-3, torque_saturation=0.35, winding_heating=1.5
        ),
        friction_model="m3",
        friction=FRICTION_MODELS["m3"].friction({"viscous": 0.004, "coulomb": 0.01, "load": 0.13}),
        integrator="midpoint",
    )
    bench_effects = BenchEffects(
        zero_offset=-0.02, command_delay=0.003, arm_compliance=0.2, arm_backlash=0.02
    )
    bench = PendulumBench(mass=0.49, length=0.1)
    logs = [
        synthesize(
            truth,
            bench,
            script,
            kp,
            SynthesisSettings(sample_period=5e-3, quantised=True, bench_effects=bench_effects),
        )
        for script in ("sin_time_square", "sin_sin", "up_and_down", "lift_and_drop")
        for kp in (100.0, 200.0, 800.0)
    ]
    result = identify(logs, xl330, IdentifySettings(models=["m3"], test="fraction=0.25"))
    found = result.fits["m3"]
    assert found.test_mae < RESOLUTION
    expected, values = {**truth.effect_values, **vars(bench_effects)}, found.parameters
    assert values["torque_saturation"] == pytest.approx(expected["torque_saturation"], rel=0.05)
    assert values["winding_heating"] == pytest.approx(expected["winding_heating"], rel=0.1)
    assert values["zero_offset"] == pytest.approx(expected["zero_offset"], abs=0.5e-3)
    assert values["command_delay"] == pytest.approx(expected["command_delay"], abs=0.3e-3)
    assert values["arm_compliance"] == pytest.approx(expected["arm_compliance"], rel=0.1)
    assert values["arm_backlash"] == pytest.approx(expected["arm_backlash"], rel=0.1)
    assert [weight.name for weight in result.effects] == list(xl330.search.effects)
    for weight in result.effects:
        assert weight.kept
        assert weight.selection_mae_without > 1.2 * weight.selection_mae
    off = identify(logs, xl330, IdentifySettings(models=["m3"], trials=1000, effects=[]))
    assert not any(off.fits["m3"].servo.effect_values.values())
    assert off.fits["m3"].bench_effects == BenchEffects()
    assert off.fits["m3"].train_mae > 5.0 * found.train_mae
    assert off.effects == ()


@pytest.mark.long
def test_an_effect_that_is_not_there_is_dropped_unless_it_was_asked_for(
    logs: dict[str, list[Recording]],
) -> None:
    effects = ("zero_offset", "arm_compliance")
    known = load_servo("mx106")
    servo = replace(known, search=replace(known.search, effects=effects))
    found = identify(logs["m1"], servo, IdentifySettings(models=["m1"], trials=2000, test="kp=16"))
    dropped = [weight.name for weight in found.effects if not weight.kept]
    assert "arm_compliance" in dropped
    assert set(found.fits["m1"].servo.search.effects) == set(effects) - set(dropped)
    assert found.fits["m1"].selection_mae <= (1.0 + SAME) * found.effects[0].selection_mae
    # The servo's own stay, though these logs do not need it.
    own = replace(known, search=replace(known.search, effects=("winding_heating",)))
    (heating,) = identify(logs["m1"], own, IdentifySettings(models=["m1"], trials=500, test="kp=16")).effects
    assert heating.kept
    assert not heating.is_needed
    asked = identify(
        logs["m1"],
        servo,
        IdentifySettings(models=["m1"], trials=500, effects=["arm_compliance"], test="kp=16"),
    )
    assert asked.fits["m1"].servo.search.effects == ("arm_compliance",)
    assert asked.effects[0].kept
    assert asked.effects[0].kind == "requested"
    assert [effect.name for effect in found.effects if effect.kind == "dropped"] == dropped
    assert len(effects_table(found).splitlines()) == 3 + len(effects)


@pytest.mark.long
@without_intervals
def test_every_configuration_is_left_out_in_turn(logs: dict[str, list[Recording]]) -> None:
    found = identify(
        logs["m1"], load_servo("mx106"), IdentifySettings(models=["m1"], trials=300, test="leave-one-out=kp")
    )
    fit = found.fits["m1"]
    assert set(fit.selection) == {log.name for log in logs["m1"]}
    assert [fold.rule for fold in found.folds] == ["kp=8", "kp=16", "kp=32"]
    assert len(found.split.train) == len(logs["m1"])
    assert (found.split.test, fit.test_mae, fit.test_interval) == ((), None, None)
    assert found.test_error.error is None
    assert fit.servo.provenance.selection_mae == fit.selection_mae
    assert (fit.servo.provenance.test_mae, fit.servo.provenance.test_data) == (None, {})


@pytest.mark.long
@without_intervals
def test_no_decision_sees_the_test_logs(logs: dict[str, list[Recording]]) -> None:
    """Test logs that are turned into nonsense change the test error and nothing else."""
    servo = replace(load_servo("mx106"), search=SearchRanges(effects=("zero_offset",)))
    in_test = [log for log in logs["m4"] if log.kp == 16.0]
    spoilt = [
        replace(log, position=log.position + 0.3 * np.sin(9.0 * log.time), sha256=f"spoilt {log.sha256}")
        for log in in_test
    ]
    rest = [log for log in logs["m4"] if log.kp != 16.0]
    sound, other = (
        identify(rest, servo, IdentifySettings(models=["m1", "m2"], trials=60, test=test))
        for test in (in_test, spoilt)
    )
    assert other.chosen == sound.chosen
    assert [each.summary() for each in other.effects] == [each.summary() for each in sound.effects]
    for model, fit in sound.fits.items():
        assert other.fits[model].parameters == fit.parameters
        assert other.fits[model].selection == fit.selection
        assert other.fits[model].test_mae > fit.test_mae + 0.05


@pytest.mark.long
@without_intervals
def test_several_seeds_are_searched_with_the_same_test_logs(logs: dict[str, list[Recording]]) -> None:
    found = identify(
        logs["m1"],
        mx106("m1"),
        IdentifySettings(models=["m1"], seed=3, seeds=2, trials=60, test="fraction=0.2"),
    )
    first, second = found.seeds
    assert (first.seed, second.seed) == (3, 4)
    assert first.test_mae == found.fits["m1"].test_mae
    assert found.test_error.seeds == (("m1", first.test_mae), ("m1", second.test_mae))
    assert [each["test_mae"] for each in found.summary()["seeds"]] == [first.test_mae, second.test_mae]
    alone = identify(
        logs["m1"], mx106("m1"), IdentifySettings(models=["m1"], seed=4, test=found.split.test, trials=60)
    )
    assert alone.fits["m1"].test_mae == second.test_mae
    assert alone.seeds == ()
    with refused(OutOfRange, thing="seeds"):
        identify(logs["m1"], mx106("m1"), IdentifySettings(models=["m1"], seeds=0))


@pytest.mark.long
def test_the_chosen_model_says_how_well_its_parameters_are_known(
    logs: dict[str, list[Recording]],
) -> None:
    found = identify(logs["m1"], load_servo("mx106"), IdentifySettings(models=["m1"], trials=1500))
    fit = found.fits["m1"]
    assert fit.uncertainty is not None
    assert [each.name for each in fit.uncertainty.estimates] == list(fit.parameters)
    assert fit.servo.uncertainty == fit.uncertainty.standard_errors()
    for each in fit.uncertainty.estimates:
        assert each.low <= fit.parameters[each.name] <= each.high


@pytest.mark.long
def test_a_richer_model_is_never_worse_on_training_than_one_that_it_contains(brief: Identification) -> None:
    mae = {model: fit.train_mae for model, fit in brief.fits.items()}
    assert list(mae) == list(FRICTION_MODELS)
    for simple, rich in (("m1", "m2"), ("m1", "m3"), ("m2", "m4"), ("m3", "m4"), ("m4", "m5"), ("m5", "m6")):
        assert mae[rich] <= mae[simple]


@pytest.mark.long
@without_intervals
def test_the_same_seed_gives_the_same_numbers(
    brief: Identification, logs: dict[str, list[Recording]]
) -> None:
    again = identify(
        logs["m4"][::-1],
        load_servo("mx106"),
        IdentifySettings(models=list(FRICTION_MODELS), trials=300, seed=1),
    )
    assert again.chosen == brief.chosen
    for model, fit in brief.fits.items():
        assert again.fits[model].parameters == fit.parameters
        assert again.fits[model].per_log == fit.per_log


def test_a_fit_reports_what_its_servo_does_on_the_logs(brief: Identification) -> None:
    for fit in brief.fits.values():
        for side, mae in ((brief.split.train, fit.train_mae), (brief.split.test, fit.test_mae)):
            errors = Rollout.for_servo(side, fit.servo).errors(parameter_vector(fit.servo))[0]
            assert errors.mean() == pytest.approx(mae, rel=1e-12)
            assert errors.tolist() == [fit.per_log[log.name] for log in side]
        assert fit.trials <= 300


def test_a_fitted_servo_says_where_it_comes_from(brief: Identification) -> None:
    servo = brief.fits["m3"].servo
    library = load_servo("mx106")
    assert (servo.name, servo.firmware, servo.search) == (library.name, library.firmware, library.search)
    assert (servo.friction_model, servo.integrator, servo.friction.quadratic_rule) == (
        "m3",
        "midpoint",
        "paper",
    )
    assert servo.provenance.train_mae == brief.fits["m3"].train_mae
    assert servo.provenance.test_mae == brief.fits["m3"].test_mae
    assert servo.provenance.train_data == {log.name: log.sha256 for log in brief.split.train}
    assert servo.provenance.test_data == {log.name: log.sha256 for log in brief.split.test}
    assert "seed 1" in servo.provenance.source
    assert servo.provenance.seed == 1
    assert servo.provenance.trials == brief.fits["m3"].budget == 300
    assert servo.provenance.trials_used == brief.fits["m3"].trials


@pytest.mark.long
@without_intervals
def test_progress_counts_up_to_the_budget_and_improves(logs: dict[str, list[Recording]]) -> None:
    seen: list[Progress] = []
    identify(
        logs["m1"],
        load_servo("mx106"),
        IdentifySettings(models=["m1", "m2"], trials=200),
        execution=Execution(progress=seen.append),
    )
    assert {step.model for step in seen} == {"m1", "m2"}
    for model in ("m1", "m2"):
        steps = [step for step in seen if step.model == model]
        counts = [step.evaluation for step in steps]
        assert counts == sorted(counts)
        assert counts[-1] <= 200
        assert {step.evaluations for step in steps} == {200}
        assert all(0.0 < step.best_mae < 10.0 and step.seconds >= 0.0 for step in steps)


def test_cancelling_ends_an_identification(logs: dict[str, list[Recording]]) -> None:
    seen: list[Progress] = []
    with pytest.raises(IdentificationCancelled):
        identify(
            logs["m1"],
            load_servo("mx106"),
            IdentifySettings(models="all"),
            execution=Execution(progress=seen.append, cancelled=lambda: len(seen) >= 3),
        )
    assert len(seen) == 3


def test_models_are_named_once_and_in_order() -> None:
    assert [model.name for model in resolve_models("all")] == list(FRICTION_MODELS)
    assert [model.name for model in resolve_models(["M6", "m1", "m6"])] == ["m1", "m6"]


@pytest.mark.parametrize(
    ("options", "kind", "about"),
    [
        ({"models": ["m7"]}, UnknownName, {"kind": "friction model", "name": "m7"}),
        ({"models": []}, Missing, {"thing": "model"}),
        ({"trials": 3}, OutOfRange, {"thing": "trials", "value": 3}),
        ({"seed": -1}, OutOfRange, {"thing": "seed", "value": -1}),
        ({"effects": ["warp"]}, UnknownName, {"name": "warp"}),
        ({"test": "kp=400"}, BadData, {"thing": "test kp=400"}),
        ({"servo": load_servo("xl330")}, Conflict, {"thing": "servo xl330"}),
    ],
)
def test_what_cannot_be_identified_is_refused_in_one_line(
    options: dict[str, object],
    kind: type[BamError],
    about: dict[str, object],
    logs: dict[str, list[Recording]],
) -> None:
    settings: dict[str, Any] = {"models": ["m1"], **options}
    servo = settings.pop("servo", load_servo("mx106"))
    with refused(kind, **about):
        identify(logs["m1"], servo, IdentifySettings(**settings))


def test_one_log_of_another_servo_is_named(logs: dict[str, list[Recording]]) -> None:
    stranger = replace(logs["m1"][0], name="stranger", sha256="x", servo="xl320")
    with refused(Conflict, thing="servo mx106") as caught:
        identify([*logs["m1"], stranger], load_servo("mx106"), IdentifySettings(models=["m1"], strict=True))
    assert "stranger" in caught.value.problem
    settings = IdentifySettings(models=["m1"], trials=100, uncertainty=[])
    found = identify([*logs["m1"], stranger], load_servo("mx106"), settings)
    assert [excluded.name for excluded in found.excluded] == ["stranger"]


def test_logs_under_another_control_law_are_refused(logs: dict[str, list[Recording]]) -> None:
    recorded = [replace(log, firmware="mx-protocol1") for log in logs["m1"]]
    other = replace(logs["m1"][0], name="other", sha256="x", firmware="mx-protocol2")
    with refused(Conflict, thing="servo mx106") as caught:
        identify([*recorded, other], load_servo("mx106"), IdentifySettings(models=["m1"], strict=True))
    assert "other" in caught.value.problem


@pytest.mark.long
def test_recorded_logs_are_followed_and_more_friction_terms_follow_them_better(xl330: Path) -> None:
    recordings = load_recordings([xl330])
    servo: ServoModel = load_servo("xl330")
    found = identify(recordings, servo, IdentifySettings(models=["m1", "m4"], trials=1500, test="kp=200"))
    assert found.fits["m1"].train_mae < 0.08
    assert found.fits["m4"].train_mae < 0.9 * found.fits["m1"].train_mae
    assert found.fits["m4"].test_mae < found.fits["m1"].test_mae


@pytest.mark.long
def test_a_model_that_loses_by_losing_an_effect_gives_way_to_another_whose_effects_are_ablated_too(
    monkeypatch: pytest.MonkeyPatch, logs: dict[str, list[Recording]]
) -> None:
    corrected: list[str] = []

    def spoil(
        fitter: Fitter, full: Fit, judge: Evaluator, **_: object
    ) -> tuple[Fit, tuple[EffectAblation, ...]]:
        """The first model that is asked about does much worse in selection from then on."""
        corrected.append(full.model.name)
        evaluate = judge.evaluate

        def worse(fit: Fit) -> ModelFit:
            judged = evaluate(fit)
            if fit.model.name != corrected[0]:
                return judged
            return replace(judged, selection={log: 3.0 * error for log, error in judged.selection.items()})

        if len(corrected) == 1:
            monkeypatch.setattr(judge, "evaluate", worse)
        return full, ()

    monkeypatch.setattr("bam_core.identification.stages.ablate_effects", spoil)
    found = identify(logs["m4"], mx106("m1"), IdentifySettings(models=["m1", "m2"], trials=500))
    assert len(corrected) == 2
    assert found.chosen == corrected[1] != corrected[0]
    assert found.fits[found.chosen].uncertainty is not None
    assert found.fits[corrected[0]].uncertainty is None


def test_units_and_sessions_that_recordings_name_have_a_spread_of_their_own(brief: Identification) -> None:
    fits = {"m1": brief.fits["m1"]}
    named = [
        replace(run, unit="ab"[i % 2], session=f"{'ab'[i % 2]}{i % 4}")
        for i, run in enumerate(brief.split.train[:8])
    ]
    for runs, levels in ((named, ["run", "session", "unit"]), (brief.split.train[:2], ["run"])):
        ((_, fit),) = with_variation(fits, runs, None)
        assert fit.variation is not None
        assert list(fit.variation.spread.draws) == levels
