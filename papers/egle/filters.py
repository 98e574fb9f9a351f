# SPDX-License-Identifier: Apache-2.0
"""Egle's figures 7.1 to 7.4a: what filters do to accelerations and to friction whose law is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import find_peaks

from bam_core.arrays import Array
from bam_core.plots.save import save_figure
from bam_core.whole_body import (
    FrictionEstimate,
    SavitzkyGolay,
    Scheme,
    ZeroPhaseButterworth,
    differentiate,
    estimate_friction,
    power_check,
    single_support,
)
from papers.claim import Claim, claim
from papers.egle.acceleration_plots import Filtered, plot_accelerations, plot_power
from papers.egle.common import VERY_ACCURATE, Say, root_mean_square
from papers.egle.gait import Support
from papers.egle.humanoid import SOLES
from papers.egle.joint_friction_plots import plot_curves, plot_spectra
from papers.egle.walks import CLEAN, KNEE, KNEE_FRICTION, Walks

_CUTOFF = 10.0  # Hz, of the thesis' Butterworth filter
_LONGEST = 151  # samples, of figs. 7.3 and 7.4
_FAST = 0.6  # rad/s, from which the Stribeck curve is over: 3·v_s
_MARGIN = 0.1  # s at each end of a swing; half the longest window would reach beyond lift-off at 0.075 s
_HIP = "right_hip_pitch"
_ALIKE = 1.3  # ratio of errors below which two curves look alike
_LEAST_VISIBLE_SHIFT = 0.01  # s
_RINGING_TIME = 0.25  # s; the Butterworth filter has rung out by then


def filters(output: Path, walks: Walks, say: Say) -> list[Claim]:
    """Redo figures 7.1, 7.2, 7.3a and 7.4a with clean signals and friction in the right knee, as there."""
    robot, log = walks.robot, walks.knee.log.arranged(walks.robot)
    swing = single_support(log, SOLES[1])
    schemes: dict[str, Scheme] = {
        "unfiltered": CLEAN,
        "S-G L=51": SavitzkyGolay(51),
        "S-G L=101": SavitzkyGolay(101),
        f"S-G L={_LONGEST}": SavitzkyGolay(_LONGEST),
        f"Butterworth {_CUTOFF:g} Hz": ZeroPhaseButterworth(_CUTOFF),
    }
    estimates: dict[str, FrictionEstimate] = {}
    for name, scheme in schemes.items():
        say(f"figure 7.2: {name}")
        estimates[name] = estimate_friction(robot, differentiate(log, scheme), swing)
    curves = [(name, *_curve(estimate, swing)) for name, estimate in estimates.items()]
    laws = dict.fromkeys(estimates, KNEE_FRICTION)
    title = "Right knee, clean signals: what filters do to its friction (fig. 7.2)"
    save_figure(plot_curves(title, curves, laws, columns=3, share=True), output / "filters.png")
    step = [support for support in walks.knee.supports if support.feet == (SOLES[1],)][1]
    part = _part(log.time, step)
    drawn = {
        name: _filtered(walks, scheme, estimates[name], part)
        for name, scheme in schemes.items()
        if name in ("unfiltered", f"S-G L={_LONGEST}")
    }
    time = log.time[part]
    save_figure(plot_accelerations(time, drawn), output / "accelerations.png")
    save_figure(plot_power(time, drawn), output / "power.png")
    amplitudes, frequency = _spectra(walks, estimates["unfiltered"], part)
    save_figure(plot_spectra(frequency, amplitudes, _CUTOFF), output / "spectra.png")
    errors = {name: _errors(walks, estimate, swing) for name, estimate in estimates.items()}
    inner = _inner(walks, swing)
    middle = {name: _errors(walks, estimate, inner)[0] for name, estimate in estimates.items()}
    return [
        _spectrum_claim(frequency, amplitudes),
        *filter_claims(errors, middle),
        *_power_claims(estimates, _moved(walks, estimates)),
    ]


def filter_claims(errors: dict[str, tuple[float, float]], middle: dict[str, float]) -> list[Claim]:
    """Return what is said of figure 7.2.

    Args:
        errors: by filter, RMS near rest and at higher speeds, N·m.
        middle: the same near rest, far from lift-off and touch-down.
    """
    savitzky, butterworth = f"S-G L={_LONGEST}", f"Butterworth {_CUTOFF:g} Hz"
    longest, butter = errors[savitzky], errors[butterworth]
    ratio_inside = middle[butterworth] / middle[savitzky]
    slow, fast = (butter[index] / longest[index] for index in (0, 1))
    is_accurate = errors["unfiltered"][0] < VERY_ACCURATE * KNEE_FRICTION.coulomb
    windows = [errors[f"S-G L={length}"][0] for length in (51, 101, _LONGEST)]
    return [
        claim(
            "construction",
            "figure 7.2, near rest, error of S-G with L = 51, 101, 151",
            "deformed more with decreasing cutoff",
            ", ".join(f"{error:.3f}" for error in windows),
            windows[0] < windows[1] < windows[2] and is_accurate,
            "'more': each larger than the one before, where friction is found very accurately without a"
            " filter",
            "N·m",
            contradicts=True,
        ),
        claim(
            "construction",
            f"figure 7.2, near rest, error of Butterworth {_CUTOFF:g} Hz over S-G L={_LONGEST}",
            "very similar (1)",
            slow,
            1.0 / _ALIKE < slow < _ALIKE and is_accurate,
            "±30 %: curves that differ by a third no longer look alike; without a filter friction is found"
            f" very accurately, to {VERY_ACCURATE:.0%} of F_c, for where none is found, all err alike",
            contradicts=not 1.0 / _ALIKE < ratio_inside < _ALIKE,
            reason=f"from {_RINGING_TIME:g} s after lift-off to {_RINGING_TIME:g} s before touch-down"
            f" it is {ratio_inside:.2f}: forward and backward, the Butterworth filter rings, and brings"
            " impacts from further away into the swing than the window of S-G",
        ),
        claim(
            "construction",
            f"figure 7.2, at higher speeds, error of Butterworth {_CUTOFF:g} Hz over S-G L={_LONGEST}",
            "S-G better (> 1)",
            fast,
            fast > 1.0,
            "'better': the smaller error, beyond 3·v_s",
            contradicts=True,
        ),
    ]


def _spectrum_claim(frequency: Array, amplitudes: dict[str, Array]) -> Claim:
    beyond = 0.0
    for amplitude in amplitudes.values():
        _, peaks = find_peaks(amplitude[frequency > _CUTOFF], prominence=0.0)
        largest = float(amplitude.max())
        prominence = float(np.max(peaks["prominences"], initial=0.0))
        beyond = max(beyond, prominence / largest if largest > 0.0 else float("inf"))  # nothing moves
    return claim(
        "construction",
        f"figure 7.1, knee and hip pitch, most prominent peak beyond {_CUTOFF:g} Hz, share of the largest",
        "none to be distinguished",
        beyond,
        beyond < 0.05,
        "a twentieth of the axis: less than is seen in such a figure",
        contradicts=True,
    )


def _power_claims(estimates: dict[str, FrictionEstimate], moved: Sequence[float]) -> list[Claim]:
    clean = next(check for check in power_check(estimates["unfiltered"]) if check.joint == KNEE)
    column = estimates["unfiltered"].column(KNEE)
    size = root_mean_square(estimates["unfiltered"].torque[:, column])
    speed = float(np.nanmax(np.abs(estimates["unfiltered"].velocity[:, column])))
    return [
        claim(
            "construction",
            "figure 7.4a, right knee swings, samples in which friction drives it (7.9)",
            0.0,
            100.0 * clean.share,
            clean.share < 0.005 and size > 0.5 * KNEE_FRICTION.coulomb and speed > _FAST,
            "'opposite signs everywhere': half a per cent for samples at the reversal itself, where rounding"
            f" of derivatives decides; of friction that is there, RMS {size:.2f} N·m, more than half of F_c,"
            f" in a knee that moves faster than {_FAST:g} rad/s",
            "%",
        ),
        claim(
            "construction",
            f"figure 7.4a, where Δq̈ is zero, moved by the filter with L = {_LONGEST}, most of"
            f" {len(moved)} places in all swings of the leg",
            "not significantly changed",
            1e3 * max(moved, default=np.inf),
            max(moved, default=np.inf) < _LEAST_VISIBLE_SHIFT,
            f"{1e3 * _LEAST_VISIBLE_SHIFT:g} ms of a swing of 800 ms: no more is seen in the figure",
            "ms",
            reason="the filter mixes friction from before and after a reversal, over 151 ms",
        ),
    ]


def _moved(walks: Walks, estimates: Mapping[str, FrictionEstimate]) -> list[float]:
    """Return by how much the longest filter moves each place where Δq̈ of the knee is zero, s."""
    time, moved = walks.knee.log.time, []
    for support in walks.knee.supports:
        if support.feet == (SOLES[1],):
            part = _part(time, support)
            unfiltered, filtered = (
                _crossings(time[part], _lacking(estimates[name], KNEE, part))
                for name in ("unfiltered", f"S-G L={_LONGEST}")
            )
            moved += [float(np.min(np.abs(filtered - place), initial=np.inf)) for place in unfiltered]
    return moved


def _part(time: Array, support: Support) -> slice:
    """Return the samples of a swing without its ends."""
    begin, end = np.searchsorted(time, (support.start + _MARGIN, support.end - _MARGIN))
    return slice(int(begin), int(end))


def _inner(walks: Walks, swing: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which samples of swings are far from lift-off and touch-down."""
    time = walks.knee.log.time
    is_inner = np.zeros_like(swing)
    for support in walks.knee.supports:
        is_inner |= (time > support.start + _RINGING_TIME) & (time < support.end - _RINGING_TIME)
    return np.asarray(swing & is_inner)


