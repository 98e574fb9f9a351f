# SPDX-License-Identifier: Apache-2.0
"""BAM section VI-B, figs. 1 and 7: identified models drive 2R arms in MuJoCo, beside true arms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import product
from statistics import fmean

import numpy as np

from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel
from bam_core.simulation.threads import available_processors
from papers.bam.arm_paths import PATHS
from papers.bam.arm_tracking import ArmTrack, track
from papers.bam.fits import Repeats, best_repeats
from papers.bam.relations import Relation, best_of_all, statement
from papers.bam.true_arm import true_track
from papers.bam.truth import TrueServo
from papers.bam.two_link import TwoLinkArm
from papers.claim import Claim

FIGURE_1 = ("triangular_wave", "LG")
"""Path and gain of fig. 1."""

_TWICE, _THRICE = 2.0, 3.0

_DIFFER = 0.15
DIFFER_WORDS = f"friction ±{100 * _DIFFER:.0f} %"
"""How joints of the arms differ from servos on the bench."""

SPECIMENS = tuple(product((1.0 + _DIFFER, 1.0 - _DIFFER), (1.0 + _DIFFER, 1.0 - _DIFFER)))
"""Friction of an arm's servos over that on the bench: other specimens, temperatures, radial forces.

Joint friction of the real humanoid's squats (`papers.egle.experiment`) is 0.80 to 1.29 times what M6 of the
bench says, 15 % from it as a root mean square over four joints of the arms and three pairs of the legs.
"""

Configuration = tuple[str, str]
"""Path and gain ("LG" or "HG")."""

ArmErrors = Mapping[Configuration, Mapping[str, float]]
"""Path and gain -> model -> mean absolute error of the joints, rad."""


@dataclass(frozen=True, kw_only=True)
class ArmRuns:
    """An arm on all paths.

    Attributes:
        as_benched: of simulations beside a true arm whose joints are the servos of the bench.
        errors: beside the true arms, mean over SPECIMENS.
        true: the run of fig. 1 of the first of them.
        simulated: by model, the simulated ones.
    """

    as_benched: ArmErrors
    errors: ArmErrors
    true: ArmTrack
    simulated: Mapping[str, ArmTrack]


def arm_runs(
    arm: TwoLinkArm,
    truths: tuple[TrueServo, TrueServo],
    fits: Sequence[Repeats],
    paths: Sequence[str] = tuple(PATHS),
) -> ArmRuns:
    """Move an arm along paths, with low gains and high ones.

    Args:
        arm: of two links.
        truths: its true servos.
        found: what was identified of each on pendulum benches.
        paths: names in `arms.PATHS`; that of fig. 1 among them.
    """
    best = [best_repeats(repeats) for repeats in fits]
    models = {model: [repeat[model].servo for repeat in best] for model in FRICTION_MODELS}
    gains = (("LG", arm.low_gain), ("HG", arm.high_gain))
    jobs = [(path, gain, kp) for path in paths for gain, kp in gains]

    def work(job: tuple[str, str, float]) -> tuple[list[ArmTrack], dict[str, ArmTrack]]:
        path, _, kp = job
        true = [true_track(arm, truths, path, kp, friction=factors) for factors in (*SPECIMENS, (1.0, 1.0))]
        return true, _simulated(arm, models, path, kp)

    with ThreadPoolExecutor(available_processors()) as pool:
        runs = {(path, gain): run for (path, gain, _), run in zip(jobs, pool.map(work, jobs), strict=True)}
    (true, *_), simulated = runs[FIGURE_1]
    return ArmRuns(
        as_benched={key: _errors(of_models, arms[-1:]) for key, (arms, of_models) in runs.items()},
        errors={key: _errors(of_models, arms[:-1]) for key, (arms, of_models) in runs.items()},
        true=true,
        simulated=simulated,
    )


def _errors(simulated: Mapping[str, ArmTrack], true: Sequence[ArmTrack]) -> dict[str, float]:
    """Return by model the mean error beside true arms, rad."""
    return {model: fmean(_distance(one, other) for other in true) for model, one in simulated.items()}


def _distance(one: ArmTrack, other: ArmTrack) -> float:
    return float(np.abs(one.position - other.position).mean())


def _simulated(
    arm: TwoLinkArm, models: Mapping[str, Sequence[ServoModel]], path: str, kp: float
) -> dict[str, ArmTrack]:
    return {model: track(arm, servos, path, kp) for model, servos in models.items()}


def arm_claims(arm: TwoLinkArm, best: str, errors: ArmErrors, *, differ: bool = False) -> Iterator[Claim]:
    """Section VI-B and fig. 7.

    Args:
        arm: that moved.
        best: the model that the paper finds best, m4 or m6.
        errors: what was found.
        differ: the arms' joints differ from the servos of the bench.
    """
    of_runs = {model: np.array([error[model] for error in errors.values()]) for model in FRICTION_MODELS}
    chosen_after = _CHOSEN if differ else ""
    case = f"{arm.name}, {DIFFER_WORDS}" if differ else arm.name
    words = "outperforms the others" if best == "m4" else "is the most accurate"
    yield statement(
        f"VI-B, {case}: {best.upper()} {words}",
        of_runs,
        best_of_all(best),
        "synthetic",
        "it is better than each of the others over paths and gains, which are the runs",
        _WHY_ANOTHER[best],
        chosen_after,
    )
    if best == "m4":
        yield statement(
            f"VI-B, {case}: M5 does not improve on M4",
            of_runs,
            (Relation(model="m4", than="m1"), Relation(model="m5", than="m4", denied=True)),
            "synthetic",
            "M5 is no better than M4 over paths and gains, which are the runs, and M4 is better than M1, for"
            " where all models are alike, none improves on another",
            _WHY_ANOTHER[best],
            chosen_after,
        )
    yield _ratio_claim(case, best, errors, chosen_after)


def _ratio_claim(case: str, best: str, errors: ArmErrors, chosen_after: str) -> Claim:
    """Section VI-B: over twice as low, of the Dynamixel arm in every configuration."""
    mean = {model: fmean(error[model] for error in errors.values()) for model in ("m1", best)}
    ratios = [of_model["m1"] / of_model[best] for of_model in errors.values()]
    words, ours = (
        ("smallest over paths and gains", min(ratios))
        if best == "m4"
        else ("of the means over paths and gains", mean["m1"] / mean[best])
    )
    holds = _TWICE < ours < _THRICE
    return Claim(
        claim=f"VI-B, fig. 7, {case}: MAE of M1 over that of {best.upper()}, {words}",
        paper="over twice",
        ours=ours,
        unit=f"single ones {min(ratios):.2f} to {max(ratios):.2f}",
        holds=holds,
        kind="synthetic",
        threshold_reason=f"between {_TWICE:g} and {_THRICE:g}: the paper's words, which would be 'over three"
        " times' beyond; of the Dynamixel arm it says so of every path and gain, of the other one as a whole",
        chosen_after=chosen_after,
        reason="" if holds else _WHY_RATIO if not chosen_after else _WHY_DIFFER,
    )


_WHY_ANOTHER = {
    "m4": "the true servos have M6 as published, to which M5 and M6 come nearer on the bench as well",
    "m6": "the true servos' own parameters of M6 are no better than those that were identified (checked once,"
    " on joints with the friction of the bench). What servos have beyond M6 (bristles, direction, ripple,"
    " late goals) counts, and M3 and M5 balance it",
}
_CHOSEN = (
    "that joints of the arms differ from servos of the bench was decided when ratios without it had been seen"
)
_WHY_RATIO = (
    "joints of a real arm differ from servos on the bench, which is in the errors of both models and brings"
    f" their ratio nearer to 1: rows with {DIFFER_WORDS}"
)
_WHY_DIFFER = (
    "what joints and servos of the bench differ by is in the errors of both models: rows without that"
)
