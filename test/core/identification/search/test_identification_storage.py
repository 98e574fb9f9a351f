# SPDX-License-Identifier: Apache-2.0
"""Storages of searches: what URLs may say, and `bam identify` by several processes, some of them killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import optuna
import pytest
from identification_cases import mx106, record, write_log
from optuna.trial import FrozenTrial, TrialState

from bam_core.cli import main
from bam_core.errors import BamError
from bam_core.identification.search.storage import open_study

WITHIN = 600.0  # s; generous: a whole identification on a machine that others use as well

WORKER = """
import os, signal, sys
from bam_core.cli import main
from bam_core.identification import writing
from bam_core.identification.search import board
from bam_core.identification.search import meter

action, at = sys.argv[1], int(sys.argv[2])
writing._plot = lambda *_: None  # takes longer than the search
board._SIGN, board._GRACE, board._LOOK = 0.2, 1.5, 0.05
if action == "SIGSTOP":  # not while its sign of life is being written: SQLite's lock would stop with it
    board._SIGN = 60.0
book, calls = meter.Ledger.book, 0

def booked(self, *arguments):
    global calls
    calls += 1
    if calls == at:  # in the middle of a job
        os.kill(os.getpid(), getattr(signal, action))
    book(self, *arguments)

meter.Ledger.book = booked
sys.exit(main(sys.argv[3:]))
"""
"""`bam` that, at the given evaluation, does to itself what a signal from outside would."""

EARLY, LATE = 3, 100  # evaluations: in the first job; in one of the last


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("logs")
    runs = (("sin_sin", 8.0), ("sin_time_square", 16.0), ("up_and_down", 32.0))
    return [
        write_log(record(mx106("m1"), script, kp), directory / f"{script}_{kp:g}.json") for script, kp in runs
    ]


@pytest.fixture(scope="module")
def alone(logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What one process finds that shares with nobody."""
    output = tmp_path_factory.mktemp("alone") / "out"
    assert main(words(logs, output)) == 0
    return summary(output)


@pytest.fixture
def workers() -> Iterator[list[subprocess.Popen[str]]]:
    started: list[subprocess.Popen[str]] = []
    yield started
    for each in started:
        each.kill()
        each.communicate()


def words(logs: list[Path], output: Path) -> list[str]:
    options = ["--servo", "mx106", "--models", "m1", "--trials", "1200", "--output", str(output)]
    return ["identify", *map(str, logs), *options]


def summary(output: Path) -> dict[str, Any]:
    """As written, but for times."""
    content: dict[str, Any] = json.loads((output / "summary.json").read_text())
    assert content["models"]["m1"].pop("seconds") >= 0.0
    return content


