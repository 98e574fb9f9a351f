# SPDX-License-Identifier: Apache-2.0
"""Parameters as people write them: the symbols of docs/symbols.md and words."""

from __future__ import annotations

import re

from markupsafe import Markup

from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.parameters import PARAMETER_UNITS

_SYMBOLS: dict[str, tuple[str, str, str]] = {  # letter, index below, index above
    "torque_constant": ("k", "t", ""),
    "resistance": ("R", "", ""),
    "armature": ("J", "m", ""),
    "viscous": ("K", "v", ""),
    "coulomb": ("K", "c", ""),
    "stribeck_coulomb": ("K", "c", "s"),
    "stribeck_velocity": ("v", "s", ""),
    "stribeck_exponent": ("α", "", ""),
    "load": ("K", "l", ""),
    "load_stribeck": ("K", "l", "s"),
    "load_motor": ("K", "m", ""),
    "load_external": ("K", "e", ""),
    "load_motor_stribeck": ("K", "m", "s"),
    "load_external_stribeck": ("K", "e", "s"),
    "quadratic_motor": ("K", "m", "q"),
    "quadratic_external": ("K", "e", "q"),
    "torque_saturation": ("s", "", ""),
    "winding_heating": ("h", "", ""),
    "friction_temperature": ("γ", "", ""),
    "bridge_coasting": ("β", "", ""),
    "firmware_gain": ("g", "", ""),
    "limit_shortfall": ("x", "", ""),
    "sensor_delay": ("t", "s", ""),
    "friction_direction": ("a", "", ""),
    "zero_offset": ("θ", "0", ""),
    "command_delay": ("t", "d", ""),
    "arm_compliance": ("c", "a", ""),
    "arm_backlash": ("b", "a", ""),
    "arm_mass": ("m", "a", ""),
    "supply_ripple": ("r", "", ""),
    "load_gyration": ("r", "g", ""),
}

_MODEL = re.compile(rf"\b({'|'.join(FRICTION_MODELS)})\b")


def words(name: str) -> str:
    """Return a name in words: "stribeck_velocity" -> "Stribeck velocity"."""
    return name.replace("_", " ").replace("stribeck", "Stribeck").replace("coulomb", "Coulomb")


def model_names(text: str) -> str:
    """Call friction models in a text what the page calls them: "m4" -> "M4"."""
    return _MODEL.sub(lambda match: match[0].upper(), text)


def symbol(name: str) -> Markup:
    """Return a parameter's symbol as HTML; its name in words where it has none."""
    if name not in _SYMBOLS:
        return Markup("<span>{}</span>").format(words(name))
    letter, below, above = _SYMBOLS[name]
    html = Markup("<i>{}</i>").format(letter)
    if below:
        html += Markup("<sub>{}</sub>").format(below)
    if above:
        html += Markup("<sup>{}</sup>").format(above)
    return html


def unit(name: str) -> str:
    """Return a parameter's SI unit; nothing where it has none."""
    return PARAMETER_UNITS.get(name, "").replace("-", "")


def breakable(name: str) -> Markup:
    """Return a log's name as HTML that may break after every underscore, which narrow screens need."""
    return Markup("_<wbr>").join(name.split("_"))
