# SPDX-License-Identifier: Apache-2.0
"""What a program or permission that this machine lacks means: a test is skipped and says so.

With BAM_REQUIRE_ALL=1, as in CI, it fails.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import pytest

from bam_core.errors import BamError

REQUIRE_ALL = os.environ.get("BAM_REQUIRE_ALL") == "1"


def skip_or_fail(missing: str) -> NoReturn:
    """Skip the test, or fail it where nothing may be missing.

    Args:
        missing: what is, and how to get it.
    """
    if REQUIRE_ALL:
        pytest.fail(f"{missing} (BAM_REQUIRE_ALL is set: nothing may be missing)")
    pytest.skip(missing)


@contextmanager
def raw_frames() -> Iterator[None]:
    """Skip the test, or fail it, where this user may not send raw frames or make pairs of interfaces."""
    try:
        yield
    except BamError as error:
        if "CAP_" in str(error):
            skip_or_fail(str(error))
        raise
