# SPDX-License-Identifier: Apache-2.0
"""Linear algebra on matrices so small that the threads of BLAS would mostly wait for each other."""

from __future__ import annotations

from typing import Any

from threadpoolctl import threadpool_limits


def one_blas_thread() -> Any:
    """Return a context in which BLAS works in the caller's thread; it leaves the others to simulations.

    A search spends three times as long without, an analysis of a walk twice, and more on a busy machine.
    """
    return threadpool_limits(limits=1, user_api="blas")
