# SPDX-License-Identifier: Apache-2.0
"""Gains of servo series: the page has those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from bam_core.servo.families import FAMILIES, LEROBOT_GAINS, family_of
from bam_core.servo.firmware_library import find_firmware

PAGE = Path(__file__).parents[3] / "docs/how-to/recordings.md"


def test_the_page_has_the_gain_of_every_series() -> None:
    rows = re.findall(r"^\| (.+) \| ([0-9]+) \|$", PAGE.read_text(), flags=re.MULTILINE)
    seen = set()
    for names, kp in rows:
        for name in names.split(", "):
            family = family_of(name)
            assert family is not None, name
            assert family.factory_kp == float(kp), name
            seen.add(family)
    assert seen == set(FAMILIES)


def test_gains_of_lerobot_are_those_of_a_law_that_has_them() -> None:
    for firmware, (p, i, d) in LEROBOT_GAINS.items():
        law = find_firmware(firmware)
        assert law.name == firmware
        assert f"P {p}, I {i} and D {d}" in PAGE.read_text()
