# SPDX-License-Identifier: Apache-2.0
"""Velocity and acceleration from sampled positions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import correlate1d
from scipy.signal import butter, savgol_coeffs, sosfiltfilt

from bam_core.arrays import Array
from bam_core.errors import BadData, OutOfRange, UnknownName
from bam_core.whole_body.joint_log import JointLog


class Scheme(ABC):
    """A way to differentiate evenly sampled signals, along their first axis.

    The results have the length of the signal; `before` and `after` have how many samples at either end they
    have no support for.
    """

    @property
    @abstractmethod
    def before(self) -> int:
        """Samples at the start without support."""

    @property
    @abstractmethod
    def after(self) -> int:
        """Samples at the end without support."""

    @abstractmethod
    def smooth(self, signal: Array, dt: float) -> Array:
        """Return the signal as the derivatives see it, in time with them."""

    @abstractmethod
    def first(self, signal: Array, dt: float) -> Array:
        """Return the first derivative, per s."""

    @abstractmethod
    def second(self, signal: Array, dt: float) -> Array:
        """Return the second derivative, per s²."""

    @property
    def reach(self) -> int:
        """How many samples to either side count."""
        return max(self.before, self.after)

    def kernel(self, derivative: int, dt: float) -> Array:
        """Return the weights of the samples around one, odd in number, in the order of time."""
        half = self.reach
        impulse = np.zeros(4 * half + 1)
        impulse[2 * half] = 1.0
        return np.asarray(
            (self.smooth, self.first, self.second)[derivative](impulse, dt)[half : 3 * half + 1]
        )[::-1]


@dataclass(frozen=True)
class CentralDifference(Scheme):
    """Egle's equation (6.2), applied twice for the second derivative: needs the future, adds no delay."""

    @property
    def before(self) -> int:
        """Two samples."""
        return 2

    @property
    def after(self) -> int:
        """Two samples."""
        return 2

    def smooth(self, signal: Array, dt: float) -> Array:
        """Return the signal itself."""
        return signal

    def first(self, signal: Array, dt: float) -> Array:
        """Return (y[n+1] - y[n-1]) / 2Δt."""
        return (_later(signal, 1) - _later(signal, -1)) / (2.0 * dt)

    def second(self, signal: Array, dt: float) -> Array:
        """Return the same of the same."""
        return self.first(self.first(signal, dt), dt)


@dataclass(frozen=True)
class SavitzkyGolay(Scheme):
    """Polynomials fitted to a window around each sample, Egle's equations (7.1) to (7.8), unweighted.

    Attributes:
        window: L, samples, odd.
        order: k, of the polynomial, at least 2.

    Raises:
        BamError: the window is even or not longer than the order, or the order below 2.
    """

    window: int
    order: int = 4

    def __post_init__(self) -> None:
        if self.order < 2 or self.window % 2 == 0 or self.window <= self.order:
            raise OutOfRange(
                "Savitzky-Golay window",
                self.window,
                "an odd number above the order, and an order of 2 at least",
                printed=f"{self.window} samples at order {self.order}",
            )

    @property
    def before(self) -> int:
        """Half the window, samples."""
        return self.window // 2

    @property
    def after(self) -> int:
        """The same."""
        return self.before

    def smooth(self, signal: Array, dt: float) -> Array:
        """Return a₀ of (7.7)."""
        return self._convolve(signal, dt, 0)

    def first(self, signal: Array, dt: float) -> Array:
        """Return a₁ of the polynomial, per s."""
        return self._convolve(signal, dt, 1)

    def second(self, signal: Array, dt: float) -> Array:
        """Return 2·a₂ of the polynomial, per s²."""
        return self._convolve(signal, dt, 2)

    def _convolve(self, signal: Array, dt: float, derivative: int) -> Array:
        weights = savgol_coeffs(self.window, self.order, deriv=derivative, delta=dt, use="dot")
        if (
            derivative
        ):  # exactly none of a constant: far from zero, a rounded sum of weights is no small matter
            signal = signal - signal[:1]
            weights -= weights.mean()
        return np.asarray(correlate1d(signal, weights, axis=0, mode="nearest"))


