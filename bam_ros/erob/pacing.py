# SPDX-License-Identifier: Apache-2.0
"""Periods that start on time: absolute deadlines, a short spin, real-time priority and locked memory."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import sys
import time

_SPIN = 80_000  # ns before the deadline at which sleeping ends: what a wake-up costs at most, usually
_PRIORITY = 60  # SCHED_FIFO, above the kernel's own interrupt threads at 50
_LOCK_ALL = 3  # MCL_CURRENT | MCL_FUTURE
_TIMER_SLACK = 29  # PR_SET_TIMERSLACK
_GAIN, _INTEGRAL_GAIN = 0.02, 0.0004  # of the drift compensation, per cycle
_LARGEST_STEP = 0.005  # of a period, per cycle


class Pacer:
    """Start of every period on a grid of absolute times.

    A period that is missed is skipped: the grid stays where it is, and nothing is caught up.

    Args:
        period: ns.
        now: start of the grid, ns on the monotonic clock.
    """

    def __init__(self, period: int, now: int) -> None:
        self.period = period
        self.deadline = now
        self._integral = 0.0
        self._largest_step = _LARGEST_STEP * period  # ns

    def wait(self) -> tuple[int, int]:
        """Sleep until the next period; return when it began, ns, and how many periods were missed."""
        self.deadline += self.period
        rest = self.deadline - time.monotonic_ns() - _SPIN
        if rest > 0:
            time.sleep(rest * 1e-9)
        while (now := time.monotonic_ns()) < self.deadline:
            pass
        missed = (now - self.deadline) // self.period
        self.deadline += missed * self.period
        return now, missed

    def follow(self, offset: int) -> None:
        """Move the grid a little so that an offset against another clock goes to zero.

        Args:
            offset: how late the grid is against that clock, ns.
        """
        most = self._largest_step
        self._integral = min(max(self._integral + _INTEGRAL_GAIN * offset, -most), most)
        self.deadline -= round(min(max(_GAIN * offset + self._integral, -most), most))


def phase(time_ns: int, period: int) -> int:
    """Return how far a time is past the nearest multiple of the period, ns: -period/2 to period/2."""
    late = time_ns % period
    return late - period if late > period // 2 else late


def prefer_this_process() -> tuple[str, ...]:
    """Ask the kernel for real-time treatment of this process; return what it refused, one line each."""
    refused = []
    gc.collect()
    gc.freeze()
    gc.disable()  # a collection takes longer than a period; the control cycle makes no circular references
    sys.setswitchinterval(1.0)  # the cycle is the only thread that runs Python
    libc = ctypes.CDLL(None, use_errno=True)
    with contextlib.suppress(AttributeError):
        libc.prctl(_TIMER_SLACK, 1, 0, 0, 0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
    except OSError as error:
        refused.append(
            f"real-time priority: {error.strerror} (expected CAP_SYS_NICE or an rtprio limit of {_PRIORITY});"
            f" cycles will be less even"
        )
    if libc.mlockall(_LOCK_ALL) != 0:
        reason = os.strerror(ctypes.get_errno())
        refused.append(
            f"memory lock: {reason} (expected CAP_IPC_LOCK or an unlimited memlock); cycles may wait for"
            f" memory"
        )
    return tuple(refused)
