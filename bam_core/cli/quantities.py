# SPDX-License-Identifier: Apache-2.0
"""Options whose values are numbers with units, such as ``--vin 12V``."""

from __future__ import annotations

import argparse
from collections.abc import Callable

from bam_core.errors import WrongType
from bam_core.text.quantity import Units, quantity


def quantity_in(units: Units) -> Callable[[str], float]:
    """Return the ``type`` of an option: it reads a number, with or without its unit, in SI units."""

    def read(text: str) -> float:
        try:
            return quantity("", text, units)
        except WrongType as error:
            raise argparse.ArgumentTypeError(f"is {text!r} (expected {error.expected})") from None

    return read
