# SPDX-License-Identifier: Apache-2.0
"""The job board: every job is done, once, whoever takes part, and whoever falls out."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from optuna.trial import TrialState

from bam_core.errors import BamError
from bam_core.identification.search import board as module
from bam_core.identification.search.board import Job, JobBoard, Outcome
from bam_core.identification.search.storage import Study, TrialOver, open_study

WITHIN = 300.0  # s; a deadline, not a duration: generous, for machines that others use as well


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'study.db'}"


def outcome(error: float) -> Outcome:
    return Outcome(vector=np.array([error, 1 / 3]), error=error, evaluations=7)


def job(key: str, work: Callable[[], Outcome]) -> Job:
    return Job(key=key, work=work)


def never() -> Outcome:
    raise AssertionError("this job was somebody else's")


def states(study: Study) -> list[TrialState]:
    """Of all trials, failed ones as well."""
    trials = study._storage.get_all_trials(study._study)
    return [trial.state for trial in trials]


@pytest.mark.parametrize("kept", [False, True], ids=["memory", "sqlite"])
def test_outcomes_come_back_bit_by_bit_and_in_the_order_of_the_jobs(kept: bool, url: str) -> None:
    full = Outcome(
        vector=np.array([0.1, 1e-300]),
        error=1 / 3,
        evaluations=12,
        valley=np.array([[1 / 7, 2.0], [3.0, 4.0]]),
        settled=True,
    )
    nothing = Outcome(vector=np.zeros(2), error=np.inf, evaluations=0)
    found = JobBoard(open_study("s", url if kept else None)).do(
        [job("b", lambda: full), job("a", lambda: nothing)]
    )
    assert found[0].vector.tolist() == full.vector.tolist()
    assert found[0].valley is not None
    assert full.valley is not None
    assert found[0].valley.tolist() == full.valley.tolist()
    assert (found[0].error, found[0].evaluations, found[0].settled) == (1 / 3, 12, True)
    assert (found[1].error, found[1].valley, found[1].settled) == (np.inf, None, False)


def test_what_is_done_is_not_done_again(url: str) -> None:
    JobBoard(open_study("s", url)).do([job("a", lambda: outcome(1.0))])
    later = JobBoard(open_study("s", url)).do([job("b", lambda: outcome(2.0)), job("a", never)])
    assert [each.error for each in later] == [2.0, 1.0]


def test_searches_in_one_storage_do_not_mix(url: str) -> None:
    JobBoard(open_study("one", url)).do([job("a", lambda: outcome(1.0))])
    (other,) = JobBoard(open_study("other", url)).do([job("a", lambda: outcome(2.0))])
    assert other.error == 2.0


def test_many_workers_do_every_job_once_and_agree(url: str) -> None:
    done: list[str] = []

    def worker(number: int) -> list[float]:
        board = JobBoard(open_study("s", url))

        def work(key: str) -> Outcome:
            done.append(key)
            return outcome(float(number))  # were two to do it, they would disagree

        rounds = [[f"{turn}.{i}" for i in range(5)] for turn in range(3)]
        return [
            each.error
            for keys in rounds
            for each in board.do([job(key, lambda key=key: work(key)) for key in keys])
        ]

    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(worker, range(6)))
    assert all(result == results[0] for result in results)
    assert sorted(done) == sorted({f"{turn}.{i}" for turn in range(3) for i in range(5)})
    assert states(open_study("s", url)).count(TrialState.COMPLETE) == 15


def test_the_trial_that_came_first_holds_the_job(url: str) -> None:
    study = open_study("s", url)
    first = study.start({"job": "a", "sign": 0})
    second = study.start({"job": "a", "sign": 0})

    def finish() -> None:
        if study.trials()[0].state == TrialState.RUNNING:
            study.note(first, "outcome", module._record(outcome(5.0)))
            study.finish(first, TrialState.COMPLETE, 5.0)

    (found,) = JobBoard(open_study("s", url)).do([job("a", never)], meanwhile=finish)
    assert found.error == 5.0
    assert second > first


@pytest.mark.parametrize("error", [BamError("no"), KeyboardInterrupt(), SystemExit(1)])
def test_a_job_is_free_at_once_when_its_worker_gives_up(error: BaseException, url: str) -> None:
    def fail() -> Outcome:
        raise error

    with pytest.raises(type(error)):
        JobBoard(open_study("s", url)).do([job("a", fail)])
    study = open_study("s", url)
    assert states(study) == [TrialState.FAIL]
    waited: list[int] = []
    JobBoard(study).do([job("a", lambda: outcome(1.0))], meanwhile=lambda: waited.append(1))
    assert not waited


class Clock:
    """Stands in for `time` in the board: it goes on only where the board sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, span: float) -> None:
        self.now += span


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(module, "time", found)
    return found


