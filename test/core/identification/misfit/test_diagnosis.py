# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of misfit on recordings whose physics is known and outside the models."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bam_core.identification.identify import identify
from bam_core.identification.misfit.bench_causes import bench_causes
from bam_core.identification.misfit.cause_responses import _clipped
from bam_core.identification.misfit.diagnosis import _unexplained, diagnose
from bam_core.identification.misfit.floor import floor
from bam_core.identification.misfit.friction_causes import friction_causes
from bam_core.identification.misfit.ranking import Score
from bam_core.identification.misfit.trivial import trivial
from bam_core.identification.misfit.windows import WindowData
from bam_core.identification.search.gauss_newton import descend
from bam_core.identification.search.sensitivity import normalised
from bam_core.identification.search.space import search_space
from bam_core.identification.settings import IdentifySettings
from bam_core.servo.effects import EFFECTS
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo
from bam_core.servo.motor import DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.rollout import PARAMETERS, Rollout, parameter_vector
from bam_core.text.misfit_findings import FAILED, UNKNOWN
from test.core.other_physics import SERVO, Bench, Truth, record, with_other_headers

SMALL = Bench(gains=(16.0,), scripts=("sin_sin", "sin_time_square", "up_and_down"))
OTHER = Truth(
    torque_constant=1.6, resistance=3.0, armature=0.012, viscous=0.1, coulomb=0.12, stribeck=0.02, load=0.05
)
"""A weaker servo with much friction."""

CASES = {
    "presliding": {"presliding": 0.03},
    "direction_asymmetry": {"asymmetry": 0.3},
    "torque_ripple": {"harmonic": 12.0, "ripple": 0.12, "second_ripple": 0.05},
    "flexible_joint": {"compliance": 0.02},
    "friction_drift": {"drift": 0.5},
    "goal_slew": {"slew": 4.0},
}
"""The four of LuGre, direction, cogging and flexible joint, and two more: what a report shall name."""


def in_the_models(truth):
    """The servo of a truth as far as M4 has its physics; where a fit would start."""
    model = FRICTION_MODELS["m4"]
    values = {
        "viscous": truth.viscous,
        "coulomb": truth.coulomb,
        "stribeck_coulomb": truth.stribeck,
        "stribeck_velocity": truth.stribeck_velocity,
        "stribeck_exponent": 1.0,
        "load": truth.load,
        "load_stribeck": 0.0,
    }
    motor = DcMotor(
        torque_constant=truth.torque_constant, resistance=truth.resistance, armature=truth.armature
    )
    return replace(
        load_servo(SERVO),
        motor=motor,
        friction_model="m4",
        friction=model.friction(values),
        integrator="midpoint",
        uncertainty={},
    )


def diagnosed(recordings, truth, effects=()):
    """Diagnose the servo that a truth is within the models, without a search."""
    servo = in_the_models(truth)
    space = search_space(FRICTION_MODELS["m4"], recordings, servo.search.ranges, effects)
    return diagnose(servo, recordings, space)


@pytest.mark.long
def test_residuals_are_clipped_closer_in_windows_where_only_one_arm_sticks():
    noise = np.tile([1.0, -1.0], 10)
    outlier = np.array([100.0, 100.0])
    residual = np.concatenate([noise, outlier, 2.0 * noise, outlier])
    agrees = np.ones(len(residual), dtype=bool)
    agrees[[21, 43]] = False
    seen = WindowData(
        residual=residual,
        sensitivity=np.zeros((len(residual), 1)),
        log=np.repeat([0, 1], 22),
        place=np.tile(np.arange(22), 2),
        agrees=agrees,
        free=(),
    )
    clipped = _clipped(seen)
    deviation = np.array([1.0, 2.0]) / 0.6745  # of a normal error, from the median
    np.testing.assert_allclose(clipped[[20, 42]], 20.0 * deviation, rtol=1e-6)
    np.testing.assert_allclose(clipped[[21, 43]], 3.0 * deviation, rtol=1e-6)
    np.testing.assert_allclose(clipped[:20], noise)


def test_a_model_that_lacks_nothing_is_at_the_floor():
    found = diagnosed(record(Truth(), SMALL, seed=5), Truth())
    assert found.findings == ()
    assert found.error > found.floor.value
    assert not found.is_above_floor
    assert len(found.shifts) == 0


LESS_OFTEN = ("direction_asymmetry", "torque_ripple", "flexible_joint")


@pytest.mark.parametrize("kind", CASES)
def test_missing_physics_is_named(kind):
    truth = Truth(**CASES[kind])
    found = diagnosed(record(truth, SMALL, seed=1), truth)
    assert found.findings[0].kind == kind
    assert found.findings[0].share > 0.25  # a fifth is enough to be named
    assert 0.0 < found.findings[0].torque <= 1.5 * found.findings[0].residual_torque


