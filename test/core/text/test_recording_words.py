# SPDX-License-Identifier: Apache-2.0
"""Phrases about recordings."""

from __future__ import annotations

from bam_core.text.recording_words import correction_words, run_words


def test_a_correction_has_its_value_the_headers_and_the_source_without_its_directory() -> None:
    assert correction_words("vin", 12.0, 7.4, "/home/me/data/bench.yaml") == (
        "vin 12.0 (header: 7.4; set by bench.yaml)"
    )
    assert correction_words("trajectory", "sin_sin", None, "--set") == (
        "trajectory sin_sin (not in the header; set by --set)"
    )


def test_a_run_is_its_script_load_and_gain() -> None:
    assert run_words("lift_and_drop", 1.0, 0.15, 12.0) == "lift_and_drop with 1 kg at 0.15 m, kp 12"
