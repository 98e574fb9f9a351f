# SPDX-License-Identifier: Apache-2.0
"""The record of a search: `bam identify` that is killed and goes on, on SQLite and on a PostgreSQL server."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import pytest
from optuna.trial import FrozenTrial, TrialState

from bam_core.cli import main
from bam_core.errors import BamError, MissingSoftware, NotWritable, Unavailable, Unsupported, WrongValue
from bam_core.identification.execution import Execution
from bam_core.identification.executors import open_cluster
from bam_core.identification.identify import identify
from bam_core.identification.result import Identification
from bam_core.identification.search.methods import METHODS
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.space import search_space
from bam_core.identification.search.study import open_study
from bam_core.identification.settings import IdentifySettings
from bam_core.recordings import load_recordings
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.text.output_findings import Unfinished
from test.core.identification_cases import mx106, record, write_log
from test.core.refusals import refused
from test.missing import skip_or_fail

WITHIN = 600.0  # s; generous: a whole identification on a machine that others use as well

INTERRUPTED = """
import os, signal, sys
from bam_core.cli import main
from bam_core.identification import writing
from bam_core.identification.search import meter

action, at = sys.argv[1], int(sys.argv[2])
writing._plot = lambda *_: None  # takes longer than the search
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
SPACE = search_space(FRICTION_MODELS["m4"], [record(mx106("m1"), "sin_sin", 8.0)])


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    directory = tmp_path_factory.mktemp("logs")
    runs = (("sin_sin", 8.0), ("sin_time_square", 16.0), ("up_and_down", 32.0))
    return [
        write_log(record(mx106("m1"), script, kp), directory / f"{script}_{kp:g}.json") for script, kp in runs
    ]


