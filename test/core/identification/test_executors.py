# SPDX-License-Identifier: Apache-2.0
"""Jobs done by others: processes of this machine, and a Dask cluster, whose workers come and go."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from distributed.utils import json_load_robust

from bam_core.errors import BadData, BamError, MissingSoftware, Unavailable, WrongValue
from bam_core.identification import executors
from bam_core.identification.executors import Call, Shared, open_cluster, run_jobs
from bam_core.simulation.threads import one_blas_thread
from test.core.refusals import refused

WITHIN = 120.0  # s; generous: processes that start on a machine that others use as well


def scaled(data: list[float], factor: float) -> tuple[float, int]:
    return factor * sum(data), os.getpid()


def refuse(data: object) -> None:
    raise BadData(f"data {data}", "are bad", advice="give others")


def die_at_first(directory: str) -> int:
    """End its process, but for the second one that does this job."""
    mark = Path(directory) / "begun"
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return os.getpid()
    os.kill(os.getpid(), signal.SIGKILL)
    return 0


def always_die(data: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def wait_for(path: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end and not Path(path).exists():
        time.sleep(0.02)
    return Path(path).exists()


@pytest.fixture(scope="module")
def path() -> Iterator[None]:
    """Let other processes find the jobs of this file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(Path(__file__).parents[3]))
        yield


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    with ProcessPoolExecutor(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def cluster(path: None) -> Iterator[Executor]:
    with open_cluster("local:2") as executor:
        yield executor


@pytest.fixture(params=["processes", "cluster"])
def executor(request: pytest.FixtureRequest) -> Executor:
    found: Executor = request.getfixturevalue(request.param)
    return found


def test_every_job_is_done_and_says_which_it_was(executor: Executor) -> None:
    shared = Shared([1.0, 2.0])
    done = dict(run_jobs(executor, [Call(scaled, shared, (factor,)) for factor in (1.0, 2.0, 3.0)]))
    assert {index: result for index, (result, _) in done.items()} == {0: 3.0, 1: 6.0, 2: 9.0}
    assert os.getpid() not in {process for _, process in done.values()}


def test_no_jobs_are_done_at_once(executor: Executor) -> None:
    assert list(run_jobs(executor, [])) == []


def test_jobs_with_other_data_get_these(executor: Executor) -> None:
    calls = [Call(scaled, Shared([float(i)]), (1.0,)) for i in range(40)]  # more than a worker keeps
    assert {i: result for i, (result, _) in run_jobs(executor, calls)} == {i: float(i) for i in range(40)}


def test_shared_data_are_sent_to_a_process_once() -> None:
    class Counting(ProcessPoolExecutor):
        sent = 0

        def submit(self, fn, /, *arguments, **more):  # type: ignore[no-untyped-def]
            self.sent += arguments[1][1] is not None
            return super().submit(fn, *arguments, **more)

    with Counting(1) as pool:
        shared = Shared(list(np.arange(5.0)))
        for _ in range(3):
            list(run_jobs(pool, [Call(scaled, shared, (1.0,))]))
        assert pool.sent == 1


def test_what_a_job_raises_is_raised_here(executor: Executor) -> None:
    with refused(BadData, thing="data 3", problem="are bad"):
        list(run_jobs(executor, [Call(refuse, Shared(3))]))


def test_who_waits_can_withdraw(executor: Executor, tmp_path: Path) -> None:
    go_on = tmp_path / "go on"

    def withdraw() -> None:
        raise BamError("withdrawn")

    with pytest.raises(BamError):
        list(run_jobs(executor, [Call(wait_for, Shared(str(go_on)), (WITHIN,))], meanwhile=withdraw))
    go_on.touch()  # what is under way cannot be stopped


def test_a_worker_of_another_version_is_refused(processes: Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "__version__", "99.0")
    with refused(MissingSoftware, software="bam_bench"):
        list(run_jobs(processes, [Call(scaled, Shared([1.0]), (1.0,))]))


def test_a_process_that_dies_is_told_in_one_line() -> None:
    with ProcessPoolExecutor(1) as pool, refused(Unavailable, thing="workers"):
        list(run_jobs(pool, [Call(always_die, Shared(0))]))


@pytest.mark.long
def test_a_worker_of_a_cluster_that_dies_costs_its_job_and_no_more(path: None, tmp_path: Path) -> None:
    with open_cluster("local:2") as executor:
        calls: list[Call] = [Call(die_at_first, Shared(str(tmp_path)))]
        calls += [Call(scaled, Shared([1.0]), (float(i),)) for i in range(20)]
        done = dict(run_jobs(executor, calls))
    assert sorted(done) == list(range(21))
    assert [done[i][0] for i in range(1, 21)] == [float(i) for i in range(20)]


@pytest.mark.long
def test_a_job_that_kills_its_workers_is_given_up(path: None) -> None:
    with (
        open_cluster("local:1") as executor,
        refused(Unavailable, thing="cluster"),
    ):
        list(run_jobs(executor, [Call(always_die, Shared(0))]))


@pytest.mark.long
def test_a_scheduler_that_runs_already_is_used_by_its_address(path: None, tmp_path: Path) -> None:
    where = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(where)]
    of_scheduler = ["--host", "127.0.0.1", "--port", "0", "--dashboard-address", "127.0.0.1:0", *common]
    scheduler, worker = (
        subprocess.Popen([sys.executable, "-m", module, *options], stderr=subprocess.DEVNULL)
        for module, options in (
            ("distributed.cli.dask_scheduler", of_scheduler),
            ("distributed.cli.dask_worker", ["--nthreads", "2", "--no-dashboard", *common]),
        )
    )
    try:
        address = json_load_robust(str(where), timeout=WITHIN)["address"]  # it may still be being written
        with open_cluster(address) as executor:
            calls = [Call(scaled, Shared([2.0]), (float(i),)) for i in range(4)]
            done = dict(run_jobs(executor, calls))
        assert {i: result for i, (result, _) in done.items()} == {i: 2.0 * i for i in range(4)}
        assert {process for _, process in done.values()}.isdisjoint({os.getpid()})
    finally:
        for process in (worker, scheduler):  # a worker that lost its scheduler would wait for it
            process.terminate()
            process.wait(timeout=WITHIN)


@pytest.mark.parametrize(
    ("address", "kind"),
    [
        ("local", WrongValue),
        ("local:0", WrongValue),
        ("local:many", WrongValue),
        ("tcp://127.0.0.1:1", Unavailable),
        ("nonsense://x", Unavailable),
        ("", Unavailable),
    ],
)
def test_a_bad_address_is_told_in_one_line(address: str, kind: type[BamError]) -> None:
    with refused(kind) as caught, open_cluster(address, 0.5):
        pass
    assert repr(address) in str(caught.value)


def test_without_dask_the_package_to_install_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with (
        refused(MissingSoftware, software="distributed"),
        open_cluster("local:2"),
    ):
        pass


def test_the_limit_of_blas_threads_holds_until_the_last_one_leaves() -> None:
    from threadpoolctl import threadpool_info

    def threads() -> set[int]:
        return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}

    before = threads()
    first, second = one_blas_thread(), one_blas_thread()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads() == {1}
    second.__exit__(None, None, None)
    assert threads() == before


@pytest.mark.long
def test_workers_that_cannot_load_a_job_are_told_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PYTHONPATH", "/")
    monkeypatch.chdir(tmp_path)  # workers find modules in the directory that they are started in
    with (
        open_cluster("local:1") as executor,
        refused(MissingSoftware, purpose="cluster"),
    ):
        list(run_jobs(executor, [Call(scaled, Shared([1.0]), (1.0,))]))
