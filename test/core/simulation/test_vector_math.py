# SPDX-License-Identifier: Apache-2.0
"""exp, log and sin of the kernel against the C library's, compiled as the kernel compiles them."""

import numba
import numpy as np
import pytest

from bam_core.simulation import _vector_math as vm


@numba.njit(error_model="numpy", fastmath={"contract"})
def apply(which, x, y):
    for i in range(x.size):
        if which == 0:
            y[i] = vm.exp(x[i])
        elif which == 1:
            y[i] = vm.log(x[i])
        else:
            y[i] = vm.sin(x[i])


def ours(which, x):
    y = np.empty_like(x)
    apply(which, x, y)
    return y


RNG = np.random.default_rng(0)


@pytest.mark.parametrize("span", [1e-6, 1.0, 700.0])
def test_exp_is_accurate_to_a_few_units_in_the_last_place(span):
    x = RNG.uniform(-span, span, 20_000)
    np.testing.assert_allclose(ours(0, x), np.exp(x), rtol=1e-15)


def test_exp_saturates_instead_of_leaving_the_range():
    assert np.all(np.isfinite(ours(0, np.array([-1e300, -np.inf, 1e300, np.inf]))))
    assert ours(0, np.array([-1e300]))[0] < 1e-300


def test_log_is_accurate_to_a_few_units_in_the_last_place():
    x = np.concatenate([np.exp(RNG.uniform(-690.0, 690.0, 20_000)), RNG.uniform(0.5, 2.0, 20_000)])
    np.testing.assert_allclose(ours(1, x), np.log(x), rtol=1e-15)
    assert ours(1, np.array([1.0, vm.SMALLEST])) == pytest.approx([0.0, np.log(vm.SMALLEST)])


@pytest.mark.parametrize("span", [1e-6, 4.0, 1e5])
def test_sin_is_accurate_and_odd(span):
    x = RNG.uniform(-span, span, 20_000)
    np.testing.assert_allclose(ours(2, x), np.sin(x), rtol=2e-15, atol=1e-16)
    assert np.array_equal(ours(2, -x), -ours(2, x))
    assert ours(2, np.zeros(1))[0] == 0.0
