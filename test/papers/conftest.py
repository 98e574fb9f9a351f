# SPDX-License-Identifier: Apache-2.0
"""What tests of several papers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from test.documented import ROOT


@pytest.fixture(scope="session")
def folder() -> Path:
    """The humanoid's squats; claims about them are on real data alone."""
    path = ROOT.parent / "shared" / "data" / "sigmaban"
    if not path.is_dir():
        pytest.skip(f"no squats of a real humanoid in {path}")
    return path


@pytest.fixture(params=["simulated", "real"])
def xl330(request: pytest.FixtureRequest) -> Path:
    """Directory of twelve recordings of an XL330: simulated, and of the real one where they are there."""
    from test.core.identification_cases import real_xl330_logs, xl330_logs

    return xl330_logs() if request.param == "simulated" else real_xl330_logs()
