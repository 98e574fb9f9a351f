# SPDX-License-Identifier: Apache-2.0
"""Short phrases about recordings: what was set from outside, which run it is."""

from __future__ import annotations

from pathlib import PurePath


def correction_words(field: str, value: object, before: object, source: str) -> str:
    """Return what was set in a header: "vin 12.0 (header: 7.4; set by bench.yaml)".

    A file is named without its directory: a servo file goes to other machines.

    Args:
        field: of the header.
        value: that counts.
        before: in the header; None where it has none.
        source: an option, or a path.
    """
    header = "not in the header" if before is None else f"header: {before}"
    return f"{field} {value} ({header}; set by {PurePath(source).name})"


def run_words(script: str, mass: float, length: float, kp: float) -> str:
    """Return a run on the bench: "lift_and_drop with 1 kg at 0.15 m, kp 12".

    Args:
        script: name.
        mass: kg.
        length: m.
        kp: position gain, firmware units.
    """
    return f"{script} with {mass:g} kg at {length:g} m, kp {kp:g}"
