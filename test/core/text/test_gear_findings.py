# SPDX-License-Identifier: Apache-2.0
"""Ill-posed gears in words."""

from __future__ import annotations

from bam_core.text.gear_findings import IllPosedGear


def test_an_ill_posed_gear_has_its_number_and_cure() -> None:
    finding = IllPosedGear(servo="xl330", feedback=1.2345, input_side=0.1, output_side=1.4)
    assert "|ρ̂| is 1.23 with this load" in finding.sentence
    assert finding.sentence.endswith("Lower gear.input_side = 0.1 or gear.output_side = 1.4.")
