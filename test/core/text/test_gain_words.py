# SPDX-License-Identifier: Apache-2.0
"""Gains of a servo in words."""

from __future__ import annotations

from bam_core.text.gain_words import gain_words


def test_gains_are_those_as_delivered_and_those_of_lerobot() -> None:
    assert gain_words(850.0, None) == ("Gain as delivered: kp 850.",)
    assert gain_words(32.0, (16, 0, 32)) == (
        "Gain as delivered: kp 32.",
        "LeRobot sets P 16, I 0, D 32 on SO-100 and SO-101: --kp 16 --kd 32.",
    )
