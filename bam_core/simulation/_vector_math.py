# SPDX-License-Identifier: Apache-2.0
"""exp, log and sin as branch-free arithmetic, so that the compiler turns loops over lanes into vector code.

A call into the C library would force one lane at a time. Accuracy: a few units in the last place over the
ranges named below, which `test_vector_math.py` checks. Polynomials are Taylor series after range reduction,
long enough that the first omitted term is below rounding.
"""

from __future__ import annotations

import numba
import numpy as np

# Adding 1.5·2^52 to a double rounds it to an integer, which then sits in the low bits of the sum.
_ROUNDER = 6755399441055744.0
_ROUNDER_BITS = 0x4338000000000000
_ONE_BITS = 0x3FF0000000000000
_ROOT_HALF_BITS = 0x3FE6A09E00000000
_MANTISSA_MASK = 0x000FFFFFFFFFFFFF

_LOG2_E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_PI_INVERSE = 0.3183098861837907
_PI_HIGH = 3.1415926218032837
_PI_LOW = 3.178650954705639e-08

_EXP_LIMIT = 708.0
SMALLEST = 1e-300
"""Smallest argument of `log`; smaller ones are the caller's to raise to it."""


@numba.njit(inline="always", error_model="numpy")
def exp(x: float) -> float:
    """Return e^x; arguments beyond ±708 are taken as ±708."""
    x = min(max(x, -_EXP_LIMIT), _EXP_LIMIT)
    shifted = x * _LOG2_E + _ROUNDER
    n = shifted - _ROUNDER
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    p = 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    scale = (np.float64(shifted).view(np.int64) << np.int64(52)) + np.int64(_ONE_BITS)
    return p * np.int64(scale).view(np.float64)


@numba.njit(inline="always", error_model="numpy")
def log(x: float) -> float:
    """Return the natural logarithm of a normal positive number."""
    bits = np.float64(x).view(np.int64) + np.int64(_ONE_BITS - _ROOT_HALF_BITS)
    exponent = (bits >> np.int64(52)) + np.int64(_ROUNDER_BITS - 1023)
    n = np.int64(exponent).view(np.float64) - _ROUNDER
    mantissa = (bits & np.int64(_MANTISSA_MASK)) + np.int64(_ROOT_HALF_BITS)
    f = np.int64(mantissa).view(np.float64) - 1.0
    s = f / (2.0 + f)
    z = s * s
    p = 2.0 / 19.0
    p = p * z + 2.0 / 17.0
    p = p * z + 2.0 / 15.0
    p = p * z + 2.0 / 13.0
    p = p * z + 2.0 / 11.0
    p = p * z + 2.0 / 9.0
    p = p * z + 2.0 / 7.0
    p = p * z + 2.0 / 5.0
    p = p * z + 2.0 / 3.0
    return n * _LN2_HIGH + (n * _LN2_LOW + (p * z * s + 2.0 * s))


@numba.njit(inline="always", error_model="numpy")
def sin(x: float) -> float:
    """Return sin x for |x| below 1e6 rad."""
    shifted = x * _PI_INVERSE + _ROUNDER
    n = shifted - _ROUNDER
    r = (x - n * _PI_HIGH) - n * _PI_LOW
    z = r * r
    p = -1.0 / 121645100408832000.0
    p = p * z + 1.0 / 355687428096000.0
    p = p * z - 1.0 / 1307674368000.0
    p = p * z + 1.0 / 6227020800.0
    p = p * z - 1.0 / 39916800.0
    p = p * z + 1.0 / 362880.0
    p = p * z - 1.0 / 5040.0
    p = p * z + 1.0 / 120.0
    p = p * z - 1.0 / 6.0
    sign = np.float64(shifted).view(np.int64) << np.int64(63)
    value = p * z * r + r
    return np.int64(np.float64(value).view(np.int64) ^ sign).view(np.float64)