def _crossings(time: Array, signal: Array) -> Array:
    """Return when a signal is zero, between samples by straight lines."""
    before = np.flatnonzero(signal[:-1] * signal[1:] < 0.0)
    share = signal[before] / (signal[before] - signal[before + 1])
    return np.asarray(time[before] + share * (time[before + 1] - time[before]))


def _filtered(walks: Walks, scheme: Scheme, estimate: FrictionEstimate, part: slice) -> Filtered:
    """Return what figures 7.3a and 7.4a draw."""
    log = walks.knee.log.arranged(walks.robot)
    column = estimate.column(KNEE)
    lacking = _lacking(estimate, KNEE, part)
    measured = differentiate(log, scheme).acceleration[part, log.names.index(KNEE)]
    return Filtered(
        velocity=estimate.velocity[part, column],
        measured=measured,
        expected=measured - lacking,
        lacking=lacking,
    )


def _lacking(estimate: FrictionEstimate, joint: str, part: slice) -> Array:
    """Return Δq̈ = M_mod⁻¹·τ_f of a joint, (n,) rad/s²."""
    inverse = np.linalg.inv(estimate.inertia[part])[:, estimate.column(joint)]
    return np.asarray(np.einsum("nj,nj->n", inverse, estimate.torque[part]))


def _spectra(walks: Walks, estimate: FrictionEstimate, part: slice) -> tuple[dict[str, Array], Array]:
    log = walks.knee.log.arranged(walks.robot)
    motion = differentiate(log, CLEAN)
    frequency = np.asarray(np.fft.rfftfreq(4096, log.dt), dtype=np.float64)
    amplitudes = {}
    for joint in (KNEE, _HIP):
        expected = motion.acceleration[part, log.names.index(joint)] - _lacking(estimate, joint, part)
        window = np.hanning(len(expected))
        spectrum = np.abs(np.fft.rfft((expected - expected.mean()) * window, 4096))
        amplitudes[joint] = spectrum * 2.0 / window.sum()
    return amplitudes, frequency


def _curve(estimate: FrictionEstimate, used: NDArray[np.bool_]) -> tuple[Array, Array]:
    column = estimate.column(KNEE)
    known = used & np.isfinite(estimate.torque[:, column])
    return estimate.velocity[known, column], -estimate.torque[known, column]


def _errors(walks: Walks, estimate: FrictionEstimate, used: NDArray[np.bool_]) -> tuple[float, float]:
    """RMS error of the knee's friction near rest and at speed, N·m."""
    column = estimate.column(KNEE)
    error = (estimate.torque - walks.knee.friction)[:, column]
    speed = np.abs(walks.knee.velocity[:, walks.knee.log.names.index(KNEE)])
    known = used & np.isfinite(error)
    slow, fast = (root_mean_square(error[known & part]) for part in (speed < _FAST, speed >= _FAST))
    return slow, fast
