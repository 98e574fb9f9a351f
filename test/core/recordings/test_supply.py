# SPDX-License-Identifier: Apache-2.0
"""A supply that is none of the servo named is one finding; those that its users run are none."""

from __future__ import annotations

import pytest

from bam_core.recordings.supply import unusual_supplies
from bam_core.servo.model import load_servo


@pytest.mark.parametrize(
    ("servo", "supply"), [("sts3215", 12.0), ("xl330", 5.0), ("mx106_2", 15.0), ("mx106", 12.0)]
)
def test_a_usual_supply_is_none(servo: str, supply: float) -> None:
    assert not list(unusual_supplies([load_servo(servo)], [supply, None]))


@pytest.mark.parametrize(("servo", "supply", "nominal"), [("sts3215", 7.4, 12.0), ("sts3215_7v4", 12.0, 7.4)])
def test_the_supply_of_another_version_is_one_finding(servo: str, supply: float, nominal: float) -> None:
    (finding,) = unusual_supplies([load_servo(servo)] * 2, [supply, supply, None])
    assert (finding.servo, finding.supply, finding.nominal) == (servo, supply, nominal)
