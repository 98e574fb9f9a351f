# SPDX-License-Identifier: Apache-2.0
"""What the errors of a fit, log by log, warn of: the same sentences in a terminal and on a page."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping

UNEXPLAINED = ("unknown", "load_header", "gain_header")
"""Kinds of misfit with which logs that are followed far worse than others may have a wrong header."""

FEWEST_LOGS = 4
"""Logs of which an interval of their mean is given. Over three it reaches 2.5 standard deviations to either
side and hides what the errors are; over four 1.6."""

_APART = 2.0  # times; errors of the test, or of selection, that differ more from those in training are told
_WORSE = 5.0  # times the median error; 2 to 3 between scripts and gains
_LEAST_OFF = 0.01  # rad; smaller errors need no explanation
_NAMED = 3  # logs that a line names
_HARDEST = 2  # of them, where it is the hardest that are named


def restart_words(restart: float) -> str:
    """Say what errors of runs in open loop are of, whose simulations restart every so many s."""
    return f"in open loop, restarted from measured states every {restart:g} s"


def not_converged(*, spent: bool) -> str:
    """Say what it means that a search did not converge.

    Args:
        spent: its trials were; else its descents do not agree, and more of them would not have been made.
    """
    if spent:
        return (
            "trials were spent before the search converged, so errors and choice may change; give more "
            "--trials, or see with --seeds 3 by how much"
        )
    return (
        "the search ended with trials left, but its descents do not agree on the lowest error, so errors and "
        "choice may change; see with --seeds 3 by how much"
    )


def far_from_training(
    error: float, training: Mapping[str, float], test: float, selection: float = math.nan
) -> str:
    """Say that a test is far worse or far better than training; empty where it is neither.

    Args:
        error: mean over training logs, rad.
        training: error of each of them by its name, rad; empty where that is not told.
        test: mean error of the test logs, rad; NaN without such.
        selection: in selection, rad, which is told instead where it is the worse by far; NaN where there is
            none.
    """
    is_test = math.isfinite(test)
    who, other = ("test logs", test) if is_test else ("logs left out in selection", selection)
    if other > _APART * error:
        return (
            f"{who} are followed {_times(other, error)} times worse than training logs: the model may not "
            "carry over to their configuration"
        )
    if not is_test or _APART * test > error:
        return ""
    return (
        f"test logs are followed {_times(error, test)} times better than training logs: they lack what makes "
        f"others hard, so expect errors as in training{_hardest(training)}"
    )


def outliers(errors: Mapping[str, float], training: Mapping[str, float], *, explained: bool) -> str:
    """Say which logs a model follows far worse than the others; empty where there are none.

    Args:
        errors: of each log by its name, rad.
        training: those of training logs.
        explained: it is known what else explains them.
    """
    median = statistics.median(errors.values()) if errors else math.nan
    far = {name: each for name, each in errors.items() if each > max(_WORSE * median, _LEAST_OFF)}
    if not far:
        return ""
    one = len(far) == 1
    rest = f" and {len(far) - _NAMED} more" if len(far) > _NAMED else ""
    told = ", ".join(list(far)[:_NAMED]) + rest
    told += (
        f": followed {'' if one else 'up to '}{max(far.values()) / max(median, 1e-9):.0f} times worse than "
    )
    told += "the median log"
    if share := sum(far[name] for name in far if name in training):
        told += f", {share / sum(training.values()):.0%} of the training error"
    if explained:
        return told
    return (
        f"{told}; watch {'it' if one else 'them'} (bam view): a wrong mass, length, kp or supply in "
        f"{'its header' if one else 'their headers'} leads to that, and so does an arm that nearly sticks"
    )


def _hardest(training: Mapping[str, float]) -> str:
    if not training:
        return ""
    total = max(sum(training.values()), 1e-9)
    worst = sorted(training, key=lambda name: training[name], reverse=True)[:_HARDEST]
    named = " and ".join(f"{name} ({training[name] / total:.0%})" for name in worst)
    return f"; the largest shares of the training error are those of {named}"


def _times(larger: float, smaller: float) -> str:
    return f"{larger / max(smaller, 1e-9):.1f}"
