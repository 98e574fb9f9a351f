# SPDX-License-Identifier: Apache-2.0
"""The four test paths of BAM fig. 6: circle, square, square wave, triangular wave, at constant speed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import ArrayLike

from bam_core.arrays import Array
from bam_core.errors import UnknownName
from papers.bam.two_link import TwoLinkArm


@dataclass(frozen=True, kw_only=True, eq=False)
class Path:
    """A path of corners that are joined by straight lines; it starts and ends at rest.

    Attributes:
        name: key in PATHS.
        corners: (n, 2) in units of the arm's path size, around the arm's path centre.
        duration: from end to end, s.
    """

    name: str
    corners: Array
    duration: float = 8.0


def _circle() -> Array:
    angle = np.linspace(0.0, 2.0 * np.pi, 721)
    return np.stack([np.cos(angle), np.sin(angle)], axis=-1)


def _square() -> Array:
    return np.array([[1.0, 0.0], [1, 1], [-1, 1], [-1, -1], [1, -1], [1, 0]])


def _square_wave(periods: int = 3) -> Array:
    corners = []
    for period in range(periods):
        left, middle = -1.0 + 2.0 * period / periods, -1.0 + 2.0 * (period + 0.5) / periods
        right = -1.0 + 2.0 * (period + 1) / periods
        corners += [[left, -0.6], [left, 0.6], [middle, 0.6], [middle, -0.6], [right, -0.6]]
    return np.array(corners)


def _triangular_wave(periods: int = 3) -> Array:
    count = 2 * periods + 1
    return np.stack([np.linspace(-1.0, 1.0, count), np.where(np.arange(count) % 2, 0.6, -0.6)], axis=-1)


PATHS: Mapping[str, Path] = MappingProxyType(
    {
        path.name: path
        for path in (
            Path(name="circle", corners=_circle()),
            Path(name="square", corners=_square()),
            Path(name="square_wave", corners=_square_wave()),
            Path(name="triangular_wave", corners=_triangular_wave()),
        )
    }
)
"""By name."""


def path_points(arm: TwoLinkArm, name: str, time: ArrayLike) -> Array:
    """Return where the tip shall be, (n, 2) m from the shoulder, at (n,) times in s; it waits at the ends.

    Raises:
        BamError: no such path.
    """
    if name not in PATHS:
        raise UnknownName("path", name, PATHS)
    path = PATHS[name]
    corners = np.asarray(arm.centre) + arm.size * path.corners
    way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(corners, axis=0), axis=1))])
    share = np.clip(np.asarray(time, dtype=np.float64) / path.duration, 0.0, 1.0)
    return np.stack([np.interp(share * way[-1], way, corners[:, axis]) for axis in range(2)], axis=-1)
