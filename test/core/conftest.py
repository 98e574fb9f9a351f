# SPDX-License-Identifier: Apache-2.0
"""Results that many tests report on: identified once, copied for each; the files that take longest first."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

LONGEST = (
    "core/identification/test_identify",
    "papers/dynaban/test_redo",
    "core/identification/search/test_study",
    "core/gears/test_identification",
    "studies/test_coverage",
    "papers/kikuuwe/test_redo",
    "core/cli/test_examples",
)
"""Modules that take tens of seconds: begun last, one process would be at it while the other has finished."""


def leave_out_plots(patch: pytest.MonkeyPatch) -> None:
    """Write results without plots: they take longer than a brief search, and `identification/test_writing`
    has them."""
    patch.setattr("bam_core.identification.writing._plot", lambda *_: None)


@pytest.fixture
def no_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    """Identify without diagnosis and intervals, for tests of what comes before them."""
    from test.core.identification_cases import leave_out_intervals

    leave_out_intervals(monkeypatch)


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    leave_out_plots(monkeypatch)


def _name(path: Path) -> str:
    """Return the path of a test module below `test`, without its suffix."""
    return path.relative_to(Path(__file__).parents[1]).with_suffix("").as_posix()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the longest modules; the order within a module stays as it is."""
    rank = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(_name(item.path), len(rank)))


@pytest.fixture(params=["simulated", "real"])
def xl330(request: pytest.FixtureRequest) -> Path:
    """Directory of twelve recordings of an XL330: simulated, and of the real one where they are there."""
    from test.core.identification_cases import real_xl330_logs, xl330_logs

    return xl330_logs() if request.param == "simulated" else real_xl330_logs()


@pytest.fixture(scope="session")
def _identified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from test.core.identification_cases import leave_out_intervals
    from test.core.report_cases import identified

    with pytest.MonkeyPatch.context() as patch:
        leave_out_plots(patch)
        leave_out_intervals(patch)
        return identified(tmp_path_factory.mktemp("identified") / "results")


@pytest.fixture
def results(_identified: Path, tmp_path: Path) -> Path:
    """Directory as `bam identify` wrote it; a copy that the test may change."""
    return Path(shutil.copytree(_identified, tmp_path / "results"))


@pytest.fixture
def complete_results(results: Path) -> Path:
    """The same with uncertainties, effects and verdicts."""
    from test.core.report_cases import completed

    return completed(results)
