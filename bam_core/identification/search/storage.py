# SPDX-License-Identifier: Apache-2.0
"""Studies that several processes share: trials in memory or in a database, and what databases do wrong.

Trials are claimed and finished in single transactions, so that of several workers each has a different one.
"""

from __future__ import annotations

import contextlib
import random
import re
import sys
import time
import warnings
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from bam_core.atomic_file import require_file
from bam_core.errors import BamError

if TYPE_CHECKING:
    from optuna.storages import BaseStorage
    from optuna.trial import FrozenTrial, TrialState
    from sqlalchemy import URL, Engine

_PATIENCE = 60  # s that a process waits for its turn to write to an SQLite file
_TRIES = 20  # to make the tables of a new database, which others may be making at the same time
_MADE_BY_OTHERS = ("already exists", "unique", "duplicate", "locked")  # in what databases say of that
_PACKAGES = {"psycopg": "psycopg[binary]", "psycopg2": "psycopg2-binary", "MySQLdb": "mysqlclient"}
_EXAMPLE = "sqlite:///study.db or postgresql://user:password@host/database"


class TrialOver(Exception):  # noqa: N818 - news, not an error
    """A trial was finished before, by whoever."""


class Study:
    """The trials of one name in a storage; known by their numbers, which count from 0.

    Every method raises BamError, in one line, where the database does not do its part.
    """

    def __init__(self, storage: BaseStorage, name: str, url: str | None) -> None:
        """Wrap a study that is there.

        Args:
            storage: that holds it.
            name: of it.
            url: of the storage, to name it in errors; None: memory.
        """
        self._storage = storage
        self._url = url
        with _storage_errors(url):
            self._study = storage.get_study_id_from_name(name)

    def trials(self) -> list[FrozenTrial]:
        """Return the trials that are running or complete, by number."""
        from optuna.trial import TrialState

        with _storage_errors(self._url):
            trials = self._storage.get_all_trials(
                self._study, deepcopy=False, states=(TrialState.COMPLETE, TrialState.RUNNING)
            )
        return sorted(trials, key=lambda trial: trial.number)

    def start(self, notes: Mapping[str, Any]) -> int:
        """Start a trial that holds these notes from its first moment; return its number."""
        from optuna.trial import TrialState, create_trial

        template = create_trial(state=TrialState.RUNNING, user_attrs=dict(notes))
        with _storage_errors(self._url):
            trial = self._storage.create_new_trial(self._study, template)
            return self._storage.get_trial_number_from_id(trial)

    def note(self, number: int, key: str, value: Any) -> None:
        """Write something to a running trial; raise TrialOver where it is over."""
        with _storage_errors(self._url), _news():
            self._storage.set_trial_user_attr(self._id(number), key, value)

    def finish(self, number: int, state: TrialState, value: float | None = None) -> None:
        """End a running trial; raise TrialOver where it is over."""
        values = None if value is None else [value]
        with _storage_errors(self._url), _news():
            self._storage.set_trial_state_values(self._id(number), state, values)

    def _id(self, number: int) -> int:
        return self._storage.get_trial_id_from_study_id_trial_number(self._study, number)


def open_study(name: str, url: str | None = None) -> Study:
    """Open the study of this name, or make it.

    Args:
        name: of the study; searches with different data or settings must differ in it.
        url: of the database that workers share, such as sqlite:///study.db; None keeps it in memory.

    Raises:
        BamError: this is no URL, there is no such database, no driver for it, or it cannot be used.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with _storage_errors(url):
        storage = optuna.storages.InMemoryStorage() if url is None else _open_storage(url)
        optuna.create_study(study_name=name, storage=storage, load_if_exists=True)
    return Study(storage, name, url)


def _open_storage(url: str) -> BaseStorage:
    parsed = _checked(url)
    sqlite = parsed.get_backend_name() == "sqlite"
    options = {"connect_args": {"timeout": _PATIENCE}} if sqlite else {"pool_pre_ping": True}
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
    if sqlite:
        _lock_at_begin(storage.engine)
    return storage


def _checked(url: str) -> URL:
    """Return the parts of a URL that leads to a database, as far as can be told without asking it."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    try:
        parsed = make_url(url)
        dialect = parsed.get_dialect()
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise BamError(
            f"storage {_shown(url)!r}: is not the URL of a database (expected {_EXAMPLE}); correct it"
        ) from None
    try:
        dialect.import_dbapi()
    except ImportError as error:
        package = _PACKAGES.get(error.name or "", error.name)
        raise BamError(
            f"storage {_shown(url)!r}: the driver of this database is missing (expected the Python module "
            f"{error.name}); install it, with: {sys.executable} -m pip install "
            f"'{package}'"
        ) from None
    if dialect.name == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise BamError(
                f"storage {url!r}: is in the memory of one process (expected a file, as in "
                f"sqlite:///study.db); name one, or leave the storage out"
            )
        try:
            require_file(str(parsed.database))
        except BamError as error:
            raise BamError(f"storage {url!r}: {error}") from None
    return parsed


def _lock_at_begin(engine: Engine) -> None:
    """Let transactions on an SQLite file follow one another, as they do on a server.

    By default they take the lock at their first change: of two that have read the same, the later one then
    overwrites what the earlier one changed, or fails at once.
    """
    from sqlalchemy import event

    @event.listens_for(engine, "connect")
    def leave_transactions_to_us(connection: Any, _: object) -> None:
        connection.isolation_level = None

    @event.listens_for(engine, "begin")
    def begin(connection: Any) -> None:
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    engine.dispose()  # connections made before


@contextlib.contextmanager
def _storage_errors(url: str | None) -> Iterator[None]:
    """Say in one line what is wrong with a storage."""
    if url is None:
        yield
        return
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, StorageInternalError) as error:
        raise BamError(
            f"storage {_shown(url)!r}: cannot be used ({_reason(error)}); make sure that it is there and may "
            f"be written to, then run the same command again"
        ) from None
    except KeyError:  # Optuna's word for a study or trial that is gone
        raise BamError(
            f"storage {_shown(url)!r}: its study was deleted meanwhile; run the same command again"
        ) from None
    except RuntimeError as error:
        if "table schema" not in str(error):
            raise
        raise BamError(
            f"storage {_shown(url)!r}: was made by another version of Optuna; name a new one"
        ) from None


@contextlib.contextmanager
def _news() -> Iterator[None]:
    from optuna.exceptions import UpdateFinishedTrialError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except UpdateFinishedTrialError:
            raise TrialOver from None


def _reason(error: BaseException) -> str:
    """Return the first line of what the database itself said."""
    inner = error.__cause__ or error
    lines = str(getattr(inner, "orig", None) or inner).strip().splitlines()
    return lines[0] if lines else type(inner).__name__


def _shown(url: str) -> str:
    """Return a URL without its password."""
    return re.sub(r"(://[^:@/]*):[^@]*@", r"\1:***@", url)
