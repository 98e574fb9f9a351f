# SPDX-License-Identifier: Apache-2.0
"""Inputs that once broke something, and those that `make fuzz` begins with, replayed without its engine."""

from __future__ import annotations

import sys

import pytest
from fuzz.limits import HangError, limited
from fuzz.target import CORPUS, attempt, load_target, target_names

from bam_core.errors import BamError


@pytest.mark.parametrize("name", target_names())
def test_no_input_breaks_a_property(name: str) -> None:
    target = load_target(name)
    reset = getattr(sys.modules[f"fuzz.targets.{name}"], "reset", lambda: None)
    with limited():
        for data in target.seeds():
            target.check(data)
    for path in sorted((CORPUS / name).glob("*")):
        reset()
        with limited():
            target.check(path.read_bytes())


def test_every_target_has_a_corpus_and_none_is_left_over() -> None:
    assert sorted(path.name for path in CORPUS.iterdir()) == target_names()
    for path in CORPUS.rglob("*"):
        assert path.is_dir() or path.stat().st_size <= 10_000, path


def test_a_line_break_in_an_error_is_a_finding() -> None:
    def work() -> None:
        error = BamError("a: b")
        error.args = ("a: b\nc",)
        raise error

    with pytest.raises(AssertionError, match="not one line"):
        attempt(work)


def test_another_exception_is_a_finding() -> None:
    with pytest.raises(KeyError):
        attempt(lambda: {}["a"])


def test_memory_of_an_input_is_limited() -> None:
    with pytest.raises(AssertionError, match="MB"), limited():
        assert len(b"a" * (1 << 30) + b"b") > 1


def test_time_of_an_input_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.limits.HANG", 0.05)
    with pytest.raises(HangError):
        _hang()


def _hang() -> None:
    with limited():
        while True:
            pass
