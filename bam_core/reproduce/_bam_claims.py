# SPDX-License-Identifier: Apache-2.0
"""What BAM's sections V-B and VI-A say about identified servos, held against errors found here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from bam_core.reproduce._bam_fits import Repeats, spread
from bam_core.reproduce.claim import Claim, Kind
from bam_core.servo.friction import FRICTION_MODELS

FACTORS: Mapping[str, float] = {"mx64": 2.93, "mx106": 2.02, "erob80_100": 2.34, "erob80_50": 1.51}
"""Section VI-A: test MAE of M1 over that of the best model."""

_TOLERANCE = 0.3
_CLEAR = 0.05  # relative; the standard error of a mean over 25 logs that differ by a quarter from each other
_SAME_SCORE = 0.02
_SAME_PARAMETER = 0.05
_MINUTES = 5.0
_TEST_WORDS = "test MAE of the repeat with the lowest training MAE"

Errors = Mapping[str, float]
"""Model -> mean absolute error, rad."""


def factor_claim(label: str, mae: Errors, factors: Sequence[float], kind: Kind, reason: str = "") -> Claim:
    """Section VI-A: how much better the best model is than M1.

    Args:
        label: of the servo.
        mae: of test logs.
        factors: of the paper; several where it has no such servo: then between the lowest and the highest.
        kind: of data.
        reason: why it may miss.
    """
    ours = mae["m1"] / min(mae.values())
    low, high = (1.0 - _TOLERANCE) * min(factors), (1.0 + _TOLERANCE) * max(factors)
    ends = " and ".join(f"{each:g}" for each in dict.fromkeys(factors))
    return Claim(
        claim=f"VI-A, {label}: MAE of M1 over that of the best",
        paper=factors[0] if len(factors) == 1 else " to ".join(f"{f:g}" for f in sorted(factors)),
        ours=ours,
        holds=low <= ours <= high,
        kind=kind,
        threshold_reason=f"the paper's {ends} within 30 %, {low:.2f} to {high:.2f}: its four servos differ by"
        " as much from their mean, so another specimen may",
        reason="" if low <= ours <= high else reason,
    )


def statement(
    words: str, mae: Errors, holds: bool, kind: Kind, threshold_reason: str, reason: str = ""
) -> Claim:
    """Return a statement of the paper beside the errors of all models; where it fails it is contradicted."""
    return Claim(
        claim=words,
        paper=True,
        ours=" / ".join(f"{1e3 * mae[model]:.2f}" for model in FRICTION_MODELS),
        unit="mrad, M1..M6",
        holds=holds,
        kind=kind,
        threshold_reason=threshold_reason,
        contradicts=not holds,
        reason="" if holds else reason or "errors are in another order here",
    )


def dynamixel_claims(label: str, mae: Errors, kind: Kind, reason: str = "") -> Iterator[Claim]:
    """Section VI-A of Dynamixel servos: better from M1 through M5, no better with M6."""
    falls = all(mae[one] > mae[other] for one, other in pairwise(list(FRICTION_MODELS)[:5]))
    yield statement(
        f"VI-A, {label}: consistent improvements in MAE from M1 through M5",
        mae,
        falls,
        kind,
        f"each model is better than the one before; {_TEST_WORDS}",
        reason,
    )
    same = mae["m6"] > (1.0 - _CLEAR) * mae["m5"]
    yield statement(
        f"VI-A, {label}: no improvement for M6",
        mae,
        same,
        kind,
        f"M6 is not {100 * _CLEAR:.0f} % better than M5: about what a mean over the test logs is known to",
        reason,
    )


def erob_100_claims(label: str, mae: Errors, kind: Kind, reason: str = "") -> Iterator[Claim]:
    """Section VI-A of the eRob80:100."""
    yield statement(
        f"VI-A, {label}: the best performance is achieved with M6",
        mae,
        min(mae, key=mae.__getitem__) == "m6",
        kind,
        f"M6 has the lowest error; {_TEST_WORDS}",
        reason,
    )
    yield statement(
        f"VI-A, {label}: gradual improvements from M1 to M6",
        mae,
        all(mae[one] > mae[other] for one, other in pairwise(FRICTION_MODELS)),
        kind,
        f"each model is better than the one before; {_TEST_WORDS}",
        reason,
    )


def erob_50_claims(label: str, mae: Errors, kind: Kind, reason: str = "") -> Iterator[Claim]:
    """Section VI-A of the eRob80:50: M3 is better than M1 and M2, nothing beyond is clearly better."""
    best = min(mae[model] for model in ("m4", "m5", "m6"))
    before = min(mae["m1"], mae["m2"])
    yield statement(
        f"VI-A, {label}: no clear improvement beyond M3",
        mae,
        best > (1.0 - _CLEAR) * mae["m3"] and mae["m3"] < (1.0 - _CLEAR) * before,
        kind,
        f"none of M4 to M6 is {100 * _CLEAR:.0f} % better than M3, which is that much better than M1 and M2",
        reason,
    )


def repeat_claims(label: str, repeats: Repeats, kind: Kind) -> Iterator[Claim]:
    """Section V-B: repeats converge to the same scores and parameters, in under five minutes."""
    scores = {model: spread([one.train for one in each]) for model, each in repeats.items()}
    yield _agreement(
        f"V-B, {label}: repeats converge to the same scores",
        scores,
        _SAME_SCORE,
        kind,
        "training MAE of the repeats within 2 % of each other in every model: less than what separates"
        " neighbouring bars of fig. 5",
        "models with many parameters have several valleys with nearly equal errors",
    )
    parameters = {model: _parameter_spread(each) for model, each in repeats.items()}
    yield _agreement(
        f"V-B, {label}: repeats converge to the same parameters",
        parameters,
        _SAME_PARAMETER,
        kind,
        "k_t, R and J_m of the repeats, which every model has, within 5 % of each other; friction's own are"
        " left out, for those that are near zero have no relative spread",
        "several sets of k_t, R and friction give the same motion: voltage control shows their ratios better",
    )
    longest = max(one.seconds for each in repeats.values() for one in each) / 60.0
    yield Claim(
        claim=f"V-B, {label}: identification of a model in about 4000 iterations, the longest",
        paper="< 5",
        ours=longest,
        unit="min of one processor",
        holds=longest < _MINUTES,
        kind=kind,
        threshold_reason="the paper's five minutes; processor time, so that other work does not count",
    )


def _parameter_spread(repeats: Sequence) -> float:
    motors = [one.servo.motor for one in repeats]
    names = ("torque_constant", "resistance", "armature")
    return max(spread([getattr(motor, name) for motor in motors]) for name in names)


def _agreement(
    words: str, spreads: Mapping[str, float], most: float, kind: Kind, threshold_reason: str, reason: str
) -> Claim:
    holds = max(spreads.values()) <= most
    return Claim(
        claim=words,
        paper=True,
        ours=" / ".join(f"{100 * value:.1f}" for value in spreads.values()),
        unit="% from lowest to highest, M1..M6",
        holds=holds,
        kind=kind,
        threshold_reason=threshold_reason,
        contradicts=not holds,
        reason="" if holds else reason,
    )
