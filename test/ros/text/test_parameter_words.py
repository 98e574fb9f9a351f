# SPDX-License-Identifier: Apache-2.0
"""What the help of nodes adds to parameters, in words."""

from __future__ import annotations

from bam_ros.text.parameter_words import bounds_words


def test_a_parameter_has_its_range_and_whether_it_may_change() -> None:
    assert bounds_words(1.0, 1000.0, read_only=True) == " [1 to 1000]"
    assert bounds_words(0.0, 0.5, read_only=False) == " [0 to 0.5]; may change while the node runs"
    assert bounds_words(None, None, read_only=False) == "; may change while the node runs"
    assert bounds_words(None, None, read_only=True) == ""
