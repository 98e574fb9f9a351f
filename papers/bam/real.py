# SPDX-License-Identifier: Apache-2.0
"""BAM section VI-A and fig. 5 on recordings of real servos: an XL330 and an STS3215."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean

import numpy as np

from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import load_servo
from papers.bam.benches import sts3215_division, xl330_divisions
from papers.bam.causes import REAL, Causes
from papers.bam.claims import FACTORS, dynamixel_claims, factor_claim, repeat_claims
from papers.bam.fits import (
    REPEATS,
    TRIALS,
    Repeat,
    Repeats,
    best_repeats,
    error_table,
    identify_repeatedly,
    training_rows,
)
from papers.bam.measured import MotionPoints, growth_claim, motion_points
from papers.bam.profile import AUTHORS_TRAINING, profile_claim
from papers.bam.relations import Errors, RepeatedErrors, means
from papers.claim import Claim
from papers.redone import Exhibit, Task

EFFECTS = ("zero_offset",)
"""What is fitted besides motor and friction: the encoder's zero, as in the program of BAM's authors."""

SATURATED = (*EFFECTS, "torque_saturation")
"""Likewise, with a motor whose torque grows less than its current, which no program of the authors fits."""

_DYNAMIXEL = (FACTORS["mx106"], FACTORS["mx64"])


@dataclass(frozen=True, kw_only=True, eq=False)
class RealServo:
    """What was found about a servo from its recordings.

    Attributes:
        name: in the library.
        title: with what the errors are of.
        train: mean absolute error of training logs by model, rad.
        test: likewise of each log that took no part, (logs,).
        tested: as `test`, of each repeat; of the XL330 the first division alone is repeated.
        repeats: of one division, three each.
        motion: torques in slow motion.
        saturated: as `test`, with torque_saturation fitted as well; empty where it was not looked for.
    """

    name: str
    title: str
    train: dict[str, float]
    test: Errors
    tested: RepeatedErrors
    repeats: Repeats
    motion: MotionPoints
    saturated: Errors = field(default_factory=dict)


def xl330_found(task: Task, *, trials: int = TRIALS) -> RealServo | None:
    """Identify the XL330 on four divisions, on the first one three times; None without recordings.

    Args:
        task: tells where recordings are.
        trials: per model.
    """
    folder = task.recordings("xl330")
    if folder is None:
        return None
    servo = load_servo("xl330")
    fitted: list[Repeats] = []
    saturated: list[Repeats] = []
    for number, (train, test) in enumerate(xl330_divisions(folder)):
        for effects, kept, repeats in (
            (EFFECTS, fitted, 1 if number else REPEATS),
            (SATURATED, saturated, 1),
        ):
            kept.append(
                identify_repeatedly(
                    servo, train, test, effects=effects, repeats=repeats, trials=trials, say=task.say
                )
            )
    best = [best_repeats(repeats_of) for repeats_of in fitted]
    return RealServo(
        name="xl330",
        title="XL330 (each of 12 logs tested once)",
        train={model: fmean(repeat[model].train for repeat in best) for model in FRICTION_MODELS},
        test=_tested(best),
        tested=_repeated(fitted),
        repeats=fitted[0],
        motion=motion_points(best[0]["m1"], [*train, *test]),
        saturated=_tested([best_repeats(repeats_of) for repeats_of in saturated]),
    )


def _tested(divisions: Sequence[Mapping[str, Repeat]]) -> Errors:
    """Return by model the errors of the test logs of all divisions, (logs,) rad."""
    return {
        model: np.concatenate([division[model].tested for division in divisions]) for model in FRICTION_MODELS
    }


def _repeated(divisions: Sequence[Repeats]) -> RepeatedErrors:
    """Return by model the errors of the test logs of all divisions, (repeats of the first, logs) rad."""
    count = len(divisions[0]["m1"])
    return {
        model: np.array(
            [
                np.concatenate(
                    [division[model][number % len(division[model])].tested for division in divisions]
                )
                for number in range(count)
            ]
        )
        for model in FRICTION_MODELS
    }


def sts3215_found(task: Task, *, trials: int = TRIALS) -> RealServo | None:
    """Identify the STS3215 three times; None without recordings. Arguments as of `xl330_found`."""
    folder = task.recordings("sts3215")
    if folder is None:
        return None
    train, test = sts3215_division(folder)
    servo = load_servo("sts3215")
    repeats = identify_repeatedly(servo, train, test, effects=EFFECTS, trials=trials, say=task.say)
    best = best_repeats(repeats)
    return RealServo(
        name="sts3215",
        title=f"STS3215 ({len(test)} logs tested)",
        train={model: best[model].train for model in FRICTION_MODELS},
        test=_tested([best]),
        tested=_repeated([repeats]),
        repeats=repeats,
        motion=motion_points(best["m1"], [*train, *test]),
    )


def real_claims(real: RealServo) -> Iterator[Claim]:
    """Sections VI-A and V-B, and errors of the authors' program, held against a real servo."""
    label, causes = f"real {real.name.upper()}", REAL[real.name]
    stands_in = causes.stands_in if real.saturated and _best(real.test) != _best(real.saturated) else ""
    yield factor_claim(label, real.test, real.tested, _DYNAMIXEL, "real", causes, stands_in)
    yield from dynamixel_claims(label, real.test, "real", causes.statements)
    if real.saturated:
        fuller = f"{label}, torque_saturation fitted too"
        yield factor_claim(
            fuller,
            real.saturated,
            {model: errors[None] for model, errors in real.saturated.items()},
            _DYNAMIXEL,
            "real",
            Causes(factor=causes.saturated),
        )
        yield from dynamixel_claims(fuller, real.saturated, "real", causes.saturated)
    yield from repeat_claims(label, real.repeats, "real", scores=causes.scores, parameters=causes.parameters)
    yield growth_claim(label, real.motion)
    authors = dict(zip(FRICTION_MODELS, AUTHORS_TRAINING[real.name], strict=True))
    yield profile_claim(f"{label}, training", real.train, authors, causes.profile)