@dataclass(frozen=True)
class ZeroPhaseButterworth(Scheme):
    """Central differences behind a Butterworth low-pass that runs forwards and backwards (Egle 7.1.2).

    Attributes:
        cutoff: Hz, of one pass; both together take 6 dB there.
        order: of one pass.

    Raises:
        BamError: the cutoff is not positive.
    """

    cutoff: float
    order: int = 6
    dt: float = 1e-3

    def __post_init__(self) -> None:
        if not 0.0 < self.cutoff < 0.5 / self.dt:
            raise OutOfRange(
                "Butterworth cutoff",
                self.cutoff,
                f"more than 0 and less than half the sampling rate, {0.5 / self.dt:g} Hz",
                printed=f"{self.cutoff:g} Hz",
            )

    @property
    def before(self) -> int:
        """How long the filter rings, samples."""
        return round(4.0 / (self.cutoff * self.dt)) + 2

    @property
    def after(self) -> int:
        """The same."""
        return self.before

    @property
    def reach(self) -> int:
        """Until the ringing is as good as over, samples."""
        return 2 * self.before

    def smooth(self, signal: Array, dt: float) -> Array:
        """Return the signal, filtered."""
        sections = butter(self.order, self.cutoff, fs=1.0 / dt, output="sos")
        pad = min(len(signal) - 1, 3 * self.before)
        return np.asarray(sosfiltfilt(sections, signal, axis=0, padlen=pad))

    def first(self, signal: Array, dt: float) -> Array:
        """Return (6.2) of the filtered signal."""
        return CentralDifference().first(self.smooth(signal, dt), dt)

    def second(self, signal: Array, dt: float) -> Array:
        """Return (6.2) of that again."""
        return CentralDifference().second(self.smooth(signal, dt), dt)


@dataclass(frozen=True, kw_only=True)
class Motion:
    """A log with derivatives: what an estimate of friction starts from.

    Attributes:
        log: of the robot, arranged.
        position, velocity, acceleration: (n, k) rad, rad/s, rad/s².
        effort: (n, k) N·m, filtered as the positions are; NaN for held joints without one.
        valid: (n,) bool, samples whose derivatives rest on real samples.
    """

    log: JointLog
    position: Array
    velocity: Array
    acceleration: Array
    effort: Array
    valid: NDArray[np.bool_]


def differentiate(log: JointLog, scheme: Scheme | Mapping[str, Scheme]) -> Motion:
    """Return a log's motion; stretches between lost samples are differentiated each on its own.

    Args:
        log: of the robot.
        scheme: for all joints, or one for each.

    Raises:
        BamError: a joint has no scheme, or no stretch is long enough for it.
    """
    shape = log.position.shape
    position, velocity, acceleration, effort = (np.full(shape, np.nan) for _ in range(4))
    valid = np.zeros(len(log), dtype=bool)
    groups = _grouped(log.names, scheme)
    for stretch in log.stretches:
        count = stretch.stop - stretch.start
        before = max(group.before for group in groups)
        after = max(group.after for group in groups)
        if count <= before + after:
            continue
        valid[stretch.start + before : stretch.stop - after] = True
        for scheme_of_group, columns in groups.items():
            block = log.position[stretch, columns]
            position[stretch, columns] = scheme_of_group.smooth(block, log.dt)
            velocity[stretch, columns] = scheme_of_group.first(block, log.dt)
            acceleration[stretch, columns] = scheme_of_group.second(block, log.dt)
            known = [column for column in columns if np.isfinite(log.effort[stretch, column]).all()]
            effort[stretch, known] = scheme_of_group.smooth(log.effort[stretch, known], log.dt)
    if not valid.any():
        need = max(group.before + group.after for group in groups) + 1
        raise BadData(
            "joint log",
            f"no stretch without a lost sample has {need} samples, which the derivatives need",
            advice="lose fewer samples, or take a shorter window",
        )
    return Motion(
        log=log, position=position, velocity=velocity, acceleration=acceleration, effort=effort, valid=valid
    )


def _grouped(names: tuple[str, ...], scheme: Scheme | Mapping[str, Scheme]) -> dict[Scheme, list[int]]:
    if isinstance(scheme, Scheme):
        return {scheme: list(range(len(names)))}
    groups: dict[Scheme, list[int]] = {}
    for column, name in enumerate(names):
        if name not in scheme:
            raise UnknownName("joint with a scheme of derivatives", name, scheme)
        groups.setdefault(scheme[name], []).append(column)
    return groups


def _later(signal: Array, by: int) -> Array:
    """Return y[n + by], the ends repeated."""
    indices = np.clip(np.arange(len(signal)) + by, 0, len(signal) - 1)
    return np.asarray(signal[indices])
