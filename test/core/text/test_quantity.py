# SPDX-License-Identifier: Apache-2.0
"""Numbers with units, as options and data sheets have them."""

from __future__ import annotations

import math

import pytest

from bam_core.errors import WrongType
from bam_core.text.quantity import (
    ANGLE,
    INERTIA,
    LENGTH,
    MASS,
    NO_UNIT,
    SHARE,
    SPEED,
    TIME,
    TORQUE,
    VOLTAGE,
    Units,
    quantity,
)


@pytest.mark.parametrize(
    ("text", "units", "value"),
    [
        ("15V", VOLTAGE, 15.0),
        (" 7400 mV ", VOLTAGE, 7.4),
        ("-1.5e-1", VOLTAGE, -0.15),
        ("5.", VOLTAGE, 5.0),
        ("500g", MASS, 0.5),
        ("1 lb", MASS, 0.45359237),
        ("10cm", LENGTH, 0.1),
        ("4 in", LENGTH, 0.1016),
        ("580 oz-in", TORQUE, 580 * 0.0070615518),
        ("580 ozf·in", TORQUE, 580 * 0.0070615518),
        ("36 lb.in", TORQUE, 36 * 0.1129848290),
        ("30 kg/cm", TORQUE, 30 * 0.0980665),
        ("75 rev/min", SPEED, 2.5 * math.pi),
        ("0.2 sec/60 degrees", SPEED, math.pi / 3 / 0.2),
        ("0 s/60°", SPEED, math.inf),
        ("5ms", TIME, 0.005),
        ("500 us", TIME, 0.0005),
        ("500 \N{GREEK SMALL LETTER MU}s", TIME, 0.0005),
        ("2°", ANGLE, math.pi / 90),
        ("120 g·cm^2", INERTIA, 1.2e-5),
        ("3 %", SHARE, 0.03),
        ("0.03", SHARE, 0.03),
        ("32", NO_UNIT, 32.0),
        ("inf", TIME, math.inf),
    ],
)
def test_a_number_is_read_in_si_units_with_or_without_its_unit(text: str, units: Units, value: float) -> None:
    assert quantity("--x", text, units) == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize(
    ("text", "units"),
    [("15A", VOLTAGE), ("V", VOLTAGE), ("", VOLTAGE), ("1,5", VOLTAGE), ("32 rad", NO_UNIT)],
)
def test_another_unit_or_no_number_is_refused_with_the_units_that_fit(text: str, units: Units) -> None:
    with pytest.raises(WrongType) as caught:
        quantity("--x", text, units)
    assert (caught.value.thing, caught.value.value) == ("--x", text)
    assert all(unit in caught.value.expected for unit in units)
