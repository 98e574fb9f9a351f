# SPDX-License-Identifier: Apache-2.0
"""Training and test logs: apart, complete, never empty."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_core.errors import BadData, BamError, OutOfRange, UnknownName, WrongType, WrongValue
from bam_core.identification.data.split import ENOUGH, is_rule, leave_one_out, left_out, split_recordings
from bam_core.recordings.recording import Recording
from bam_core.servo.pendulum import PendulumBench
from test.core.identification_cases import mx106, record
from test.core.refusals import refused

BASE = record(mx106("m1"), "sin_sin", 8.0)
LOGS = [
    replace(BASE, name=f"{script}_{kp:g}", sha256=f"{script}{kp}", script=script, kp=kp)
    for script in ("sin_sin", "up_and_down", "lift_and_drop")
    for kp in (8.0, 16.0, 32.0)
]


def names(logs: tuple[Recording, ...]) -> list[str]:
    return [log.name for log in logs]


@given(share=st.floats(0.01, 0.99), seed=st.integers(0, 2**32 - 1), count=st.integers(2, 9))
def test_a_share_takes_every_log_once_and_leaves_both_sides_some(share: float, seed: int, count: int) -> None:
    split = split_recordings(LOGS[:count], f"fraction={share}", seed=seed)
    assert sorted(names(split.train) + names(split.test)) == sorted(log.name for log in LOGS[:count])
    assert abs(len(split.test) - share * count) <= 1.0


def test_the_default_holds_out_a_quarter_whatever_the_order() -> None:
    split = split_recordings(LOGS, seed=3)
    assert len(split.test) == 2
    assert split == split_recordings(LOGS[::-1], None, seed=3)
    assert split == split_recordings(LOGS, "fraction=0.25", seed=3)
    assert any(split != split_recordings(LOGS, seed=seed) for seed in range(4, 10))


def test_a_share_is_of_the_same_runs_whatever_their_files_and_formats_are_called() -> None:
    repeated = [
        replace(
            log,
            name=f"{log.name}_{run}",
            sha256=f"{log.sha256}{run}",
            position=BASE.position + 0.01 * (10 * run + place),
        )
        for place, log in enumerate(LOGS)
        for run in range(2)
    ]
    other = [
        replace(log, name=f"{index:03d}", sha256=f"{index}", position=np.round(log.position, 6))
        for index, log in enumerate(reversed(repeated))
    ]
    for seed in range(5):
        in_test = [
            {
                (log.script, log.kp, round(log.position.mean(), 4))
                for log in split_recordings(logs, seed=seed).test
            }
            for logs in (repeated, other)
        ]
        assert len(in_test[0]) == 4
        assert in_test[0] == in_test[1]


@pytest.mark.parametrize("seed", range(20))
def test_a_share_leaves_a_run_of_every_script_and_gain_to_train_on(seed: int) -> None:
    heavier = [
        replace(log, name=f"{log.name}_2", sha256=f"{log.sha256}2", bench=PendulumBench(mass=1.0, length=0.1))
        for log in LOGS
    ]
    split = split_recordings(LOGS + heavier, "fraction=0.5", seed=seed)
    assert len(split.test) == len(LOGS)
    assert {(log.script, log.kp) for log in split.train} == {(log.script, log.kp) for log in LOGS}


def test_a_rule_holds_out_all_logs_of_one_configuration() -> None:
    for rule, value in (("kp=16", 16.0), ("kp=16.0", 16.0)):
        split = split_recordings(LOGS, rule)
        assert {log.kp for log in split.test} == {value}
        assert value not in {log.kp for log in split.train}
    assert {log.script for log in split_recordings(LOGS, "script=sin_sin").test} == {"sin_sin"}
    heavy = replace(LOGS[0], name="heavy", sha256="heavy", bench=PendulumBench(mass=2.0, length=0.2))
    for rule in ("mass=2", "length=0.2", "arm_mass=0", "name=heavy"):
        assert names(split_recordings([*LOGS, heavy], rule).test) == ["heavy"]


def test_of_few_logs_none_is_kept_for_the_test_unless_asked_for() -> None:
    few = LOGS[: ENOUGH - 1]
    assert split_recordings(few).test == ()
    assert split_recordings(few).rule == "none"
    assert len(split_recordings(few, "fraction=0.25").test) == 2
    for rule in ("none", "leave-one-out=kp"):
        split = split_recordings(LOGS, rule)
        assert (len(split.train), split.test, split.rule) == (len(LOGS), (), rule)


def test_files_are_taken_out_of_training() -> None:
    extra = replace(BASE, name="extra", sha256="extra")
    split = split_recordings(LOGS, [LOGS[0], extra])
    assert names(split.test) == ["extra", LOGS[0].name]
    assert len(split.train) == len(LOGS) - 1


@pytest.mark.parametrize(
    ("rule", "logs", "kind", "thing"),
    [
        ("kp=400", LOGS, BadData, "test kp=400"),
        ("script=jump", LOGS, BadData, "test script=jump"),
        ("servo=mx106", LOGS, BadData, "test servo=mx106"),
        ("mass=1", LOGS, BadData, "test mass=1"),
        ("kp=", LOGS, WrongValue, "test"),
        ("quarter", LOGS, WrongValue, "test"),
        ("kp=high", LOGS, WrongType, "test kp=high"),
        ("kp=nan", LOGS, WrongType, "test kp=nan"),
        ("fraction=1.5", LOGS, OutOfRange, "test fraction=1.5"),
        ("fraction=0", LOGS, OutOfRange, "test fraction=0"),
        ("fraction=0.25", LOGS[:1], BadData, "test fraction=0.25"),
        (None, [], BadData, "logs"),
        (None, LOGS[:1], BadData, "logs"),
        ("none", LOGS[:1], BadData, "logs"),
        (LOGS, LOGS, BadData, "test files"),
        ([], LOGS, BadData, "test files"),
    ],
)
def test_a_split_that_cannot_be_says_so_in_one_line(
    rule: object, logs: list, kind: type[BamError], thing: str
) -> None:
    with refused(kind, thing=thing):
        split_recordings(logs, rule)  # type: ignore[arg-type]


def test_a_rule_of_an_unknown_key_is_told_the_keys() -> None:
    with refused(UnknownName, name="gain") as caught:
        split_recordings(LOGS, "gain=8")
    assert "fraction" in caught.value.valid


def test_a_rule_is_told_from_a_path() -> None:
    assert is_rule("kp=400")
    assert is_rule("fraction=0.25")
    assert not is_rule("logs/a.json")
    assert not is_rule("logs/kp=400.json")


def test_every_configuration_is_held_out_once() -> None:
    folds = leave_one_out(LOGS[::-1], "kp")
    assert [fold.rule for fold in folds] == ["kp=8", "kp=16", "kp=32"]
    for fold, kp in zip(folds, (8.0, 16.0, 32.0), strict=True):
        assert {log.kp for log in fold.test} == {kp}
        assert sorted(names(fold.train) + names(fold.test)) == sorted(log.name for log in LOGS)
        assert fold == split_recordings(LOGS, fold.rule)
    by_script = leave_one_out(LOGS, "script")
    assert [fold.rule for fold in by_script] == [
        "script=lift_and_drop",
        "script=sin_sin",
        "script=up_and_down",
    ]


def test_values_that_differ_by_rounding_are_one_configuration() -> None:
    almost = [replace(LOGS[0], name="almost", sha256="almost", kp=8.0 * (1.0 + 1e-12))]
    assert len(leave_one_out([*LOGS, *almost], "kp")) == 3


@pytest.mark.parametrize(
    ("key", "logs", "kind", "about"),
    [
        ("mass", LOGS, BadData, {"thing": "test leave-one-out=mass"}),
        ("gain", LOGS, UnknownName, {"name": "gain"}),
        ("kp", [], BadData, {"thing": "test leave-one-out=kp"}),
    ],
)
def test_one_configuration_alone_cannot_be_left_out(
    key: str, logs: list, kind: type[BamError], about: dict[str, str]
) -> None:
    with refused(kind, **about):
        leave_one_out(logs, key)


def test_the_rule_that_leaves_one_out_is_told_from_others() -> None:
    assert left_out("leave-one-out=kp") == "kp"
    assert left_out("leave-one-out = load") == "load"
    assert left_out("kp=8") is None
    assert left_out(None) is None
    assert left_out(LOGS) is None


def test_a_copy_of_a_test_log_under_another_name_is_taken_out_of_training() -> None:
    copy = replace(LOGS[0], name="copy")
    split = split_recordings([*LOGS, copy], [LOGS[0]])
    assert names(split.test) == [LOGS[0].name]
    assert sorted(names(split.train)) == sorted(log.name for log in LOGS[1:])
