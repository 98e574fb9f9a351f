# SPDX-License-Identifier: Apache-2.0
"""AL status codes in words."""

from __future__ import annotations

from bam_ros.text.al_status_words import slave_words


def test_a_slave_with_an_error_is_shown_with_its_code_by_name() -> None:
    assert slave_words("OP") == "OP"
    assert slave_words("SAFE-OP", 0x1B) == (
        "SAFE-OP+ERROR (AL status 0x001B, sync manager watchdog: process data stayed away)"
    )
    assert slave_words("INIT", 0x8001) == "INIT+ERROR (AL status 0x8001, vendor specific)"
