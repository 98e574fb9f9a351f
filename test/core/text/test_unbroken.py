# SPDX-License-Identifier: Apache-2.0
"""Lines break between words only."""

from __future__ import annotations

from bam_core.text.unbroken import unbroken


def test_a_number_stays_with_its_unit() -> None:
    assert unbroken("by 1.8 mrad, 5 % of m 4") == (
        "by 1.8\N{NO-BREAK SPACE}mrad, 5\N{NO-BREAK SPACE}% of m 4"
    )
