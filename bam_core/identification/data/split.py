# SPDX-License-Identifier: Apache-2.0
"""Which logs a model is fitted to, and which are kept for the test: those that no decision sees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from bam_core.errors import BadData, Conflict, OutOfRange, UnknownName, WrongType, WrongValue
from bam_core.recordings.recording import Recording
from bam_core.recordings.run_identity import RunIdentities, run_order
from bam_core.text.quantity import LENGTH, MASS, NO_UNIT, SHARE, VOLTAGE, Units, quantity

DEFAULT_RULE = "fraction=0.25"
"""BAM holds out a random quarter of the logs."""

ENOUGH = 8
"""Logs from which that is the default: of fewer, a quarter is a single log, which shows next to nothing of
others and is missed in training."""

NO_TEST = "none"
"""The rule of those who train on all logs."""

_NUMERIC: Mapping[str, Callable[[Recording], float]] = MappingProxyType(
    {
        "kp": lambda recording: recording.kp,
        "mass": lambda recording: recording.bench.mass,
        "arm_mass": lambda recording: recording.bench.arm_mass,
        "length": lambda recording: recording.bench.length,
        "supply_voltage": lambda recording: recording.supply_voltage,
    }
)
_TEXT: Mapping[str, Callable[[Recording], str]] = MappingProxyType(
    {
        "script": lambda recording: recording.script,
        "servo": lambda recording: recording.servo,
        "name": lambda recording: recording.name,
        "unit": lambda recording: recording.unit,
        "session": lambda recording: recording.session,
    }
)
_UNITS = MappingProxyType({"mass": MASS, "arm_mass": MASS, "length": LENGTH, "supply_voltage": VOLTAGE})
RULE_KEYS = ("fraction", *_NUMERIC, *_TEXT)
"""What may stand before the "=" of a rule."""

LEAVE_ONE_OUT = "leave-one-out"
"""What stands before the "=" of the rule by which all logs are trained on and selection (see `folds`) leaves
every configuration out in turn."""

FOLD_KEYS = (*_NUMERIC, *_TEXT)
"""What may stand behind it."""


@dataclass(frozen=True, kw_only=True)
class Split:
    """Logs apart: none is on both sides, and neither side is empty unless the rule allows it.

    Attributes:
        train: logs that the parameters are fitted to.
        test: logs that neither the fit nor any decision sees; empty by the rules NO_TEST and LEAVE_ONE_OUT.
        rule: the rule of the split, as given.

    Raises:
        BamError: a side is empty, or a log is on both.
    """

    train: tuple[Recording, ...]
    test: tuple[Recording, ...]
    rule: str

    def __post_init__(self) -> None:
        without_test = self.rule == NO_TEST or left_out(self.rule) is not None
        for side, logs in (("to train on", self.train), ("to test with", self.test or without_test)):
            if not logs:
                raise BadData(
                    f"test {self.rule}",
                    f"leaves no log {side} (of {len(self.logs)} given)",
                    advice="give more logs or another rule",
                )
        shared = {log.sha256 for log in self.train} & {log.sha256 for log in self.test}
        if shared:
            twins = [log.name for log in self.logs if log.sha256 in shared]
            raise Conflict(
                f"test {self.rule}",
                f"the same data is in training and in the test ({', '.join(twins)})",
                advice="remove the copy",
            )

    @property
    def logs(self) -> tuple[Recording, ...]:
        """All of them, training first."""
        return (*self.train, *self.test)


def is_rule(text: str) -> bool:
    """Return whether a text is a rule such as "kp=400", not the path of a log."""
    return "=" in text and "/" not in text.split("=", 1)[0]


def split_recordings(
    recordings: Sequence[Recording], test: str | Sequence[Recording] | None = None, *, seed: int = 0
) -> Split:
    """Set logs apart for the test.

    Args:
        recordings: all logs; their order does not matter.
        test: "fraction=0.25" for a random share (the default from ENOUGH logs on), which leaves a run of
            every script and gain to train on where there are enough; "KEY=VALUE" for every log of one
            configuration with a key of RULE_KEYS; "none" (the default of fewer logs) or "leave-one-out=KEY"
            for no test set; or the test logs themselves, which are taken out of `recordings` where they are
            among them.
        seed: of the random share.

    Raises:
        BamError: the rule is not understood, or leaves nothing on one side; it names the values there are.
    """
    if not recordings:
        raise BadData(
            "logs",
            "none given",
            expected="at least two",
            advice="name files, bags or directories that hold them",
        )
    ordered = sorted(recordings, key=lambda log: (log.name, log.sha256))
    if test is None:
        test = DEFAULT_RULE if len(ordered) >= ENOUGH else NO_TEST
    if isinstance(test, str):
        rule = test
        without = rule == NO_TEST or left_out(rule) is not None
        if without and len(ordered) < 2:
            raise BadData(
                "logs",
                "one alone shows nothing of how a model carries over to others",
                expected="at least 2 logs, got 1",
                advice=f"give others besides {ordered[0].source}",
            )
        in_test = [False] * len(ordered) if without else _in_test(ordered, rule, seed)
        chosen = [log for log, out in zip(ordered, in_test, strict=True) if out]
    else:
        rule = "files"
        runs = RunIdentities(test)
        digests = {log.sha256 for log in test}
        in_test = [log.sha256 in digests or runs.same_run(log) is not None for log in ordered]
        chosen = sorted(test, key=lambda log: log.name)
    train = tuple(log for log, out in zip(ordered, in_test, strict=True) if not out)
    return Split(train=train, test=tuple(chosen), rule=rule)


def left_out(rule: object) -> str | None:
    """Return the key of a rule such as "leave-one-out=kp", and None for anything else."""
    if not isinstance(rule, str):
        return None
    name, separator, key = rule.partition("=")
    return key.strip() if separator and name.strip() == LEAVE_ONE_OUT else None


def leave_one_out(recordings: Sequence[Recording], key: str) -> list[Split]:
    """Set every configuration apart in turn.

    Args:
        recordings: all logs; their order does not matter.
        key: of FOLD_KEYS: what makes a configuration.

    Returns:
        One split per value that the logs have, from the smallest; each rule names its value, as "kp=8".

    Raises:
        BamError: the key is unknown, or all logs have the same value.
    """
    if key not in FOLD_KEYS:
        raise UnknownName(f"test {LEAVE_ONE_OUT} key", key, FOLD_KEYS)
    values = sorted({_value(recording, key) for recording in recordings})
    if len(values) < 2:
        there = f"all {len(recordings)} logs have {key} {_text(values[0])}" if values else "there are no logs"
        raise BadData(
            f"test {LEAVE_ONE_OUT}={key}",
            f"holds out one {key} in turn, but {there}",
            expected="two or more",
            advice=f"give logs with another {key}, or use another key ({', '.join(FOLD_KEYS)})",
        )
    ordered = sorted(recordings, key=lambda log: (log.name, log.sha256))
    return [
        Split(
            train=tuple(log for log in ordered if _value(log, key) != value),
            test=tuple(log for log in ordered if _value(log, key) == value),
            rule=f"{key}={_text(value)}",
        )
        for value in values
    ]


def _value(recording: Recording, key: str) -> float | str:
    """Return what distinguishes a log; numbers that differ by rounding are the same."""
    return float(f"{_NUMERIC[key](recording):.6g}") if key in _NUMERIC else _TEXT[key](recording)


def _text(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _in_test(recordings: Sequence[Recording], rule: str, seed: int) -> list[bool]:
    key, separator, text = rule.partition("=")
    key, text = key.strip(), text.strip()
    if not separator or not text:
        raise WrongValue(
            "test",
            rule,
            f"none, fraction=0.25 or KEY=VALUE, KEY one of {', '.join(RULE_KEYS[1:])}",
            printed=f"{rule!r}, not a rule",
        )
    if key == "fraction":
        return _random_share(recordings, rule, text, seed)
    if key in _NUMERIC:
        return _matching_number(recordings, rule, key, text)
    if key in _TEXT:
        values = [_TEXT[key](recording) for recording in recordings]
        return _matching(rule, key, [value == text for value in values], sorted(set(values)))
    raise UnknownName("test key", key, (*RULE_KEYS, LEAVE_ONE_OUT, NO_TEST))


def _random_share(recordings: Sequence[Recording], rule: str, text: str, seed: int) -> list[bool]:
    """Hold out a random share, first of runs whose script and gain are in another run too.

    What only one kind of run shows, such as where the supply limits a motor, would be missing in the model.
    """
    count = len(recordings)
    share = _number(rule, text, SHARE)
    if not 0.0 < share < 1.0:
        raise OutOfRange(f"test {rule}", share, "a share between 0 and 1, as 0.25", printed=text)
    if count < 2:
        raise BadData(
            f"test {rule}",
            "leaves no log to train on or to test with",
            expected=f"at least 2 logs, got {count}",
            advice=f"give others besides {recordings[0].source}",
        )
    wanted = min(max(round(share * count), 1), count - 1)
    # The draw depends on the runs and the seed, not on how files are named or in which format they are.
    ranked = sorted(range(count), key=lambda index: run_order(recordings[index]))
    order = [ranked[place] for place in np.random.default_rng(seed).permutation(count)]
    kinds = [(recording.script, _value(recording, "kp")) for recording in recordings]
    left, spare = Counter(kinds), []
    for index in order:
        if left[kinds[index]] > 1:
            left[kinds[index]] -= 1
            spare.append(index)
    chosen = set((spare + [index for index in order if index not in spare])[:wanted])
    return [index in chosen for index in range(count)]


def _matching_number(recordings: Sequence[Recording], rule: str, key: str, text: str) -> list[bool]:
    wanted = _number(rule, text, _UNITS.get(key, NO_UNIT))
    values = [_NUMERIC[key](recording) for recording in recordings]
    hits = [math.isclose(value, wanted, rel_tol=1e-6, abs_tol=1e-9) for value in values]
    return _matching(rule, key, hits, [f"{value:g}" for value in sorted(set(values))])


def _matching(rule: str, key: str, hits: list[bool], present: list[str]) -> list[bool]:
    """Check that a rule holds out some logs, but not all of them."""
    listed = ", ".join(present)
    if not any(hits):
        raise BadData(
            f"test {rule}",
            f"leaves no log to test with (the logs have {key} {listed})",
            advice="choose one of these",
        )
    if all(hits):
        raise BadData(
            f"test {rule}",
            f"leaves no log to train on (all {len(hits)} logs have {key} {listed})",
            advice="choose another rule or give logs with other values",
        )
    return hits


def _number(rule: str, text: str, units: Units) -> float:
    value = quantity(f"test {rule}", text, units)
    if not math.isfinite(value):
        raise WrongType(f"test {rule}", text, "a number, as in kp=400")
    return value
