# SPDX-License-Identifier: Apache-2.0
"""What tests of several papers share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def folder() -> Path:
    """The humanoid's squats; claims about them are on real data alone."""
    path = Path(__file__).parents[3].parent / "shared" / "data" / "sigmaban"
    if not path.is_dir():
        pytest.skip(f"no squats of a real humanoid in {path}")
    return path
