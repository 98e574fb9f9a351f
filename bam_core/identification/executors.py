# SPDX-License-Identifier: Apache-2.0
"""Pure jobs done by others: by processes of this machine, or by the workers of a Dask cluster.

Jobs are deterministic. Dask repeats a job whose worker died; a pool of processes of this machine does not,
and `run_jobs` raises BamError then. Executors are those of `concurrent.futures`; how workers are started and
kept alive is Dask's business.
"""

from __future__ import annotations

import hashlib
import logging
import os
import pickle
import platform
import sys
import threading
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from bam_core._version import __version__
from bam_core.errors import MissingSoftware, Unavailable, WrongValue
from bam_core.simulation.threads import one_blas_thread, simulation_threads

T = TypeVar("T")
R = TypeVar("R")

_CANCEL_POLL_PERIOD = 0.2  # s between two checks whether the caller has cancelled
_KEPT = 16  # shared values that a process of workers keeps
_EXAMPLE = "local:4 or tcp://scheduler:8786"

# Dask has its workers give memory back whenever 64 KiB are free, and glibc then maps and clears each array
# anew: a quarter of a job's time. These are what glibc itself arrives at in a process that uses large arrays.
_WORKERS_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(2**26), "MALLOC_MMAP_THRESHOLD_": str(2**25)}  # bytes


class Shared(Generic[T]):
    """A value that many jobs need: it is sent to each process once, not with each job.

    Attributes:
        value: can be pickled.
    """

    def __init__(self, value: T) -> None:
        self.value = value

    @cached_property
    def pickled(self) -> bytes:
        """The value as it is sent."""
        return pickle.dumps(self.value)

    @cached_property
    def key(self) -> str:
        """Digest of its content."""
        return hashlib.sha256(self.pickled).hexdigest()


@dataclass(frozen=True)
class Call(Generic[R]):
    """A job: a function of module level, the value that it shares with others, and what else it is given."""

    function: Callable[..., R]
    shared: Shared[Any]
    arguments: tuple[Any, ...] = ()


def run_jobs(
    executor: Executor, jobs: Sequence[Call[R]], *, meanwhile: Callable[[], None] | None = None
) -> Iterator[tuple[int, R]]:
    """Yield the index of every job and what it returned, as they are done.

    Args:
        executor: does them.
        jobs: in any number.
        meanwhile: called time and again while jobs are under way; may raise, which withdraws the rest.

    Raises:
        BamError: workers died and their executor does not repeat the job; or what a job raised.
    """

    def submit(index: int, content: bytes | None) -> Future[Any]:
        job = jobs[index]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="Sending large graph")  # once per worker, not per job
            return executor.submit(_run, job.function, (job.shared.key, content), job.arguments, __version__)

    left: dict[Future[Any], int] = {}
    try:
        left = {submit(index, None): index for index in range(len(jobs))}
        while left:
            done, _ = wait(left, timeout=_CANCEL_POLL_PERIOD, return_when=FIRST_COMPLETED)
            for future in done:
                index, result = left.pop(future), future.result()
                if isinstance(result, _Unknown):
                    left[submit(index, jobs[index].shared.pickled)] = index
                else:
                    yield index, result
            if meanwhile is not None:
                meanwhile()
    except (BrokenProcessPool, CancelledError) as error:
        raise Unavailable(
            "workers", f"ended before their jobs ({_words(error)})", advice="run the same command again"
        ) from None
    except RuntimeError as error:
        if "deserialization" not in str(error):  # Dask's word for it
            raise
        raise MissingSoftware(
            "cluster",
            "bam_bench",
            problem="workers cannot load what they are sent (expected the same packages and Python there "
            "as here)",
            advice="install them",
        ) from None
    except _killed_worker():
        raise Unavailable(
            "cluster",
            "several workers died at the same job (memory is the usual reason)",
            advice="give them more, or start fewer per machine",
        ) from None
    finally:
        for future in left:
            future.cancel()


def _killed_worker() -> tuple[type[Exception], ...]:
    """Return Dask's error for a job whose workers died; none where Dask is not loaded, so has no workers."""
    scheduler = sys.modules.get("distributed.scheduler")
    return () if scheduler is None else (scheduler.KilledWorker,)


class _Unknown:
    """What a worker answers that does not have the shared value yet."""


_values: OrderedDict[str, Any] = OrderedDict()
_values_lock = threading.Lock()


def _run(
    function: Callable[..., R], shared: tuple[str, bytes | None], arguments: tuple[Any, ...], version: str
) -> R | _Unknown:
    if version != __version__:
        raise MissingSoftware(
            f"worker on {platform.node()}",
            "bam_bench",
            problem=f"has bam_bench {__version__} (expected {version}, as here)",
            advice="install the same version there",
        )
    key, content = shared
    with _values_lock:
        if key not in _values:
            if content is None:
                return _Unknown()
            _values[key] = pickle.loads(content)
            while len(_values) > _KEPT:
                _values.popitem(last=False)
        _values.move_to_end(key)
        value = _values[key]
    with one_blas_thread(), simulation_threads(1):
        return function(value, *arguments)


def this_machine() -> ProcessPoolExecutor:
    """Return an executor of one process per processor."""
    return ProcessPoolExecutor(max_workers=len(os.sched_getaffinity(0)))


@contextmanager
def open_cluster(address: str, answer_time: float = 5.0) -> Iterator[Executor]:
    """Connect to a Dask cluster, for as long as the context lasts.

    Args:
        address: of its scheduler, as "tcp://scheduler:8786"; or "local:N" to start N workers here.
        answer_time: in which a scheduler that is there has answered, also on a busy machine, s.

    Raises:
        BamError: the address is invalid, no scheduler answers, or Dask is not installed.
    """
    kind, _, count = address.partition(":")
    workers = int(count) if kind == "local" and count.isascii() and count.isdigit() else 0
    if kind == "local" and workers < 1:
        raise WrongValue("cluster", address, f"as in {_EXAMPLE}", printed=f"{address!r}, no count of workers")
    try:
        from distributed import Client
        from distributed.deploy.subprocess import SubprocessCluster
    except ImportError:
        raise MissingSoftware(
            f"cluster {address!r}",
            "distributed",
            problem="Dask is not installed (expected the Python module distributed)",
            advice=f"install it, with: {sys.executable} -m pip install distributed",
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is raised
    if kind != "local":
        with _connected(address, lambda: Client(address, timeout=answer_time)) as client:
            yield client.get_executor(pure=False)
        return
    # One thread each: jobs are made for one, and Python code of two threads of a process takes turns.
    # Processes of their own: those of multiprocessing would run the caller's script again.
    with (
        _environment(_WORKERS_MEMORY),
        SubprocessCluster(
            host="127.0.0.1",
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client.get_executor(pure=False)


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    """Set variables that are not set, for processes that are started in this context."""
    own = {name: value for name, value in values.items() if name not in os.environ}
    os.environ.update(own)
    try:
        yield
    finally:
        for name in own:
            os.environ.pop(name, None)


@contextmanager
def _connected(address: str, connect: Callable[[], Any]) -> Iterator[Any]:
    try:
        client = connect()
    except (OSError, ValueError, TypeError) as error:
        raise Unavailable(
            f"cluster {address!r}",
            f"no scheduler answers ({_words(error)})",
            expected=f"as in {_EXAMPLE}",
            advice="start one with 'dask scheduler', or correct the address",
        ) from None
    with client:
        yield client


def _words(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
