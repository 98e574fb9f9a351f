# SPDX-License-Identifier: Apache-2.0
"""What all tests share: builds that are not stale, one thread of BLAS, the examples that Hypothesis draws.

The examples are the same in every run of `make test`, and others in `make test-random`.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

# Tests run side by side, where threads of BLAS mostly wait for each other and compute while they do, as in
# `one_blas_thread`. NumPy reads this when it is imported, which no test has done yet.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No deadlines: what a machine takes for an example says nothing about the law that is tested. No database:
# what was found once would be tried on one machine only; findings become `@example`.
_ALWAYS = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fixed", derandomize=True, **_ALWAYS)
settings.register_profile("random", derandomize=False, print_blob=True, **_ALWAYS)
settings.load_profile("fixed")

# Hypothesis mixes constants into its examples that it finds in the source of loaded modules. Which are loaded
# depends on the tests that ran before, and their constants on the version of the source.
providers._get_local_constants = providers.Constants  # type: ignore[assignment]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rounds", type=int, default=1, help="draw the examples of each property so many times")


def pytest_sessionstart(session: pytest.Session) -> None:
    """End where a build is stale: tests would fail for no fault of the sources, or pass in spite of one."""
    if hasattr(session.config, "workerinput"):
        return  # the process that started this one has looked
    from test.builds import stale_builds

    if stale := stale_builds():
        pytest.exit(f"{', '.join(stale)}: built from other sources (expected these); run `make setup`", 4)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Repeat the tests of properties; `make test-random` gives each repetition other examples."""
    rounds = metafunc.config.getoption("--rounds")
    if rounds > 1 and is_hypothesis_test(metafunc.function):
        metafunc.fixturenames.append("_round")
        metafunc.parametrize("_round", range(rounds), indirect=True)


@pytest.fixture(scope="session")
def _round(request: pytest.FixtureRequest) -> int:
    return int(request.param)