def _best(errors: Errors) -> str:
    mae = means(errors)
    return min(mae, key=lambda model: mae[model])


_SOURCES = {
    "xl330": "no recordings given (--data DIR with a folder xl330): twelve JSON logs of BAM's authors,"
    " github.com/Rhoban/bam, bam/data.bak/raw",
    "sts3215": "no recordings given (--data DIR with a folder sts3215): JSON logs of 2025-03-17,"
    " github.com/kscalelabs/sysid",
}
_REMARKS = {
    "xl330": "12 logs of 6 s, one load, three gains; another servo than the paper's; four divisions, so that"
    " each log is tested once, the first one identified three times; once more with torque_saturation"
    " fitted, which is not drawn",
    "sts3215": "another maker's servo; of 350 logs those of the paper's four trajectories, first repetitions,"
    " two of every five conditions to train and one to test: fewer logs than the paper's 100, so that three"
    " repeats take minutes; arm masses, supply and gain curve as those who recorded found them",
}
_MOTION_REMARK = (
    "read from slow motion of the same logs instead of being felt by hand: duty and supply give the motor's"
    " torque, the angle gives the load's"
)


def real_exhibits(name: str, real: RealServo | None) -> tuple[Exhibit, Exhibit]:
    """Return what of figs. 3 and 5 a real servo shows; None: there are no recordings of it."""
    title, redone = name.upper(), real is not None
    return (
        Exhibit(
            name=f"fig. 3, {title}",
            subject=f"motor torque and load of a real {title} that raises and lowers its load",
            redone=redone,
            remark=_MOTION_REMARK if redone else _SOURCES[name],
            pictures=(f"fig3_{name}.png",) if redone else (),
        ),
        Exhibit(
            name=f"fig. 5 and section V-B, {title}",
            subject=f"test MAE of M1 to M6 of a real {title}, identified three times",
            redone=redone,
            remark=_REMARKS[name] if redone else _SOURCES[name],
            pictures=(f"fig5_{name}.png",) if redone else (),
            table=error_table(_error_rows(real)) if real is not None else (),
        ),
    )


def _error_rows(real: RealServo) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Yield errors of training, of each repeat, and of tests, by name, rad."""
    several = len(real.tested["m1"][0]) > len(real.repeats["m1"][0].tested)
    yield from training_rows("first division" if several else "one division", real.repeats)
    if several:
        yield "all divisions, training", real.train
    authors = (1e-3 * error for error in AUTHORS_TRAINING[real.name])
    yield "authors' program, training", dict(zip(FRICTION_MODELS, authors, strict=True))
    yield "test, best repeats in training", means(real.test)
    if real.saturated:
        yield "test, torque_saturation fitted too", means(real.saturated)