@pytest.mark.parametrize(
    "kind",
    ["presliding", *(pytest.param(kind, marks=pytest.mark.long) for kind in LESS_OFTEN)],
)
def test_missing_physics_of_another_servo_on_other_loads_is_named(kind):
    truth = OTHER._replace(**CASES[kind])
    bench = Bench(
        loads=(PendulumBench(mass=0.5, length=0.12), PendulumBench(mass=1.0, length=0.15, arm_mass=0.02)),
        gains=(8.0, 16.0),
        scripts=("sin_sin", "sin_time_square", "lift_and_drop"),
    )
    assert diagnosed(record(truth, bench, seed=2), truth).findings[0].kind == kind


def test_what_takes_a_misfit_is_named_if_the_suite_has_it():
    truth = Truth(**CASES["flexible_joint"])
    (finding, *_) = diagnosed(record(truth, SMALL, seed=1), truth).findings
    assert finding.effects == ("arm_compliance",)
    assert set(finding.effects) <= set(EFFECTS)


def test_an_effect_that_was_fitted_is_not_suggested():
    truth = Truth(**CASES["flexible_joint"])
    found = diagnosed(record(truth, SMALL, seed=1), truth, effects=["arm_compliance"])
    assert all("arm_compliance" not in finding.effects for finding in found.findings)


@pytest.mark.long
def test_a_wrong_weight_among_others_is_a_header_and_no_physics():
    bench = Bench(
        loads=(
            PendulumBench(mass=0.8, length=0.15),
            PendulumBench(mass=1.4, length=0.15),
            PendulumBench(mass=1.1, length=0.20),
        ),
        gains=(16.0,),
        scripts=SMALL.scripts,
    )

    def lighter(load):
        return replace(load, mass=0.85 * load.mass) if load.mass == 1.4 else load

    recordings = with_other_headers(record(Truth(), bench, seed=3), lighter)
    found = diagnosed(recordings, Truth())
    assert found.findings[0].kind == "load_header"
    assert [form.value for form in found.findings[0].forms] == ["1.19 kg at 0.15 m"]
    (change,) = found.findings[0].changes
    assert 0.05 < change < 1.4 / 1.19 - 1.0  # other parameters take a part of it


def test_repeated_runs_raise_the_floor():
    """An arm that slips now here and now there is followed by no model better than by itself."""
    once = record(Truth(), SMALL, seed=1)
    again = [replace(each, name=f"{each.name}_2") for each in record(Truth(), SMALL, seed=2)]
    apart = diagnosed([*once, *again], Truth()).floor
    assert apart.pairs == len(once)
    assert apart.value > diagnosed(once, Truth()).floor.value
    assert apart.repeats is not None
    assert apart.report(0.1).kind == "repeated_runs"


def _moved(log, by, name):
    return replace(log, name=name, position=log.position + by)


def test_one_damaged_repetition_is_no_scatter():
    """Of pairs the middle counts; and no fit can be far below what repeated runs leave."""
    logs = record(Truth(), SMALL, seed=1)
    again = [_moved(each, 0.002, f"{each.name}_2") for each in logs]
    bad = _moved(logs[0], 0.5, "bad")
    resolution = load_servo(SERVO).firmware.resolution
    for some in ([*logs, *again[1:], bad], [*logs[:2], again[1], bad]):
        assert floor(some, resolution).repeats == pytest.approx(0.002 / np.sqrt(2.0))
    alone = floor([*logs, bad], resolution)
    assert alone.beside(0.3).value > 0.3
    assert alone.beside(0.3).report(0.3).kind == "repeated_runs"
    assert alone.beside(0.3).report(0.3).differing == ()
    assert alone.beside(0.03).value < 0.01
    damaged = alone.beside(0.03).report(0.03)
    assert damaged.kind == "measurement"
    assert damaged.differing == (logs[0].name, "bad")
    assert damaged.repeats == alone.repeats
    one_bad = diagnosed([*logs, bad], OTHER._replace(coulomb=0.3))
    assert one_bad.is_above_floor


@pytest.mark.long
@pytest.mark.parametrize("kind", CASES)
def test_an_identification_names_what_the_model_lacks(kind):
    truth = Truth(**CASES[kind])
    result = identify(record(truth), SERVO, IdentifySettings(models=["m4"], trials=3000, effects=()))
    (entry, *_) = result.summary()["models"]["m4"]["misfit"]
    assert entry["kind"] == kind
    assert entry["sentence"] == f"{entry['evidence']} {entry['suggestion']}"


