# SPDX-License-Identifier: Apache-2.0
"""Derivative schemes: exact where they are meant to be, late by what they say, zero-phase where promised."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bam_core.errors import BadData, OutOfRange, UnknownName
from bam_core.whole_body import (
    CentralDifference,
    JointLog,
    SavitzkyGolay,
    Scheme,
    ZeroPhaseButterworth,
    differentiate,
)
from test.core.refusals import refused

DT = 1e-3
TIME = DT * np.arange(2000)
SMOOTH = (CentralDifference(), SavitzkyGolay(21), SavitzkyGolay(7, order=6), ZeroPhaseButterworth(60.0))


def log(position: np.ndarray, time: np.ndarray = TIME) -> JointLog:
    two_d = position[:, None]
    return JointLog(names=("joint",), time=time, position=two_d, effort=np.cos(two_d))


@pytest.mark.parametrize("scheme", SMOOTH, ids=repr)
@settings(max_examples=10, deadline=None)
@given(frequency=st.floats(0.3, 3.0), phase=st.floats(0.0, 6.0))
def test_a_slow_sine_keeps_its_derivatives(scheme: Scheme, frequency: float, phase: float) -> None:
    rate = 2.0 * np.pi * frequency
    motion = differentiate(log(np.sin(rate * TIME + phase)), scheme)
    inner = slice(300, -300)
    velocity, acceleration = rate * np.cos(rate * TIME + phase), -(rate**2) * np.sin(rate * TIME + phase)
    np.testing.assert_allclose(motion.velocity[inner, 0], velocity[inner], atol=2e-4 * rate)
    np.testing.assert_allclose(motion.acceleration[inner, 0], acceleration[inner], atol=4e-4 * rate**2)


def test_central_differences_are_equation_6_2() -> None:
    values = np.array([0.0, 1.0, 4.0, 9.0, 16.0, 25.0, 36.0])
    assert CentralDifference().first(values, 1.0)[3] == (16.0 - 4.0) / 2.0
    assert CentralDifference().second(values, 1.0)[3] == 2.0


@pytest.mark.parametrize("window", [5, 9, 31])
@given(coefficients=st.lists(st.floats(-5.0, 5.0), min_size=5, max_size=5))
@settings(max_examples=20, deadline=None)
def test_savitzky_golay_knows_polynomials_of_its_order(window: int, coefficients: list[float]) -> None:
    at = np.linspace(-1.0, 1.0, 101)
    polynomial = np.polynomial.Polynomial(coefficients)
    scheme, dt = SavitzkyGolay(window), at[1] - at[0]
    inner = slice(scheme.before, -scheme.after)
    for found, exact in (
        (scheme.smooth(polynomial(at), dt), polynomial(at)),
        (scheme.first(polynomial(at), dt), polynomial.deriv(1)(at)),
        (scheme.second(polynomial(at), dt), polynomial.deriv(2)(at)),
    ):
        np.testing.assert_allclose(found[inner], exact[inner], atol=1e-6)


@pytest.mark.parametrize("scheme", SMOOTH, ids=repr)
def test_smooth_schemes_add_no_phase(scheme: Scheme) -> None:
    kernel = scheme.kernel(2, DT)
    np.testing.assert_allclose(kernel, kernel[::-1], atol=2e-6 * np.abs(kernel).max())


@pytest.mark.parametrize("scheme", [CentralDifference(), SavitzkyGolay(9)], ids=repr)
@given(seed=st.integers(0, 100))
@settings(max_examples=5, deadline=None)
def test_a_kernel_says_how_much_noise_passes(scheme: Scheme, seed: int) -> None:
    noise = np.random.default_rng(seed).standard_normal(20_000)
    passed = scheme.second(noise, DT)[50:-50]
    expected = np.linalg.norm(scheme.kernel(2, DT))
    assert np.sqrt(np.mean(passed**2)) == pytest.approx(expected, rel=0.05)


def test_lost_samples_are_counted_and_not_bridged() -> None:
    kept = np.ones(len(TIME), dtype=bool)
    kept[[700, 701, 1500]] = False
    gappy = log(np.sin(5.0 * TIME)[kept], TIME[kept])
    assert gappy.lost == 3
    assert len(gappy.stretches) == 3
    scheme = SavitzkyGolay(31)
    motion = differentiate(gappy, scheme)
    true = -25.0 * np.sin(5.0 * gappy.time)
    np.testing.assert_allclose(motion.acceleration[motion.valid, 0], true[motion.valid], atol=1e-3)
    near = np.abs(gappy.time[:, None] - TIME[[700, 701, 1500]]).min(axis=1) < 10 * DT
    assert not motion.valid[near].any()


def test_too_many_lost_samples_are_an_error() -> None:
    kept = np.arange(len(TIME)) % 10 != 0
    with refused(BadData, thing="joint log"):
        differentiate(log(np.sin(TIME)[kept], TIME[kept]), SavitzkyGolay(31))


@pytest.mark.parametrize(
    ("make", "thing", "value"),
    [
        (lambda: SavitzkyGolay(10), "Savitzky-Golay window", 10),
        (lambda: SavitzkyGolay(3), "Savitzky-Golay window", 3),
        (lambda: ZeroPhaseButterworth(0.0), "Butterworth cutoff", 0.0),
        (lambda: ZeroPhaseButterworth(600.0), "Butterworth cutoff", 600.0),
    ],
)
def test_impossible_filters_are_refused(make: object, thing: str, value: float) -> None:
    with refused(OutOfRange, thing=thing, value=value):
        make()  # type: ignore[operator]


def test_a_joint_without_a_scheme_is_named() -> None:
    with refused(UnknownName):
        differentiate(log(np.sin(TIME)), {"other": CentralDifference()})


def test_efforts_that_are_unknown_stay_unknown() -> None:
    one = log(np.sin(TIME))
    unknown = dataclasses.replace(one, effort=np.full_like(one.effort, np.nan))
    assert np.isnan(differentiate(unknown, SavitzkyGolay(9)).effort).all()
