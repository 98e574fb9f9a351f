# SPDX-License-Identifier: Apache-2.0
"""The verdict on a servo file in words: may it be used, for what, and how far off will it be."""

from __future__ import annotations

from bam_core.text.error_findings import FEWEST_LOGS

VERDICTS = {"green": "usable", "yellow": "usable with care", "red": "not usable"}
"""Kind of a verdict -> the word that stands beside the colour."""

GREEN_SHARE = 0.05
"""Largest test error of a green verdict, as a share of the motion. Repeated runs of one STS3215 differ by
2 %; M6 is off by 2 % on test logs of an STS3215 and by 4 % on those of an XL330."""

RED_SHARE = 0.2
"""Share above which a verdict is red. M1 is off by 25 % at a gain of an XL330 that it was not fitted to; an
arm that stays at its mean position is off by 100 %."""

WORSE_RUN = 5.0
"""Error of a single run, as a multiple of the test error, from which it is a reservation. The worst of an
XL330's runs has 1.9 times its test error; one run of an STS3215 that its model does not follow has 15."""

LEAST_HELD = 0.8
"""Least share of a test run's samples in its 90 % band without a reservation."""

RULE = (
    f"Red: failed search, no parameter identifiable, or test error above {100 * RED_SHARE:.0f} % of the "
    f"motion. Green: at most {100 * GREEN_SHARE:.0f} %, or at the noise floor, and no reservation. "
    "Yellow: all else."
)
"""How the verdict follows from the findings, in one line."""


def rule_of_robots(within: float, most: float) -> str:
    """Return how the verdict on a robot's servos follows, in one line.

    Args:
        within: standard deviations of their prior within which all parameters must be.
        most: beyond which a motor constant makes the verdict red.
    """
    return (
        f"Red: test error above {100 * RED_SHARE:.0f} % of the motion, or torque constant, resistance or "
        f"their ratio more than {most:g} standard deviations outside its prior. Green: at most "
        f"{100 * GREEN_SHARE:.0f} %, all parameters within {within:g}, and no other reservation. "
        "Yellow: all else."
    )


def headline(kind: str) -> str:
    """Return the colour with its word."""
    return f"{kind.upper()}, {VERDICTS[kind]}"


def verdict_words(
    kind: str, file: str, error: float | None, share: float | None, new: tuple[str, ...], reason: str
) -> str:
    """Return the verdict in at most 25 words, with the first reservation of a yellow one.

    Args:
        kind: of VERDICTS.
        file: of the servo.
        error: of the test, rad; None without a test.
        share: of the motion that it is; None where that is unknown.
        new: conditions of the test that no training log has, such as "kp".
        reason: the first reservation, in at most eight words; empty of a green verdict.
    """
    if kind == "red":
        return f"Do not use {file}: {reason}."
    if error is None:
        return f"Use {file} with care: {reason}, so errors on other motions are unknown."
    where = f"also at new {', '.join(new)}" if new else "at recorded gains and loads"
    off = f"expect position errors of {1e3 * error:.1f} mrad"
    if kind == "green":
        of_motion = "" if share is None else f", {100 * share:.2g} % of the motion"
        return f"Use {file} for simulations {where}: {off}{of_motion}."
    return f"Use {file} with care {where}: {off}. Reservation: {reason}."


def reason_words(
    kind: str, *, share: float = 0.0, logs: int = 0, count: int = 1, factor: float = 0.0, held: float = 0.0
) -> str:
    """Return a reservation in at most eight words.

    Args:
        kind: of `identification.verdict.REASONS` or `robot.verdict.REASONS`.
        share: test error as a share of the motion.
        logs: number of test logs.
        count: number of parameters that it is about.
        factor: error of the worst run, as a multiple of the test error.
        held: least share of samples of a test run in its 90 % band.
    """
    return {
        "failed_search": "its fit is no better than no model",
        "error_above_motion": f"errors are {_beyond(share, RED_SHARE)} of the motion",
        "unidentifiable": "these logs determine none of its parameters",
        "no_test": "no log was kept for a test",
        "interrupted": "the identification was interrupted",
        "not_converged": "the search did not converge",
        "large_error": f"that is {_beyond(share, GREEN_SHARE)} of the motion",
        "few_tests": f"the test needs {FEWEST_LOGS} logs, has {logs}",
        "no_other_condition": "the test only repeats training runs",
        "open_misfit": "one cause of misfit is not fitted",
        "at_bound": (
            "one parameter ends at its search limit"
            if count == 1
            else f"{count} parameters end at their search limits"
        ),
        "worse_run": f"one run is {factor:.0f} times worse",
        "worse_than_given": "the servos given follow test runs better",
        "motor_outside_prior": "motor constants are far outside their prior",
        "outside_prior": (
            "one parameter ends far outside its prior"
            if count == 1
            else f"{count} parameters end far outside their priors"
        ),
        "narrow_bands": f"90 % bands hold only {100 * held:.0f} %",
    }[kind]


def _beyond(share: float, limit: float) -> str:
    """Return a share above a limit in percent, so that it does not read as the limit itself."""
    digits = 1 if share < 0.1 else 0
    text = f"{100 * share:.{digits}f}"
    return f"above {100 * limit:.0f} %" if float(text) == 100 * limit else f"{text} %"
