# SPDX-License-Identifier: Apache-2.0
"""What a model lacks, in words: causes and their forms, failed searches, floors."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from bam_core.identification.misfit.bench_causes import bench_causes, header_causes
from bam_core.identification.misfit.cause import Cause
from bam_core.identification.misfit.drive_causes import drive_causes
from bam_core.identification.misfit.friction_causes import friction_causes
from bam_core.text.misfit_findings import CAUSES, ErrorFloor, SearchFailed
from test.core.finding_cases import missing, unexplained
from test.core.text.test_findings import MOST_WORDS, words

MOVED = [SimpleNamespace(bench_inertia=0.01) for _ in range(2)]
HEADERS = [("1.19 kg at 0.15 m", "kp 8"), ("1.4 kg at 0.15 m + 0.02 kg of arm", "kp 16")]
ALL = [*friction_causes(), *drive_causes(), *bench_causes(MOVED), *header_causes(MOVED, HEADERS)]


def test_every_cause_has_words() -> None:
    assert {cause.kind for cause in ALL} == set(CAUSES)


@pytest.mark.parametrize("cause", ALL, ids=lambda cause: cause.kind)
def test_every_form_of_a_cause_has_words_of_its_own(cause: Cause) -> None:
    sentences = {missing(cause.kind, form).sentence for form in cause.forms}
    assert len(sentences) == len(set(cause.forms))
    most = missing(cause.kind, *cause.forms[: cause.together])
    assert max(map(words, most.sentences)) <= MOST_WORDS


def test_a_form_is_given_in_the_units_of_its_field() -> None:
    play, band = (
        next(cause for cause in ALL if cause.kind == kind).forms for kind in ("backlash", "dead_band")
    )
    assert "Best form: 5 mrad." in missing("backlash", play[0]).sentences
    assert "Best form: 3 mrad, subtracted from the error." in missing("dead_band", band[0]).sentences
    (wrong, _) = next(cause for cause in ALL if cause.kind == "load_header").forms
    assert "Best form: 1.19 kg at 0.15 m: +15 %." in missing("load_header", wrong).sentences


def test_missing_physics_has_share_and_torque() -> None:
    assert missing("presliding").evidence == (
        "The model lacks presliding displacement after a reversal (LuGre).",
        "It explains 42 % ± 3 % of the residual torque in held-out data.",
        "Its torque is 0.012 N·m RMS, the residual torque 0.046 N·m RMS.",
    )


def test_an_effect_is_advised_before_anything_else() -> None:
    assert missing("friction_over_load").suggestion == ("Fit the models with load terms (M3 to M6).",)
    assert missing("friction_over_load", effects=("load_inertia",)).suggestion == (
        "Fit the effect load_inertia.",
    )
    assert missing("presliding").suggestion[0] == "No effect of this suite describes it."


def test_a_failed_search_says_what_does_as_well() -> None:
    assert SearchFailed(baseline="at_goal", baseline_error=0.015).sentences[0] == (
        "The search has failed: its fit is no better than an arm that is always at its goal (15 mrad)."
    )


def test_an_unexplained_misfit_names_the_best_candidate_and_the_worst_runs() -> None:
    assert unexplained().sentence == (
        "No known cause: the best of 24 candidates explains 3 % (20 % needed). "
        "It is torque ripple over the output angle (cogging, gear mesh). "
        "60 % of the residual torque is measurement noise. "
        "Look at the runs with the largest errors: sin_sin_kp16 (30 mrad) and lift_and_drop_kp8 (21 mrad). "
        "Expect such errors in other runs, too."
    )
    assert "60 % or more of" in unexplained(is_noise_bounded=True).sentence


def test_a_floor_says_what_it_is_made_of_and_which_repeated_runs_do_not_fit() -> None:
    plain = ErrorFloor(kind="measurement", error=0.0032, floor=0.0011)
    assert plain.sentence == "Training error 3.2 mrad, floor 1.1 mrad (encoder and timing of the samples)."
    damaged = ErrorFloor(kind="measurement", error=0.0032, floor=0.0011, repeats=0.3, differing=("a", "b"))
    assert damaged.sentences[1:] == (
        "Repeated runs differ by 300 mrad, far more than the error of the fit.",
        "One may be damaged: compare a and b.",
    )