@pytest.mark.long
@pytest.mark.parametrize("kind", CASES)
def test_intervals_grow_by_what_a_model_lacks(kind):
    """The fit is off further than its logs disagree; with the misfit, most intervals hold the truth."""
    truth = Truth(**CASES[kind])
    recordings = record(truth)
    servo = in_the_models(truth)
    space = search_space(FRICTION_MODELS["m4"], recordings, servo.search.ranges)
    start = parameter_vector(servo)
    fit = descend(Rollout.for_servo(recordings, servo), space, start)
    there = {
        name: fit.vector[PARAMETERS.index(name)] for name in ("torque_constant", "resistance", "armature")
    }
    fitted = replace(servo, motor=DcMotor(**there))
    shifts = diagnose(fitted, recordings, space).shifts
    assert len(shifts)
    assert np.all(np.isfinite(shifts))
    off = (normalised(space, start) - normalised(space, fit.vector))[:3]
    assert np.all(np.abs(off) < 4.0 * np.sqrt(np.mean(shifts[:, :3] ** 2, axis=0)) + 0.01)


@pytest.mark.parametrize("stuck", [True, False])
def test_a_fit_no_better_than_no_model_is_a_failed_search_and_no_physics(stuck):
    """An arm that friction holds; and one whose friction is only twice that of the recordings."""
    truth = Truth()
    found = diagnosed(record(truth, SMALL, seed=1), truth._replace(coulomb=9.0 if stuck else 0.25))
    assert ([finding.kind for finding in found.findings] == [FAILED]) == stuck
    assert (len(found.shifts) == 0) == stuck


def test_what_needs_no_model_is_at_its_goal_or_at_rest_and_without_a_controller_at_rest():
    (log, *_) = record(Truth(), SMALL, seed=1)
    assert trivial([log]).kind == "at_goal"
    assert trivial([log]).error == pytest.approx(np.mean(np.abs(log.position - log.goal_position)))
    alone = replace(
        log,
        open_loop=True,
        kp=0.0,
        duty=np.zeros(len(log)),
        goal_position=np.full(len(log), np.nan),
    )
    assert trivial([alone]).kind == "at_rest"
    assert trivial([alone]).error == pytest.approx(np.mean(np.abs(log.position - log.position.mean())))


CAUSE = friction_causes()[0]


def test_none_of_these_is_said_where_no_cause_takes_it():
    """A motion that no torque explains: positions shuffled in time."""
    random = np.random.default_rng(0)
    recordings = [
        replace(each, position=each.position + 0.01 * np.sin(np.cumsum(random.normal(0.0, 0.5, len(each)))))
        for each in record(Truth(), SMALL, seed=1)
    ]
    found = diagnosed(recordings, Truth())
    assert [finding.kind for finding in found.findings] == [UNKNOWN]
    errors = Rollout.for_servo(recordings, in_the_models(Truth())).errors(
        parameter_vector(in_the_models(Truth()))
    )
    worst = recordings[int(np.argmax(errors[0]))].name
    (finding,) = found.findings
    assert finding.worst[0] == (worst, pytest.approx(np.max(errors[0])))
    assert finding.candidates > 10


@pytest.mark.parametrize(
    ("share", "error", "forms", "obstacle"),
    [
        (0.06, 0.01, (0,), "too_small"),
        (0.25, 0.20, (0,), "by_chance"),
        (0.25, 0.01, (), "inconsistent"),
        (-0.1, 0.01, (), "too_small"),
    ],
)
def test_why_the_best_cause_is_not_named_is_reported(share, error, forms, obstacle):
    nothing = np.empty(0)
    score = Score(share=share, error=error, forms=forms, columns=(), coefficients=nothing, shift=nothing)
    finding = _unexplained([CAUSE], {CAUSE.kind: score}, 0.75, {"a": 0.01, "b": 0.03, "c": 0.02})
    assert finding.obstacle == obstacle
    assert (finding.nearest, finding.nearest_share) == (CAUSE.kind, max(share, 0.0))
    assert (finding.noise_share, finding.is_noise_bounded) == (0.25, False)
    assert _unexplained([CAUSE], {CAUSE.kind: score}, 0.2, {"a": 0.01}).is_noise_bounded
    assert finding.worst == (("b", 0.03), ("c", 0.02))


@pytest.mark.parametrize(
    ("inertia", "kinds"), [(0.0, []), (0.01, ["flexible_joint", "backlash", "load_gyration", "zero_offset"])]
)
def test_a_shaft_without_an_arm_has_no_causes_of_a_bench(inertia, kinds):
    with np.errstate(all="raise"):
        causes = bench_causes([SimpleNamespace(bench_inertia=inertia)])
    assert [cause.kind for cause in causes] == kinds
