# SPDX-License-Identifier: Apache-2.0
"""What BAM's sections V-B and VI-A say about identified servos, held against errors found here."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from bam_core.servo.friction import FRICTION_MODELS
from papers.bam.causes import NO_CAUSES, Causes
from papers.bam.fits import Repeat, Repeats, spread
from papers.bam.relations import (
    CLEAR,
    NOT_UNDERSTOOD,
    STEP_RULE,
    Errors,
    Relation,
    RepeatedErrors,
    best_factor,
    best_of_all,
    means,
    statement,
    steps,
)
from papers.claim import UNCERTAIN, Claim, Kind

FACTORS: Mapping[str, float] = {"mx64": 2.93, "mx106": 2.02, "erob80_100": 2.34, "erob80_50": 1.51}
"""Section VI-A: test MAE of M1 over that of the best model."""

PARAMETERS_ALIKE = 0.05
"""Relative; the k_t that the authors published for the MX-64 differs by as much between M1 and M6."""

_HALF = 0.5
_TEST_WORDS = "logs that took no part, of the repeat with the lowest training MAE"
_MODELS = tuple(FRICTION_MODELS)

OTHER_REASON = "it may lie between these, but not for the paper's reason"
"""Of a factor that comes from something else than friction."""


def factor_claim(
    label: str,
    errors: Errors,
    repeats: RepeatedErrors,
    factors: Sequence[float],
    kind: Kind,
    causes: Causes = NO_CAUSES,
    stands_in: str = "",
) -> Claim:
    """Section VI-A: how much better the best model is than M1.

    Args:
        label: of the servo.
        errors: of test logs.
        repeats: of the same logs, of each repeat.
        factors: of the paper; several where it has no such servo: then between the lowest and the highest,
            and nothing contradicts it.
        kind: of data.
        causes: why it may miss.
        stands_in: what other than friction makes the best model better; then it does not hold, wherever
            the factor lies. Empty where nothing is known to.
    """
    mae = means(errors)
    ours = mae["m1"] / min(mae.values())
    least, most = best_factor(repeats)
    low = 1.0 + (1.0 - _HALF) * (min(factors) - 1.0)
    high = 1.0 + (1.0 + _HALF) * (max(factors) - 1.0)
    within = low <= least and most <= high
    overlaps = least <= high and most >= low
    holds = within and not stands_in
    none = len(factors) == 1 and most < math.sqrt(factors[0])
    straddles = overlaps and not within
    told = causes.factor or NOT_UNDERSTOOD
    if overlaps and stands_in:
        told = f"{OTHER_REASON}: {stands_in}"
    if straddles:
        told = f"{UNCERTAIN}; {told}"
    return Claim(
        claim=f"VI-A, {label}: MAE of M1 over that of the best",
        paper=factors[0] if len(factors) == 1 else " to ".join(f"{f:g}" for f in sorted(factors)),
        ours=ours,
        unit=f"95 % interval {least:.2f} to {most:.2f}",
        holds=holds,
        kind=kind,
        threshold_reason=f"all of the interval within {low:.2f} to {high:.2f}, {_range_words(factors)}: half"
        " to one and a half of the paper's improvement; 1 would be none. The interval is from logs drawn anew"
        " in pairs, a repeat of each model drawn at random where there are several, and the best model found"
        " anew in each draw",
        contradicts=none,
        undecided=straddles and not holds and not none,
        reason="" if holds else told,
    )


def _range_words(factors: Sequence[float]) -> str:
    low, high = min(factors), max(factors)
    if low == high:
        return f"1 + ({low:g} - 1) × ({_HALF:g} to {1.0 + _HALF:g})"
    return f"1 + ({low:g} - 1) × {_HALF:g} to 1 + ({high:g} - 1) × {1.0 + _HALF:g}"


def dynamixel_claims(label: str, errors: Errors, kind: Kind, reason: str = "") -> Iterator[Claim]:
    """Section VI-A of the MX-64 and MX-106: better from M1 through M5, no better with M6.

    Real data are those of other servos, for recordings of these are not published: they may miss what the
    paper says of its own, but cannot contradict it.
    """
    others = kind == "real"
    yield statement(
        f"VI-A, {label}: consistent improvements in MAE from M1 through M5",
        errors,
        steps(_MODELS[:5]),
        kind,
        f"each model is better than the one before; {_TEST_WORDS}",
        reason,
        of_others=others,
    )
    yield statement(
        f"VI-A, {label}: no improvement for M6",
        errors,
        (Relation(model="m5", than="m1"), Relation(model="m6", than="m5", denied=True)),
        kind,
        f"M6 is no better than M5, and M5 is better than M1, for where all models are alike, none improves on"
        f" another; {_TEST_WORDS}",
        reason,
        of_others=others,
    )


def erob_100_claims(label: str, errors: Errors, kind: Kind, reason: str = "") -> Iterator[Claim]:
    """Section VI-A of the eRob80:100."""
    yield statement(
        f"VI-A, {label}: the best performance is achieved with M6",
        errors,
        best_of_all("m6"),
        kind,
        f"M6 is better than each of the others; {_TEST_WORDS}",
        reason,
    )
    yield statement(
        f"VI-A, {label}: gradual improvements from M1 to M6",
        errors,
        steps(_MODELS),
        kind,
        f"each model is better than the one before; {_TEST_WORDS}",
        reason,
    )


def erob_50_claims(label: str, errors: Errors, kind: Kind, reason: str = "") -> Iterator[Claim]:
    """Section VI-A of the eRob80:50: M3 is better than M1 and M2, nothing beyond is clearly better."""
    yield statement(
        f"VI-A, {label}: no clear improvement beyond M3",
        errors,
        (
            *(Relation(model="m3", than=simpler) for simpler in ("m1", "m2")),
            *(Relation(model=larger, than="m3", denied=True) for larger in ("m4", "m5", "m6")),
        ),
        kind,
        f"none of M4 to M6 is better than M3, which is better than M1 and M2; {_TEST_WORDS}",
        reason,
    )


def repeat_claims(
    label: str, repeats: Repeats, kind: Kind, *, scores: str = "", parameters: str = ""
) -> Iterator[Claim]:
    """Section V-B: repeats converge to the same scores and parameters.

    The paper says it of its own search. Where repeats of ours differ, this is missed; it says nothing against
    theirs.

    Args:
        label: of the servo.
        repeats: of each model.
        kind: of data.
        scores: why scores may differ.
        parameters: why parameters may.
    """
    of_scores = {model: spread([one.train for one in repeat]) for model, repeat in repeats.items()}
    mae = {model: min(one.train for one in repeat) for model, repeat in repeats.items()}
    models_differ = min(mae.values()) < (1.0 - CLEAR) * mae["m1"]
    yield _agreement(
        f"V-B, {label}: repeats converge to the same scores",
        of_scores,
        models_differ,
        kind,
        CLEAR,
        f"training MAE of the repeats within {100 * CLEAR:.0f} % of each other in every model, by the figure"
        f" of {STEP_RULE}: repeats then exchange no models; {_MODELS_DIFFER}",
        scores,
    )
    of_motors = {model: _parameter_spread(repeat) for model, repeat in repeats.items()}
    yield _agreement(
        f"V-B, {label}: repeats converge to the same parameters",
        of_motors,
        models_differ,
        kind,
        PARAMETERS_ALIKE,
        f"k_t, R and J_m of the repeats, which every model has, within {100 * PARAMETERS_ALIKE:.0f} %:"
        " the k_t that the authors published for the MX-64 differs by as much between M1 and M6; friction's"
        f" own are left out, for those that are near zero have no relative spread; {_MODELS_DIFFER}",
        parameters,
    )


def _parameter_spread(repeats: Sequence[Repeat]) -> float:
    motors = [one.servo.motor for one in repeats]
    names = ("torque_constant", "resistance", "armature")
    return max(spread([getattr(motor, name) for motor in motors]) for name in names)


_MODELS_DIFFER = (
    f"and the best model's training MAE is below M1's by {100 * CLEAR:.0f} %, for a program that does not"
    " search has the same in each repeat, too"
)


def _agreement(
    words: str,
    spreads: Mapping[str, float],
    models_differ: bool,
    kind: Kind,
    limit: float,
    threshold_reason: str,
    reason: str,
) -> Claim:
    """Return whether spreads are within a limit, of searches that tell models apart."""
    holds = max(spreads.values()) <= limit and models_differ
    return Claim(
        claim=words,
        paper=True,
        ours=" / ".join(f"{100 * value:.1f}" for value in spreads.values()),
        unit="% of their mean, from lowest to highest, M1..M6",
        holds=holds,
        kind=kind,
        threshold_reason=threshold_reason,
        reason="" if holds else reason or NOT_UNDERSTOOD,
    )