def start(
    workers: list[subprocess.Popen[str]],
    logs: list[Path],
    output: Path,
    url: str,
    action: str = "SIGKILL",
    at: int = -1,
) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", WORKER, action, str(at), *words(logs, output), "--storage", url]
    process = subprocess.Popen(command, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    workers.append(process)
    return process


def ended(process: subprocess.Popen[str]) -> int:
    _, error = process.communicate(timeout=WITHIN)
    assert "Traceback" not in error
    if process.returncode > 0:
        print(error.splitlines()[-1])  # what it said is shown where a test fails
    return process.returncode


def trials(url: str) -> list[FrozenTrial]:
    (name,) = optuna.get_all_study_names(url)
    return optuna.load_study(study_name=name, storage=url).trials


def done(url: str) -> Counter[str]:
    return Counter(trial.user_attrs["job"] for trial in trials(url) if trial.state == TrialState.COMPLETE)


def url_in(directory: Path) -> str:
    return f"sqlite:///{directory / 'study.db'}"


@pytest.mark.long
def test_two_processes_find_what_one_finds(
    logs: list[Path], alone: dict[str, Any], workers: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    output, url = tmp_path / "out", url_in(tmp_path)
    pair = [start(workers, logs, output, url) for _ in range(2)]  # the same command, output included
    assert [ended(process) for process in pair] == [0, 0]
    assert summary(output) == alone
    assert set(done(url).values()) == {1}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


@pytest.mark.long
def test_a_killed_process_leaves_its_work_to_the_other(
    logs: list[Path], alone: dict[str, Any], workers: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    output, url = tmp_path / "out", url_in(tmp_path)
    victim = start(workers, logs, tmp_path / "never", url, "SIGKILL", EARLY)
    survivor = start(workers, logs, output, url)
    assert ended(victim) == -signal.SIGKILL
    assert ended(survivor) == 0
    assert summary(output) == alone
    assert not (tmp_path / "never").exists()


@pytest.mark.long
def test_a_search_that_was_killed_goes_on_where_it_was(
    logs: list[Path], alone: dict[str, Any], workers: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    output, url = tmp_path / "out", url_in(tmp_path)
    assert ended(start(workers, logs, output, url, "SIGKILL", LATE)) == -signal.SIGKILL
    before = done(url)
    assert before
    assert ended(start(workers, logs, output, url)) == 0
    assert summary(output) == alone
    after = done(url)
    assert len(before) < len(after)
    assert set(after.values()) == {1}
    states = Counter(trial.state for trial in trials(url))
    assert states == {TrialState.COMPLETE: len(after), TrialState.FAIL: 1}  # what it was at, and no more


@pytest.mark.long
def test_a_search_that_is_done_is_not_done_again(
    logs: list[Path], workers: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    url = url_in(tmp_path)
    assert main([*words(logs, tmp_path / "first"), "--storage", url]) == 0
    before = done(url)
    assert main([*words(logs, tmp_path / "second"), "--storage", url]) == 0
    assert done(url) == before
    assert summary(tmp_path / "second") == summary(tmp_path / "first")


@pytest.mark.long
def test_a_process_that_was_stopped_wakes_up_to_the_same_result(
    logs: list[Path], alone: dict[str, Any], workers: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    url = url_in(tmp_path)
    sleeper = start(workers, logs, tmp_path / "late", url, "SIGSTOP", EARLY)
    _, status = os.waitpid(sleeper.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    assert ended(start(workers, logs, tmp_path / "out", url)) == 0
    assert summary(tmp_path / "out") == alone
    before = done(url)
    sleeper.send_signal(signal.SIGCONT)
    assert ended(sleeper) == 0
    assert summary(tmp_path / "late") == alone
    assert done(url) == before


@pytest.mark.long
@pytest.mark.parametrize(("action", "status"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_process_that_is_asked_to_end_frees_its_job_at_once(
    action: str, status: int, logs: list[Path], workers: list[subprocess.Popen[str]], tmp_path: Path
) -> None:
    output, url = tmp_path / "out", url_in(tmp_path)
    process = start(workers, logs, output, url, action, EARLY)
    _, error = process.communicate(timeout=WITHIN)
    assert process.returncode == status
    last = error.splitlines()[-1]
    assert last == (
        "bam identify: interrupted; nothing is written yet; give the same command again to go on where it was"
    )
    assert [trial.state for trial in trials(url)] == [TrialState.FAIL]
    assert not output.exists()


def test_processes_that_open_a_new_storage_at_once_share_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: open_study("s", url_in(tmp_path)), range(8)))
    assert optuna.get_all_study_names(url_in(tmp_path)) == ["s"]


@pytest.mark.long
def test_a_storage_that_is_removed_meanwhile_is_told_in_one_line(tmp_path: Path) -> None:
    study = open_study("s", url_in(tmp_path))
    (tmp_path / "study.db").unlink()
    with pytest.raises(BamError, match=r"study\.db': cannot be used \(.*\); ") as caught:
        study.start({"job": "a", "sign": 0})
    assert "\n" not in str(caught.value)


def test_a_study_that_is_deleted_meanwhile_is_told_in_one_line(tmp_path: Path) -> None:
    study = open_study("s", url_in(tmp_path))
    optuna.delete_study(study_name="s", storage=url_in(tmp_path))
    with pytest.raises(BamError, match=r"study\.db': its study was deleted meanwhile; ") as caught:
        study.start({"job": "a", "sign": 0})
    assert "\n" not in str(caught.value)


def test_a_name_in_braces_is_a_name(tmp_path: Path) -> None:
    open_study("s", f"sqlite:///{tmp_path}/{{x}}.db")
    assert (tmp_path / "{x}.db").is_file()


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", r"storage '': is not the URL of a database \(expected sqlite:///study.db or postgresql://"),
        ("study.db", r"storage 'study.db': is not the URL of a database"),
        ("nosql://host/base", r"is not the URL of a database"),
        ("postgresql://u:secret@host:port/base", r"u:\*\*\*@host:port/base': is not the URL of a database"),
        ("oracle+oracledb://u:secret@host/base", r"the driver of this database is missing .*oracledb"),
        ("sqlite://", r"is in the memory of one process \(expected a file"),
        ("sqlite:///:memory:", r"is in the memory of one process"),
        ("sqlite:///TMP/no/such/study.db", r"there is no directory .*/no/such \(.*create it or correct"),
        ("sqlite:///TMP", r"is a directory \(expected the name of a file"),
        ("sqlite:///TMP/text", r"cannot be used \(file is not a database\); make sure"),
    ],
)
def test_what_is_wrong_with_a_url_is_told_in_one_line(url: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, and long enough to tell " * 100)
    with pytest.raises(BamError, match=message) as caught:
        open_study("s", url.replace("TMP", str(tmp_path)))
    error = str(caught.value)
    assert error.startswith("storage '")
    assert "\n" not in error
    assert "secret" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_the_command_refuses_a_bad_storage_and_writes_nothing(
    logs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words(logs, tmp_path / "out"), "--storage", "study.db"]) == 2
    assert capsys.readouterr().err.startswith("bam identify: storage 'study.db': is not the URL")
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_without_storage_tells_how_to_be_able_to_go_on(
    logs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bam_core.identification.identify", interrupt)
    assert main(words(logs, tmp_path / "out")) == 130
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(
        "bam identify: interrupted; nothing is written yet; add --storage sqlite:///study.db"
    )
    assert not (tmp_path / "out").exists()