def test_what_a_dead_worker_was_at_is_done_by_another(url: str, clock: Clock) -> None:
    study = open_study("s", url)
    study.start({"job": "a", "sign": 3})
    (found,) = JobBoard(study).do([job("a", lambda: outcome(1.0))])
    assert found.error == 1.0
    assert module._GRACE < clock.now <= module._GRACE + 3 * module._LOOK
    assert states(study) == [TrialState.FAIL, TrialState.COMPLETE]


def test_a_worker_that_is_slow_is_not_taken_for_dead(url: str, clock: Clock) -> None:
    study = open_study("s", url)
    number = study.start({"job": "a", "sign": 0})
    signs = 0

    def meanwhile() -> None:
        nonlocal signs
        if clock.now > (signs + 1) * module._SIGN:
            signs += 1
            study.note(number, "sign", signs)
        if clock.now > 3 * module._GRACE:
            study.note(number, "outcome", module._record(outcome(1.0)))
            study.finish(number, TrialState.COMPLETE, 1.0)

    (found,) = JobBoard(open_study("s", url)).do([job("a", never)], meanwhile=meanwhile)
    assert found.error == 1.0
    assert states(study) == [TrialState.COMPLETE]


def test_a_worker_gives_signs_of_life(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SIGN", 0.01)
    study = open_study("s", url)

    def slow() -> Outcome:
        deadline = time.monotonic() + WITHIN
        while study.trials()[0].user_attrs["sign"] < 3:
            assert time.monotonic() < deadline
        return outcome(1.0)

    (found,) = JobBoard(open_study("s", url)).do([job("a", slow)])
    assert found.error == 1.0


def test_a_worker_that_was_taken_for_dead_goes_on_with_what_others_found(url: str) -> None:
    def slept() -> Outcome:
        study = open_study("s", url)
        (mine,) = study.trials()
        study.finish(mine.number, TrialState.FAIL)
        JobBoard(study).do([job("a", lambda: outcome(2.0))])
        return outcome(1.0)

    (found,) = JobBoard(open_study("s", url)).do([job("a", slept)])
    assert found.error == 2.0
    assert states(open_study("s", url)) == [TrialState.FAIL, TrialState.COMPLETE]


def test_a_trial_ends_once(url: str) -> None:
    study = open_study("s", url)
    number = study.start({"job": "a", "sign": 0})
    study.finish(number, TrialState.FAIL)
    for late in (
        lambda: study.note(number, "sign", 1),
        lambda: study.finish(number, TrialState.COMPLETE, 1.0),
    ):
        with pytest.raises(TrialOver):
            late()
    assert states(study) == [TrialState.FAIL]


def test_who_waits_for_others_can_be_called_off(url: str) -> None:
    study = open_study("s", url)
    study.start({"job": "a", "sign": 0})

    def cancel() -> None:
        raise BamError("cancelled")

    with pytest.raises(BamError, match="cancelled"):
        JobBoard(study).do([job("a", never)], meanwhile=cancel)
    assert states(study) == [TrialState.RUNNING]


def test_a_storage_that_vanishes_meanwhile_is_told_in_one_line(url: str, tmp_path: Path) -> None:
    def vanish() -> Outcome:
        (tmp_path / "study.db").write_bytes(b"no longer a database" * 1000)
        return outcome(1.0)

    with pytest.raises(BamError, match=r"^storage 'sqlite:.*study\.db': cannot be used \(.*\); ") as caught:
        JobBoard(open_study("s", url)).do([job("a", vanish)])
    assert "\n" not in str(caught.value)
