# SPDX-License-Identifier: Apache-2.0
"""Tests of the error root."""

from bam_core.errors import BamError, UnknownName


def test_an_unknown_name_is_answered_with_the_valid_ones_and_the_closest():
    error = UnknownName("servo", "MX-106", ["mx64", "mx106"])
    assert isinstance(error, BamError)
    assert str(error) == "servo 'MX-106': unknown (valid: mx106, mx64); did you mean 'mx106'?"


def test_a_name_that_resembles_nothing_gets_no_guess():
    assert "did you mean" not in str(UnknownName("servo", "?", ["mx64", "mx106"]))


def test_a_message_is_one_line():
    assert "\n" not in str(UnknownName("servo", "a", ["b", "c"]))
