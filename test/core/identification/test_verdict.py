# SPDX-License-Identifier: Apache-2.0
"""The verdict follows from test error, motion, floor, search, test set and misfit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bam_core.identification.choice.model_fit import MATTERS, ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.misfit.diagnosis import Diagnosis
from bam_core.identification.misfit.floor import Floor
from bam_core.identification.search.space import search_space
from bam_core.identification.uncertainty.estimates import ParameterEstimate, Uncertainty
from bam_core.identification.verdict import Verdict, verdict
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.text.error_findings import FEWEST_LOGS
from bam_core.text.misfit_findings import FAILED, UNKNOWN, MisfitFinding
from bam_core.text.uncertainty_findings import IntervalMethod
from bam_core.text.verdict_words import GREEN_SHARE, RED_SHARE
from test.core.finding_cases import EXAMPLES
from test.core.identification_cases import mx106, record

SCRIPTS = ("sin_sin", "lift_and_drop", "up_and_down", "sin_time_square")


def logs(kp: float, name: str) -> tuple[Recording, ...]:
    return tuple(
        replace(log, name=f"{name} {log.script}", sha256=f"{name} {log.script}")
        for log in (record(mx106("m1"), script, kp) for script in SCRIPTS)
    )


TRAIN, TEST = logs(8.0, "train"), logs(32.0, "test")
MISFITS = {example.kind: example for example in EXAMPLES if isinstance(example, MisfitFinding)}
MOTION = float(np.mean([np.mean(np.abs(log.position - log.position.mean())) for log in TEST]))


def misfit(*kinds: str, floor: float = 1e-4) -> Diagnosis:
    return Diagnosis(
        floor=Floor(encoder=0.0, noise=floor, repeats=None, pairs=0),
        error=0.001,
        findings=tuple(MISFITS[kind] for kind in kinds),
        shifts=np.empty((0, 1)),
        shares={},
    )


def judged(
    share: float = 0.01,
    *,
    train: tuple[Recording, ...] = TRAIN,
    test: tuple[Recording, ...] = TEST,
    **more: Any,
) -> Verdict:
    complete, restart = more.pop("complete", True), more.pop("restart", None)
    settings: dict[str, Any] = {
        "converged": True,
        "limited": False,
        "diagnosis": misfit(),
        "at_bound": (),
        "per_log": {},
        **more,
    }
    fit = ModelFit(
        servo=mx106("m1"),
        bench_effects=IDEAL_BENCH,
        space=search_space(FRICTION_MODELS["m1"], TRAIN),
        train_mae=0.001,
        selection={},
        test={log.name: share * MOTION for log in test},
        trials=100,
        budget=100,
        method="gauss-newton",
        seconds=1.0,
        **settings,
    )
    split = Split(train=train, test=test, rule="kp=32" if test else "none")
    return verdict(fit, split, complete=complete, restart=restart)


def test_a_small_test_error_at_a_new_condition_without_reservation_is_green() -> None:
    found = judged()
    assert (found.kind, found.reasons, found.new) == ("green", (), ("kp",))
    assert found.share == pytest.approx(0.01)
    assert found.motion == pytest.approx(MOTION)


@pytest.mark.parametrize(
    ("share", "kind", "reasons"),
    [
        (0.99 * GREEN_SHARE, "green", ()),
        (1.01 * GREEN_SHARE, "yellow", ("large_error",)),
        (0.99 * RED_SHARE, "yellow", ("large_error",)),
        (1.01 * RED_SHARE, "red", ("error_above_motion",)),
    ],
)
def test_the_test_error_counts_beside_the_motion(share: float, kind: str, reasons: tuple[str, ...]) -> None:
    found = judged(share)
    assert (found.kind, found.reasons) == (kind, reasons)


@pytest.mark.parametrize("share", [2.0 * GREEN_SHARE, 2.0 * RED_SHARE])
def test_but_not_where_it_is_at_the_floor(share: float) -> None:
    assert judged(share, diagnosis=misfit(floor=share * MOTION)).kind == "green"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"test": ()}, "no_test"),
        ({"test": TEST[: FEWEST_LOGS - 1]}, "few_tests"),
        ({"converged": False, "limited": True, "spread": 0.0}, "not_converged"),
        ({"converged": False, "spread": 1.01 * MATTERS}, "not_converged"),
        ({"diagnosis": misfit("friction_over_load")}, "open_misfit"),
        ({"complete": False}, "interrupted"),
        ({"at_bound": ("resistance",)}, "at_bound"),
        ({"per_log": {"train": 0.09 * MOTION}}, "worse_run"),
        ({"train": (*TRAIN, *logs(32.0, "again"))}, "no_other_condition"),
    ],
)
def test_each_reservation_alone_makes_it_yellow(change: dict[str, Any], reason: str) -> None:
    found = judged(**change)
    assert (found.kind, found.reasons) == ("yellow", (reason,))


@pytest.mark.parametrize(
    "change",
    [
        {"converged": False, "spread": 0.99 * MATTERS},
        {"diagnosis": misfit(UNKNOWN)},
        {"per_log": {"train": 0.049 * MOTION}},
        {"per_log": {"train": 0.09 * MOTION}, "diagnosis": misfit(floor=0.09 * MOTION)},
    ],
)
def test_what_changes_no_error_and_has_no_cure_is_no_reservation(change: dict[str, Any]) -> None:
    assert judged(**change).kind == "green"


def test_a_failed_search_is_red_whatever_else_there_is() -> None:
    found = judged(diagnosis=misfit(FAILED), test=TEST[:1])
    assert (found.kind, found.reasons) == ("red", ("failed_search", "few_tests"))


def known(**are: bool) -> Uncertainty:
    """Parameters, of servo and bench, and whether they are identifiable."""
    estimates = tuple(
        ParameterEstimate(name=name, value=1.0, standard_error=0.1, low=0.8, high=1.2, identifiable=is_known)
        for name, is_known in are.items()
    )
    return Uncertainty(
        estimates=estimates, correlation=np.eye(len(are)), method=IntervalMethod(logs=3, level=0.95)
    )


def test_a_servo_of_which_no_parameter_is_identifiable_is_red() -> None:
    nothing = known(resistance=False, coulomb=False, command_delay=True)
    found = judged(uncertainty=nothing, test=())
    assert (found.kind, found.reasons) == ("red", ("unidentifiable", "no_test"))
    assert judged(uncertainty=known(resistance=True, coulomb=False)).kind == "green"


def test_conditions_are_new_only_where_no_training_log_has_them() -> None:
    mixed = judged(train=(TRAIN[0], TRAIN[1], TEST[2], TEST[3]), test=(TRAIN[2], TRAIN[3], TEST[0], TEST[1]))
    assert (mixed.kind, mixed.new) == ("green", ())
    scripts = judged(train=(*TRAIN[:2], *TEST[:2]), test=(*TRAIN[2:], *TEST[2:]))
    assert scripts.new == ("script",)


def test_motion_between_restarts_is_that_within_the_pieces() -> None:
    short, whole = judged(restart=0.25).motion, judged().motion
    assert short is not None
    assert whole is not None
    assert 0.0 < short < 0.5 * whole


def test_the_summary_has_the_numbers_beside_the_sentence() -> None:
    entry = judged(1.5 * GREEN_SHARE, test=TEST[:3]).summary()
    assert entry["kind"] == "yellow"
    assert [reason["kind"] for reason in entry["reasons"]] == ["large_error", "few_tests"]
    assert all(reason["sentence"] for reason in entry["reasons"])
    assert entry["test_logs"] == 3
    assert entry["test_mae"] == pytest.approx(1.5 * GREEN_SHARE * MOTION)
    assert entry["new_conditions"] == ["kp"]
