# SPDX-License-Identifier: Apache-2.0
"""Egle's section 6.2.2: straight ahead, hip rolls are too slow for some of their parameters to be found.

Whether a parameter can be told is asked of its standard error: the same steps are measured again and again
with other noise. Samples of one measurement do not tell it, for filters make neighbours alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from bam_core.arrays import Array
from bam_core.whole_body import JointLog, estimate_filtered, single_support
from papers.claim import UNCERTAIN, Claim, claim
from papers.egle.common import Say
from papers.egle.sensors import Sensors
from papers.egle.tables import BETWEEN_LEGS, BOTH, STRAIGHT, SYMBOLS, TARGETS
from papers.egle.walks import AHEAD, SHORT_STEP, Walks, leg_swings, legs_fits, their_speed

ROLLS = ("right_hip_roll", "left_hip_roll")

LOST = slice(0, 3)
"""F_v, F_c, S: what the thesis cannot estimate of hip rolls, for only speeds beyond the Stribeck part tell
them apart."""

REPEATS = 6
"""Measurements of the same steps; a standard deviation is then known to a third of itself."""

FIRST_SEED = 6100
"""Of their noise. The length of the steps, the number of measurements and all limits were chosen when seeds
from 0 on had been seen; from here on none had been. The steps are the same, so that claims stay marked."""

_CHOSEN = (
    "the length of the steps, and with it how fast hip rolls are, was chosen when six other measurements of"
    " them had been seen; other noise does not undo that"
)

LEAST_LOST = float(np.min([STRAIGHT[joint][LOST] for joint in ROLLS]))
"""%, the smallest error of a parameter of which the thesis says that it is not possible to estimate."""

_DRAWS = 5000
_NOISE = "the rest is what encoder steps and torque noise leave after the filters that they take"


@dataclass(frozen=True, kw_only=True)
class Rolls:
    """Parameters of the hip rolls, short steps ahead.

    Attributes:
        noisy: by joint, of each measurement, (repeats, 6) SI.
        clean: by joint, from clean signals, (6,) SI.
        speed: highest of their swings, rad/s.
    """

    noisy: Mapping[str, Array]
    clean: Mapping[str, Array]
    speed: float

    @classmethod
    def make(cls, walks: Walks, say: Say) -> Rolls:
        """Measure the short steps and fit both joints, again and again."""
        noisy: dict[str, list[Array]] = {joint: [] for joint in ROLLS}
        for number in range(REPEATS):
            say(f"table 6.1, short steps, measurement {number + 1} of {REPEATS}")
            fitted = _fitted(walks, Sensors().measure(walks.short.log, seed=FIRST_SEED + number))
            for joint in ROLLS:
                noisy[joint].append(fitted[joint])
        swings = leg_swings(walks.short)
        velocity = walks.short.velocity
        return cls(
            noisy={joint: np.array(rows) for joint, rows in noisy.items()},
            clean=_fitted(walks, walks.short.log),
            speed=max(
                float(np.abs(velocity[swings[joint], walks.short.log.names.index(joint)]).max())
                for joint in ROLLS
            ),
        )

    def error(self, joint: str) -> Array:
        """Return how far parameters are from their targets, mean over the measurements, (6,) %."""
        return _share(np.abs(self.noisy[joint] - TARGETS[joint].values), joint).mean(axis=0)

    def standard_error(self, joint: str) -> Array:
        """Return the standard deviation over the measurements, share of the target, (6,) %."""
        return _share(self.noisy[joint].std(axis=0, ddof=1), joint)

    @property
    def lost(self) -> Array:
        """Mean error of what the thesis cannot estimate, of both joints, by measurement, (repeats,) %."""
        errors = [
            _share(np.abs(self.noisy[joint] - TARGETS[joint].values), joint)[:, LOST] for joint in ROLLS
        ]
        return np.asarray(np.mean(errors, axis=(0, 2)))


def _share(values: Array, joint: str) -> Array:
    return np.asarray(100.0 * values / np.abs(TARGETS[joint].values))


def _fitted(walks: Walks, log: JointLog) -> dict[str, Array]:
    """Return parameters of both hip rolls, (6,) SI."""
    swings = leg_swings(walks.short)
    log = log.arranged(walks.robot)
    estimate = estimate_filtered(walks.robot, log, single_support(log), swings).estimate
    fits = legs_fits(estimate, {joint: swings[joint] for joint in ROLLS})
    return {joint: fit.friction.values for joint, fit in fits.items()}


def roll_claims(rolls: Rolls) -> list[Claim]:
    """Return what table 6.1 shows of each parameter of the hip rolls."""
    clean = {joint: _share(np.abs(rolls.clean[joint] - TARGETS[joint].values), joint) for joint in ROLLS}
    lost = range(len(SYMBOLS))[LOST]
    return [
        (_lost_claim if index in lost else _found_claim)(rolls, clean, index) for index in range(len(SYMBOLS))
    ]


def _lost_claim(rolls: Rolls, clean: Mapping[str, Array], index: int) -> Claim:
    """A parameter that the thesis cannot estimate."""
    symbol = SYMBOLS[index]
    errors, sigmas = _columns(rolls, index)
    known = fmean(BOTH[joint][index] for joint in ROLLS)
    exact = [float(clean[joint][index]) for joint in ROLLS]
    return claim(
        "synthetic",
        "section 6.2.2, table 6.1, sensors, hip rolls right and left, steps ahead: standard error of"
        f" {symbol} (mean error: {_figures(errors)} %)",
        f"not possible to estimate: off by {_printed(index)} %",
        _figures(sigmas),
        min(sigmas) >= LEAST_LOST and max(exact) < known,
        f"both standard errors are at least {LEAST_LOST:g} %, the smallest error with which the thesis calls"
        f" a parameter not possible to estimate (F_c, left). They are over {REPEATS} measurements of the same"
        " steps with other noise; an estimator that always returns 0 has a standard error of 0. And the"
        f" parameter is found without noise: both errors from clean signals, {_figures(exact)} %, are below"
        f" {known:.3g} %, the thesis' error in table 6.2; an estimator that returns random values fails here."
        " Contradicted where, with noise, errors and standard errors are below that as well",
        "%",
        contradicts=max(*sigmas, *errors) < known,
        chosen_after=_CHOSEN,
        reason=f"from clean signals the error is {_figures(exact)} %; hip"
        f" rolls reach {rolls.speed:.2f} rad/s, those of the thesis {_their_speeds()}. Noise moves it less"
        " than the thesis' disturbances do. Tried were encoder steps and torque noise of 0.1 N·m; the"
        " contacts of OpenHRP, which disturb the thesis' signals, are not simulated here, and it tells no"
        " size of them",
    )


def _found_claim(rolls: Rolls, clean: Mapping[str, Array], index: int) -> Claim:
    """A parameter that the thesis finds."""
    theirs = [STRAIGHT[joint][index] for joint in ROLLS]
    errors, sigmas = _columns(rolls, index)
    return claim(
        "synthetic",
        f"table 6.1, sensors, hip rolls right and left, steps ahead, error of {SYMBOLS[index]} (standard"
        f" error: {_figures(sigmas)} %)",
        _printed(index),
        _figures(errors),
        sum(errors) <= BETWEEN_LEGS * sum(theirs),
        f"mean of both within three times the thesis', {BETWEEN_LEGS * fmean(theirs):.3g} %, as errors in"
        " either leg of table 6.2 differ by that",
        "%",
        chosen_after=_CHOSEN,
        reason=f"from clean signals {_figures([clean[joint][index] for joint in ROLLS])} %; {_NOISE}",
    )


def _columns(rolls: Rolls, index: int) -> tuple[list[float], list[float]]:
    """Return errors and standard errors of a parameter, right and left, %."""
    errors = [float(rolls.error(joint)[index]) for joint in ROLLS]
    return errors, [float(rolls.standard_error(joint)[index]) for joint in ROLLS]


def falls_claim(rolls: Rolls, both: Mapping[str, Array]) -> Claim:
    """Longer steps, and steps sideways, tell of hip rolls what short steps ahead do not.

    Args:
        rolls: short steps ahead.
        both: errors of all steps of table 6.2, by joint, (6,) %.
    """
    after = float(np.mean([both[joint][LOST] for joint in ROLLS]))
    before, then = (float(np.mean([table[joint][LOST] for joint in ROLLS])) for table in (STRAIGHT, BOTH))
    ahead, theirs = float(rolls.lost.mean()), before / then
    low, high = (end / after for end in _interval(rolls.lost))
    least = theirs / BETWEEN_LEGS
    return claim(
        "synthetic",
        "tables 6.1 and 6.2, sensors, hip rolls, by how much the mean error of F_v, F_c, S falls",
        theirs,
        ahead / after,
        low > least,
        f"'significantly reduced': all of the interval above {least:.3g}, the thesis' factor, less the three"
        " by which errors differ between legs. The interval is from measurements drawn anew",
        f"95 % interval {low:.3g} to {high:.3g}",
        contradicts=high < 1.0,
        undecided=high > least,
        chosen_after=_CHOSEN,
        reason=(f"{UNCERTAIN}; " if high > least else "")
        + f"straight ahead it is {ahead:.0f} %, in the thesis {before:.0f} %; in the end {after:.0f} %, in"
        f" the thesis {then:.0f} %",
    )


def _interval(values: Array) -> tuple[float, float]:
    """Return the 95 % interval of a mean, from values drawn anew."""
    drawn = np.random.default_rng(0).choice(values, (_DRAWS, len(values))).mean(axis=1)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def _printed(index: int) -> str:
    return ", ".join(f"{STRAIGHT[joint][index]:g}" for joint in ROLLS)


def _figures(errors: list[float]) -> str:
    return ", ".join(f"{error:.3g}" for error in errors)


def _their_speeds() -> str:
    return ", ".join(f"{their_speed(joint):.2f}" for joint in ROLLS)


def steps_words() -> str:
    """Return which steps table 6.1 is redone with."""
    return (
        f"hip rolls from {AHEAD} steps of {SHORT_STEP:g} m, for the thesis lengthens steps to 0.3 m for table"
        f" 6.2; their length is such that hip rolls reach about what the thesis' own parameters of them tell,"
        f" {_their_speeds()} rad/s, right and left. This, and that a standard error over {REPEATS}"
        " measurements decides, was chosen when other measurements had been seen, so that these claims are"
        " marked; their own measurements have noise that was drawn after that"
    )
