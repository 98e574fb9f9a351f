# SPDX-License-Identifier: Apache-2.0
"""Numbers with units, as people write them: "12V", "500 g", "580 oz-in", "0.16 s/60°".

An own table of a few units takes the place of a library: pint reads any unit of any quantity, takes a third
of a second to import, and knows neither "oz-in" nor "s/60°" as data sheets have them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeAlias

from bam_core.errors import WrongType

Units: TypeAlias = Mapping[str, tuple[float, int]]
"""Unit -> factor and power: the value in SI units is factor · number**power. The first is the default."""

_KILOGRAM_FORCE = 9.80665  # N
_POUND = 0.45359237  # kg
_INCH = 0.0254  # m
_OUNCE_INCH = _POUND / 16 * _KILOGRAM_FORCE * _INCH  # N·m


def _units(**factors: float) -> Units:
    return MappingProxyType({unit: (factor, 1) for unit, factor in factors.items()})


NO_UNIT: Units = _units(**{"": 1.0})
SHARE: Units = _units(**{"": 1.0, "%": 0.01})
MASS = _units(kg=1.0, g=1e-3, lb=_POUND, oz=_POUND / 16)
LENGTH = _units(m=1.0, cm=1e-2, mm=1e-3, **{"in": _INCH})
VOLTAGE = _units(V=1.0, mV=1e-3)
CURRENT = _units(A=1.0, mA=1e-3)
TIME = _units(s=1.0, ms=1e-3, µs=1e-6)
ANGLE = _units(rad=1.0, mrad=1e-3, deg=math.pi / 180.0)
INERTIA = _units(**{"kg·m²": 1.0, "kg·cm²": 1e-4, "g·cm²": 1e-7})
TORQUE = _units(
    **{
        "N·m": 1.0,
        "kg·cm": 0.01 * _KILOGRAM_FORCE,
        "mN·m": 1e-3,
        "N·cm": 0.01,
        "oz·in": _OUNCE_INCH,
        "lb·in": 16 * _OUNCE_INCH,
    }
)
SPEED: Units = MappingProxyType(
    {
        "rad/s": (1.0, 1),
        "rpm": (math.pi / 30.0, 1),
        "deg/s": (math.pi / 180.0, 1),
        "s/60°": (math.pi / 3.0, -1),
    }
)

_NUMBER = re.compile(r"\s*([-+]?(?:inf|nan|[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*(.*)")
_SPELLINGS = (
    ("kgf", "kg"),
    ("ozf", "oz"),
    ("lbf", "lb"),
    ("lbs", "lb"),
    ("kg/cm", "kgcm"),  # misprints of data sheets, which mean the product
    ("oz/in", "ozin"),
    ("rev/min", "rpm"),
    ("r/min", "rpm"),
    ("°", "deg"),
    ("degrees", "deg"),
    ("degree", "deg"),
    ("sec", "s"),
    ("us", "µs"),
    ("\N{GREEK SMALL LETTER MU}", "µ"),
    ("²", "2"),
    ("^", ""),
)


def quantity(thing: str, text: str, units: Units = NO_UNIT) -> float:
    """Return a number in SI units; its unit may be left out.

    Args:
        thing: what has the value, as the error names it, such as "--vin".
        text: to read.
        units: that it may have; a number without one has the first.

    Raises:
        WrongType: it is no number, or has another unit.
    """
    factors = {_plain(unit): factor for unit, factor in units.items()}
    match = _NUMBER.fullmatch(text)
    unit = _plain(match[2]) if match else ""
    if not match or (unit and unit not in factors):
        raise WrongType(thing, text, expected(units))
    number = float(match[1])
    factor, power = factors[unit] if unit else next(iter(factors.values()))
    try:
        return factor * number**power
    except ZeroDivisionError:
        return math.inf


def expected(units: Units) -> str:
    """Return in words what `quantity` reads: "a number in V or mV"."""
    names = [unit for unit in units if unit]
    if not names:
        return "a number without a unit, as in 4.9"
    if "" in units:
        return f"a number, or one with {' or '.join(names)}"
    most = ", ".join(names[:-1])
    return f"a number in {most} or {names[-1]}" if most else f"a number in {names[-1]}"


def _plain(unit: str) -> str:
    """Return a unit without what people write in different ways: kg.cm, kg·cm, kgf*cm."""
    letters = re.sub(r"[\s.·*\-]", "", unit).lower()
    for spelling, usual in _SPELLINGS:
        letters = letters.replace(spelling, usual)
    return letters
