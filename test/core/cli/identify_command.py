# SPDX-License-Identifier: Apache-2.0
"""`bam identify` with few options, for tests."""

from __future__ import annotations

import pytest

from bam_core.cli import main


def run(*words: object) -> int:
    return main(["identify", *map(str, words)])


def brief(*words: object) -> list[object]:
    return [*words, "--servo", "xl330", "--effects", "none", "--trials", 60, "--uncertainty", "none"]


without_intervals = pytest.mark.usefixtures("no_intervals")
