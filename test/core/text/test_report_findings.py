# SPDX-License-Identifier: Apache-2.0
"""A report's notes in words."""

from __future__ import annotations

from bam_core.text.report_findings import PARTS, SMALL, MissingParts, NeededUndetermined
from test.core.text.test_findings import MOST_WORDS, words


def test_parts_of_an_older_directory_are_named() -> None:
    assert MissingParts(parts=("verdict", "per_log")).sentence == (
        "Not in this directory, written by an older version: verdict, errors of logs. "
        "Run bam identify again for it."
    )
    assert words(MissingParts(parts=tuple(PARTS)).sentences[0]) <= MOST_WORDS


def test_an_effect_can_be_needed_and_not_determined() -> None:
    assert NeededUndetermined(effects=("zero offset",)).sentences[0] == (
        "Needed, though these logs do not determine the value: zero offset."
    )


def test_a_small_parameter_is_compared_with_its_range() -> None:
    assert SMALL == "Small compared with its search range."
