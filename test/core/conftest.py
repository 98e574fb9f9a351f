# SPDX-License-Identifier: Apache-2.0
"""Results that many tests report on: identified once, copied for each."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def _identified(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from report_cases import identified

    return identified(tmp_path_factory.mktemp("identified") / "results")


@pytest.fixture
def results(_identified: Path, tmp_path: Path) -> Path:
    """Directory as `bam identify` wrote it; a copy that the test may change."""
    return Path(shutil.copytree(_identified, tmp_path / "results"))


@pytest.fixture
def complete_results(results: Path) -> Path:
    """The same with uncertainties, effects and verdicts."""
    from report_cases import completed

    return completed(results)
