# SPDX-License-Identifier: Apache-2.0
"""Which training logs a choice among models and effects is made by: each left out in turn, none of the test.

Whoever identifies a servo wants to know how it moves at another gain and under another load. So a fold
leaves out all logs of a gain, or all of a load, and not logs at random: of those, others like them stay in
training. Two others must stay, for the effect of gains is unobservable at one gain: of an XL330 at kp 100
and 200, fits to one of them follow the other so badly that models hardly differ. With fewer gains and
loads a fold leaves out a pair of both, or where there are not three of these either, a script.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bam_core.identification.data.split import Split, leave_one_out
from bam_core.recordings.recording import Recording

MOST = 4
"""Folds per kind of configuration. More values than that are left out several at a time, neighbours
together: each fold costs fits of every model."""

FEWEST_FOLDS = 3
"""Values of a kind that is left out, such as gains."""

_LEAST_LEFT = 0.5  # of the training logs that a fold must leave to fit to,
_LEAST_LOGS = 2  # and how many in any case


def selection_folds(train: Sequence[Recording], key: str | None = None) -> list[Split]:
    """Return the folds of selection: each has some logs to fit to and, as its test, the ones left out.

    By default there is a fold per gain and one per load (mass, arm and length), MOST of each at most; where
    there are fewer than three of either, a fold per pair of both, or else per script. A fold that would leave
    too little to fit to is not made: fewer than half of the logs, or none whose torque goes off where some
    do, for they alone separate friction from back-EMF.

    Args:
        train: the training logs.
        key: of `split.FOLD_KEYS`, to leave out each of its values instead.

    Returns:
        Folds, none where logs do not suffice; rules name what is left out, as "kp=8".

    Raises:
        BamError: the key is unknown, or all logs have the same value of it.
    """
    if key is not None:
        return leave_one_out(train, key)
    ordered = sorted(train, key=lambda log: (log.name, log.sha256))
    folds = _folds(ordered, _gain) + _folds(ordered, _load)
    return folds or _folds(ordered, _pair) or _folds(ordered, _script)


def _gain(log: Recording) -> tuple[float, str]:
    return float(f"{log.kp:.6g}"), f"kp={log.kp:g}"


def _load(log: Recording) -> tuple[float, str]:
    """Return the load by its torque of gravity: neighbours are alike."""
    return float(f"{log.bench.gravity_torque:.6g}"), log.bench.words


def _pair(log: Recording) -> tuple[float, str]:
    (kp, gain), (torque, load) = _gain(log), _load(log)
    return kp * torque, f"{gain} with {load}"


def _script(log: Recording) -> tuple[float, str]:
    return 0.0, f"script={log.script}"


def _folds(logs: Sequence[Recording], of: Callable[[Recording], tuple[float, str]]) -> list[Split]:
    """Return the folds by what `of` returns for a log: a value to sort by, and its name."""
    values = sorted({of(log) for log in logs})
    count = min(len(values), MOST)
    folds = []
    for i in range(count) if count >= FEWEST_FOLDS else ():
        gone = values[i * len(values) // count : (i + 1) * len(values) // count]
        left = tuple(log for log in logs if of(log) not in gone)
        out = tuple(log for log in logs if of(log) in gone)
        if _suffices(left, logs):
            folds.append(Split(train=left, test=out, rule=", ".join(name for _, name in gone)))
    return folds


def _suffices(left: Sequence[Recording], logs: Sequence[Recording]) -> bool:
    enough = len(left) >= max(_LEAST_LEFT * len(logs), _LEAST_LOGS)
    driven = any(log.torque_enabled.any() for log in left)
    return enough and driven and (_released(left) or not _released(logs))


def _released(logs: Sequence[Recording]) -> bool:
    return any(not log.torque_enabled.all() for log in logs)