@pytest.fixture(scope="module")
def uninterrupted(logs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    output = tmp_path_factory.mktemp("uninterrupted") / "out"
    assert main(words(logs, output)) == 0
    return summary(output)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """URL of a PostgreSQL server of Debian's package, on a socket of its own."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        skip_or_fail("no PostgreSQL to keep a study in; apt install postgresql")
    # The server refuses to be root: it is the user that Debian's package has made for it.
    as_user = (
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
    )
    with tempfile.TemporaryDirectory() as place:
        if as_user:
            shutil.chown(place, "postgres")

        def do(tool: str, *arguments: str) -> None:
            command = [*as_user, str(programs[-1] / tool), "-D", f"{place}/data", *arguments]
            subprocess.run(command, check=True, timeout=WITHIN, stdout=subprocess.DEVNULL)

        do("initdb", "-U", "lab", "-A", "trust")
        options = f"-c listen_addresses='' -c unix_socket_directories={place}"
        do("pg_ctl", "-w", "-o", options, "-l", f"{place}/log", "start")
        try:
            yield f"postgresql+psycopg://lab@/postgres?host={place}"
        finally:
            do("pg_ctl", "-w", "-m", "fast", "stop")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "postgresql":
        found: str = request.getfixturevalue("server")
        for name in optuna.get_all_study_names(found):
            optuna.delete_study(study_name=name, storage=found)
        return found
    return url_in(tmp_path)


def url_in(directory: Path) -> str:
    return f"sqlite:///{directory / 'study.db'}"


def words(logs: list[Path], output: Path) -> list[str]:
    options = ["--servo", "mx106", "--models", "m1", "--trials", "1200", "--output", str(output)]
    return ["identify", *map(str, logs), *options]


def summary(output: Path) -> dict[str, Any]:
    """As written, but for times."""
    content: dict[str, Any] = json.loads((output / "summary.json").read_text())
    assert content["models"]["m1"].pop("seconds") >= 0.0
    return content


def run(logs: list[Path], output: Path, url: str, action: str = "SIGKILL", at: int = -1) -> tuple[int, str]:
    """Return exit status and standard error of `bam identify`, ended by a signal at an evaluation."""
    command = [sys.executable, "-c", INTERRUPTED, action, str(at), *words(logs, output), "--storage", url]
    done = subprocess.run(command, text=True, capture_output=True, timeout=WITHIN, check=False)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


def trials(url: str) -> list[FrozenTrial]:
    (name,) = (name for name in optuna.get_all_study_names(url) if " without " not in name)
    return optuna.load_study(study_name=name, storage=url).trials


def done(url: str) -> Counter[str]:
    assert {trial.state for trial in trials(url)} <= {TrialState.COMPLETE}
    return Counter(trial.user_attrs["job"] for trial in trials(url))


def outcome(error: float) -> Outcome:
    point = np.random.default_rng(0).random((1, SPACE.dimension))
    return Outcome(vector=SPACE.vectors(point)[0], error=error, evaluations=7)


def test_outcomes_come_back_bit_by_bit(url: str) -> None:
    full = Outcome(
        vector=outcome(0.0).vector,
        error=1 / 3,
        evaluations=12,
        valley=np.array([[1 / 7, 2.0], [3.0, 1e-300]]),
        converged=True,
        spread=1 / 3,
    )
    study = open_study("s", url)
    study.add("a", full, SPACE)
    study.add("b", outcome(np.inf), SPACE)
    for known in (study.outcomes, open_study("s", url).outcomes):
        assert list(known) == ["a", "b"]
        assert known["a"].to_record() == full.to_record()
        assert known["b"].to_record() == outcome(np.inf).to_record()


def test_optuna_reads_parameters_and_errors(url: str) -> None:
    open_study("s", url, method="cma-es").add("cma-es 0", outcome(0.25), SPACE)
    (trial,) = trials(url)
    assert optuna.load_study(study_name="s", storage=url).user_attrs == {"method": "cma-es"}
    assert trial.value == 0.25
    assert list(trial.params) == [axis.name for axis in SPACE.axes]
    for axis in SPACE.axes:
        assert axis.low <= trial.params[axis.name] <= axis.high


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_parameters_at_the_ends_of_their_ranges_are_kept(share: float, tmp_path: Path) -> None:
    vector = SPACE.vectors(np.full((1, SPACE.dimension), share))[0]
    at_the_end = Outcome(vector=np.nextafter(vector, share * 1e9), error=1.0, evaluations=1)
    open_study("s", url_in(tmp_path)).add("a", at_the_end, SPACE)
    (kept,) = open_study("s", url_in(tmp_path)).outcomes.values()
    assert kept.vector.tobytes() == at_the_end.vector.tobytes()


def test_studies_in_one_storage_do_not_mix(tmp_path: Path) -> None:
    open_study("one", url_in(tmp_path)).add("a", outcome(1.0), SPACE)
    assert open_study("other", url_in(tmp_path)).outcomes == {}


@pytest.mark.long
def test_a_search_that_was_killed_goes_on_where_it_was(
    logs: list[Path], uninterrupted: dict[str, Any], url: str, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    assert run(logs, output, url, "SIGKILL", LATE)[0] == -signal.SIGKILL
    before = done(url)
    assert before
    assert not output.exists()
    assert run(logs, output, url)[0] == 0
    assert summary(output) == uninterrupted
    after = done(url)
    assert before < after
    assert set(after.values()) == {1}


@pytest.mark.long
def test_two_processes_with_one_storage_find_the_same(
    logs: list[Path], uninterrupted: dict[str, Any], url: str, tmp_path: Path
) -> None:
    outputs = [tmp_path / "one", tmp_path / "two"]
    with ThreadPoolExecutor(2) as pool:
        ended = list(pool.map(lambda output: run(logs, output, url), outputs))
    assert [status for status, _ in ended] == [0, 0]
    assert [summary(output) for output in outputs] == [uninterrupted] * 2


@pytest.mark.long
def test_a_search_that_is_done_is_not_done_again(logs: list[Path], tmp_path: Path) -> None:
    url = url_in(tmp_path)
    assert main([*words(logs, tmp_path / "first"), "--storage", url]) == 0
    before = done(url)
    assert main([*words(logs, tmp_path / "second"), "--storage", url]) == 0
    assert done(url) == before
    assert summary(tmp_path / "second") == summary(tmp_path / "first")


@pytest.mark.long
def test_searches_of_different_methods_have_studies_of_their_own(logs: list[Path], tmp_path: Path) -> None:
    url = url_in(tmp_path)
    for method in METHODS:
        command = [*words(logs, tmp_path / method), "--storage", url, "--search", method]
        assert main(command) == 0
        name = next(
            name
            for name in optuna.get_all_study_names(url)
            if optuna.load_study(study_name=name, storage=url).user_attrs["method"] == method
        )
        jobs = [trial.user_attrs["job"] for trial in optuna.load_study(study_name=name, storage=url).trials]
        assert jobs[-1] == "settle"
        assert all(job.startswith("cma-es") for job in jobs[:-1]) is (method == "cma-es")
        again = [*words(logs, tmp_path / f"{method} again"), "--storage", url, "--search", method]
        assert main(again) == 0
        assert summary(tmp_path / f"{method} again") == summary(tmp_path / method)


@pytest.mark.long
@pytest.mark.parametrize(("action", "status"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_a_process_that_is_asked_to_end_says_how_to_go_on(
    action: str, status: int, logs: list[Path], tmp_path: Path
) -> None:
    output = tmp_path / "out"
    ended, error = run(logs, output, url_in(tmp_path), action, EARLY)
    assert ended == status
    finding = Unfinished(kind="interrupted", directory=output, resume="")
    assert error.splitlines()[-1] == f"bam identify: {finding}"
    assert trials(url_in(tmp_path)) == []
    assert not output.exists()


def figures(found: Identification) -> dict[str, Any]:
    content = found.summary()
    for fit in content["models"].values():
        fit.pop("seconds")
    content.pop("date")
    return content


@pytest.mark.long
def test_an_executor_finds_what_one_process_finds(logs: list[Path], tmp_path: Path) -> None:
    """Rounds, folds, effect ablation and uncertainty; and from what it has kept, one process goes on."""
    recordings = load_recordings(logs)

    def found(test: str, **more: Any) -> dict[str, Any]:
        effects = ["zero_offset", "command_delay"]
        return figures(
            identify(
                recordings,
                "mx106",
                IdentifySettings(models="m1", trials=400, test=test, effects=effects),
                execution=Execution(**more),
            )
        )

    url = url_in(tmp_path)
    with ProcessPoolExecutor(2) as processes, open_cluster("local:2") as cluster:
        for test in ("fraction=0.4", "leave-one-out=kp"):
            here = found(test)
            assert found(test, executor=processes, storage=url) == here
            assert found(test, storage=url) == here
            assert found(test, executor=cluster) == here


@pytest.mark.long
def test_processes_that_open_a_new_storage_at_once_share_it(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: open_study("s", url_in(tmp_path)), range(8)))
    assert optuna.get_all_study_names(url_in(tmp_path)) == ["s"]


@pytest.mark.long
def test_a_storage_that_is_removed_meanwhile_is_told_in_one_line(tmp_path: Path) -> None:
    study = open_study("s", url_in(tmp_path))
    (tmp_path / "study.db").unlink()
    with refused(Unavailable):
        study.add("a", outcome(1.0), SPACE)


def test_a_study_that_is_deleted_meanwhile_is_told_in_one_line(tmp_path: Path) -> None:
    study = open_study("s", url_in(tmp_path))
    optuna.delete_study(study_name="s", storage=url_in(tmp_path))
    with refused(Unavailable):
        study.add("a", outcome(1.0), SPACE)


def test_a_name_in_braces_is_a_name(tmp_path: Path) -> None:
    open_study("s", f"sqlite:///{tmp_path}/{{x}}.db")
    assert (tmp_path / "{x}.db").is_file()


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("", WrongValue),
        ("study.db", WrongValue),
        ("nosql://host/base", WrongValue),
        ("postgresql://u:secret@host:port/base", WrongValue),
        ("oracle+oracledb://u:secret@host/base", MissingSoftware),
        ("sqlite://", Unsupported),
        ("sqlite:///:memory:", Unsupported),
        ("sqlite:///TMP/no/such/study.db", NotWritable),
        ("sqlite:///TMP", NotWritable),
        ("sqlite:///TMP/text", Unavailable),
    ],
)
def test_what_is_wrong_with_a_url_is_told_in_one_line(url: str, kind: type[BamError], tmp_path: Path) -> None:
    (tmp_path / "text").write_text("this is no database, and long enough to tell " * 100)
    with refused(kind) as caught:
        open_study("s", url.replace("TMP", str(tmp_path)))
    error = str(caught.value)
    assert error.startswith("storage")
    assert "secret" not in error
    assert [path.name for path in tmp_path.iterdir()] == ["text"]


def test_the_command_refuses_a_bad_storage_and_writes_nothing(
    logs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words(logs, tmp_path / "out"), "--storage", "study.db"]) == 2
    assert capsys.readouterr().err.startswith("bam identify: storage: is 'study.db'")
    assert list(tmp_path.iterdir()) == []


def test_an_interruption_without_storage_tells_how_to_be_able_to_go_on(
    logs: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("bam_core.identification.identify.identify", interrupt)
    assert main(words(logs, tmp_path / "out")) == 130
    last = capsys.readouterr().err.splitlines()[-1]
    output = tmp_path / "out"
    finding = Unfinished(kind="interrupted", directory=output, resume="--storage sqlite:///study.db")
    assert last == f"bam identify: {finding}"
    assert not (tmp_path / "out").exists()
