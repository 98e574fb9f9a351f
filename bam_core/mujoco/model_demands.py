# SPDX-License-Identifier: Apache-2.0
"""What tags of a robot description ask MuJoCo to make: elements, numbers for each of them, grids, memory."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from bam_core.errors import Malformed

MOST_COPIES = 100_000
"""Bodies that nested `replicate`, or particles that one `count`, may ask for, of some kB each."""
MOST_ELEMENTS = 500_000
"""All elements with their copies, of about 2 kB each; MuJoCo takes minutes for as many."""
MOST_CELLS = 50_000_000
"""Points of a height field or a texture, of a few bytes each."""
MOST_NUMBERS = 50_000_000
"""Numbers of 8 bytes: user data, sensor values and their history, activations."""
MOST_MEMORY = 4 << 30
"""Bytes of the arena of one simulation, ten times what the largest examples of MuJoCo take."""
MOST_KEYS = 10_000
"""Keyframes; the time that MuJoCo takes for them grows with the square."""
FINEST_MESH = 400
"""Vertices along an edge of a mesh that MuJoCo makes: their square takes 0.2 GB and some 10 s."""

_GRIDS = (
    ("nrow", "ncol"),
    ("width", "height"),
    ("offwidth", "offheight"),
    ("numslices", "numstacks"),
    ("shadowsize", "shadowsize"),
)
_PRODUCTS = {"count": MOST_COPIES, "cellcount": MOST_COPIES, "resolution": MOST_CELLS, "gridsize": MOST_CELLS}
_ONES = {
    "nkey": MOST_KEYS,
    "njmax": 8000,  # rows of constraints: 52 bytes for the square of these
    "nconmax": 200_000,  # contacts, of some 0.6 kB
    "nstack": MOST_MEMORY // 8,
    "numquads": 1000,  # of a plane that is drawn: their square
    "offsamples": 64,
    "nchannel": 4,
    "sdf_initpoints": MOST_COPIES,
}
_UNITS = {"K": 10, "M": 20, "G": 30, "T": 40, "P": 50, "E": 60}  # powers of two
_CONTACT_NUMBERS = 17  # that a contact sensor gives at most for each contact


class Tag(NamedTuple):
    """One tag of a description; one that ends itself counts as two."""

    ends: bool
    name: str
    values: dict[str, str]


@dataclass(kw_only=True)
class Demands:
    """What one description asks for so far, with all that it includes.

    Attributes:
        path: of the description, for messages.
        per_element: the most numbers that every element may have to hold, by what asks for them.
        once: numbers that are asked for once.
        samples: the longest history of a sensor or actuator.
    """

    path: Path
    per_element: dict[str, float] = field(default_factory=dict)
    once: float = 0.0
    samples: float = 1.0

    def add(self, tag: Tag) -> None:
        """Count one beginning tag; raises Malformed where it asks for too much by itself."""
        name, values = tag.name, tag.values
        for key, most in _ONES.items():
            self._require(f"{name} {key}", number(values.get(key, "0")), most)
        for key, most in _PRODUCTS.items():
            if key in values and name != "replicate":
                self._require(f"{name} {key}", math.prod(map(number, values[key].split())), most)
        for width, height in _GRIDS:
            cells = number(values.get(width, "1")) * number(values.get(height, "1"))
            self._require(f"{name} {width} by {height}", cells, MOST_CELLS)
        self._require(f"{name} memory", _bytes(values.get("memory", "0")), MOST_MEMORY)
        if "builtin" in values:
            finest = max(map(number, values.get("params", "0").split()), default=0.0)
            self._require(f"{name} params", finest, FINEST_MESH)
        for key, value in values.items():
            if key.startswith("nuser_") or key == "nkey":
                self._hold(f"{name} {key}", number(value))
            elif key == "user":
                self._hold(f"{name} user", len(value.split()))
        self.samples = max(self.samples, number(values.get("nsample", "1")))
        self.once += _own(name, values)

    def require_small(self, elements: float, copies: float) -> None:
        """Raise Malformed where all of it is too much.

        Args:
            elements: all of them, with their copies.
            copies: of one element at most, and so of its sensors.
        """
        self.require_copies(copies)
        self._require("all of it, with copies,", elements, MOST_ELEMENTS)
        for what, count in self.per_element.items():
            self._require(f"{what} for {elements:g} elements", count * elements, MOST_NUMBERS)
        self._require("data of users, sensors and actuators", self.once * copies, MOST_NUMBERS)
        self._require("nsample", self.samples * max(elements, self.once * copies), MOST_NUMBERS)

    def require_copies(self, copies: float) -> None:
        """Raise Malformed where there are too many copies of an element."""
        self._require("replicate", copies, MOST_COPIES)

    def _hold(self, what: str, count: float) -> None:
        self.per_element[what] = max(count, self.per_element.get(what, 0.0))

    def _require(self, what: str, asked: float, most: float) -> None:
        if not asked <= most:  # not a number, too
            raise Malformed(
                self.path, f"{what} asks for {asked:g}", expected=f"{most:g} at most", advice="ask for less"
            )


def _own(name: str, values: dict[str, str]) -> float:
    """Return how many numbers an element asks for beside those that each one of its kind has."""
    numbers = number(values.get("nuserdata", "0")) + number(values.get("actdim", "0"))
    if name == "user":
        numbers += number(values.get("dim", "0"))
    if name == "contact":
        numbers += _CONTACT_NUMBERS * number(values.get("num", "0"))
    if name == "numeric":
        numbers += number(values.get("size", "0"))
    return (
        numbers + math.prod(map(number, values["resolution"].split())) if "resolution" in values else numbers
    )


def number(text: str) -> float:
    """Return the size of a number in a description; 1 where it is none, which MuJoCo reports."""
    try:
        return abs(float(text))
    except ValueError:
        return 1.0


def _bytes(text: str) -> float:
    text = text.strip().upper()
    if text[-1:] in _UNITS:
        return number(text[:-1]) * 2.0 ** _UNITS[text[-1]]
    return number(text)
