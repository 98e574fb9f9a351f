# SPDX-License-Identifier: Apache-2.0
"""The record of a search: an Optuna study that keeps what every job found, in a database.

Optuna does not search here, it stores. A search that was interrupted goes on from its study, and Optuna's
own tools read it. The study's attribute ``method`` names the search. Each trial is a job: an approach, a
descent or a hop of a Gauss-Newton search, or a run of CMA-ES. It has the parameters that the job arrived at,
their error, and the job's name. The last job, ``settle``, holds what the search returned; errors of other
jobs are of drafts or coarser steps.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from bam_core.errors import BamError, MissingSoftware, Unavailable, Unsupported, WrongValue
from bam_core.files.atomic_file import require_file
from bam_core.identification.search.methods import DEFAULT_METHOD
from bam_core.identification.search.outcome import Outcome
from bam_core.identification.search.space import SearchSpace
from bam_core.simulation.rollout import PARAMETERS

if TYPE_CHECKING:
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial
    from sqlalchemy import URL

_SQLITE_LOCK_TIMEOUT = 60  # s that a process waits for its turn to write to an SQLite file
_TRIES = 20  # to make the tables of a new database, which others may be making at the same time
_MADE_BY_OTHERS = ("already exists", "unique", "duplicate", "locked")  # in what databases say of that
_PACKAGES = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}
_EXAMPLE = "sqlite:///study.db or postgresql://user:password@host/database"


class Study:
    """What the jobs of one search found, in a database.

    Attributes:
        outcomes: by job.
    """

    def __init__(self, storage: BaseStorage, name: str, url: str) -> None:
        """Read a study that is there.

        Args:
            storage: that holds it.
            name: of it.
            url: of the storage, to name it in errors.

        Raises:
            BamError: the database does not do its part.
        """
        from optuna.study import load_study
        from optuna.trial import TrialState

        self._url = url
        with _storage_errors(url):
            self._study = load_study(study_name=name, storage=storage)
            trials = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        self.outcomes: dict[str, Outcome] = {}
        for trial in sorted(trials, key=lambda trial: trial.number):
            self.outcomes.setdefault(trial.user_attrs["job"], _outcome(trial))

    def add(self, job: str, outcome: Outcome, space: SearchSpace) -> None:
        """Keep what a job found.

        Raises:
            BamError: the database does not do its part.
        """
        from optuna.distributions import FloatDistribution
        from optuna.trial import create_trial

        values = {axis.name: float(outcome.vector[PARAMETERS.index(axis.targets[0])]) for axis in space.axes}
        trial = create_trial(
            value=outcome.error,
            # Optuna refuses a value that rounding has put a digit outside its range.
            params={axis.name: min(max(values[axis.name], axis.low), axis.high) for axis in space.axes},
            distributions={
                axis.name: FloatDistribution(axis.low, axis.high, log=axis.low > 0.0) for axis in space.axes
            },
            user_attrs={"job": job, "outcome": outcome.to_record()},
        )
        with _storage_errors(self._url):
            self._study.add_trial(trial)
        self.outcomes[job] = outcome


def _outcome(trial: FrozenTrial) -> Outcome:
    return Outcome.from_record(trial.user_attrs["outcome"])


def open_study(name: str, url: str, *, method: str = DEFAULT_METHOD) -> Study:
    """Open the study of this name, or make it.

    Args:
        name: of the study; searches with different data or settings must differ in it.
        url: of the database, such as sqlite:///study.db.
        method: of the search, for readers of the study.

    Raises:
        BamError: this is no URL, there is no such database, no driver for it, or it cannot be used.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with _storage_errors(url):
        storage = _open_storage(url)
        study = optuna.create_study(study_name=name, storage=storage, load_if_exists=True)
        study.set_user_attr("method", method)
    return Study(storage, name, url)


def _open_storage(url: str) -> BaseStorage:
    parsed = _checked(url)
    sqlite = parsed.get_backend_name() == "sqlite"
    options = {"connect_args": {"timeout": _SQLITE_LOCK_TIMEOUT}} if sqlite else {"pool_pre_ping": True}
    from optuna.exceptions import StorageInternalError
    from optuna.storages import RDBStorage
    from sqlalchemy.exc import DBAPIError

    for left in reversed(range(_TRIES)):
        try:
            # Optuna fills in what stands in braces.
            storage = RDBStorage(re.sub(r"[{}]", r"\g<0>\g<0>", url), options)
            break
        except (DBAPIError, StorageInternalError) as error:
            if not left or not any(sign in _reason(error).lower() for sign in _MADE_BY_OTHERS):
                raise
            time.sleep(random.uniform(0.05, 0.25))
    return storage


def _checked(url: str) -> URL:
    """Return the parts of a URL that leads to a database, as far as is known without a connection."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    try:
        parsed = make_url(url)
        dialect = parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise WrongValue("storage", _shown(url), f"the URL of a database: {_EXAMPLE}") from None
    try:
        dialect.import_dbapi()
    except ImportError as error:
        package = _PACKAGES.get(error.name or "", error.name)
        raise MissingSoftware(
            f"storage {_shown(url)!r}",
            error.name or str(error),
            problem=f"the driver of this database is missing (expected the Python module {error.name})",
            advice=f"install it, with: {sys.executable} -m pip install '{package}'",
        ) from None
    if dialect.name == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise Unsupported(
                f"storage {url!r}",
                "is in the memory of one process",
                expected="a file, as in sqlite:///study.db",
                advice="name one, or leave the storage out",
            )
        try:
            require_file(str(parsed.database))
        except BamError as error:
            raise error.within(f"storage {url!r}") from None
    return parsed


@contextlib.contextmanager
def _storage_errors(url: str) -> Iterator[None]:
    """Name in one line what is wrong with a storage."""
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        raise Unavailable(
            f"storage {_shown(url)!r}",
            f"cannot be used ({_reason(error)})",
            advice="make sure that it is there and may be written to, then run the same command again",
        ) from None
    except KeyError:  # Optuna's word for a study or trial that is gone
        raise Unavailable(
            f"storage {_shown(url)!r}", "its study was deleted meanwhile", advice="run the same command again"
        ) from None
    except RuntimeError as error:
        if "table schema" not in str(error):
            raise
        raise Unsupported(
            f"storage {_shown(url)!r}", "was made by another version of Optuna", advice="name a new one"
        ) from None


def _reason(error: BaseException) -> str:
    """Return the first line of the message of the database."""
    inner = error.__cause__ or error
    lines = str(getattr(inner, "orig", None) or inner).strip().splitlines()
    return lines[0] if lines else type(inner).__name__


def _shown(url: str) -> str:
    """Return a URL without its password."""
    return re.sub(r"(://[^:@/]*):[^@]*@", r"\1:***@", url)
