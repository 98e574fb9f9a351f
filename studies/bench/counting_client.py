# SPDX-License-Identifier: Apache-2.0
"""A client that sends what a driver sends, and only counts the bytes of answers: the limit of a machine."""

from __future__ import annotations

import os
import select
from collections.abc import Callable
from dataclasses import dataclass

from bam_ros.dynamixel.port import SerialPort

_LONGEST = 1.0  # s without an answer


@dataclass(frozen=True)
class Request:
    """Bytes that leave in one go, and how many come back."""

    data: bytes
    answer: int


def recorded_cycle(port: SerialPort, cycle: Callable[[], None], times: int = 20) -> tuple[Request, ...]:
    """Return what a cycle sends and receives: the shortest of some, as drivers look at a register at times.

    Args:
        port: that it uses.
        cycle: of the driver.
        times: how many cycles are looked at.
    """
    sent: list[tuple[bytes, int]] = []
    write = port._write

    def listen(data: bytes) -> int:
        sent.append((data, port.traffic))
        return write(data)

    cycles = []
    port._write = listen  # type: ignore[method-assign]
    try:
        for _ in range(times):
            sent.clear()
            cycle()
            ends = [before for _, before in sent[1:]] + [port.traffic]
            cycles.append(
                tuple(
                    Request(data, end - before - len(data))
                    for (data, before), end in zip(sent, ends, strict=True)
                )
            )
    finally:
        port._write = write  # type: ignore[method-assign]
    return min(cycles, key=len)


class CountingClient:
    """Repeats a cycle on an open port without looking at what comes back.

    Args:
        fd: of the port.
        cycle: what is sent, and how many bytes are waited for.
    """

    def __init__(self, fd: int, cycle: tuple[Request, ...]) -> None:
        self._fd, self._cycle = fd, cycle
        self._poll = select.poll()
        self._poll.register(fd, select.POLLIN)

    def run(self) -> None:
        """Send one cycle, each request when the answers to the one before have come.

        Raises:
            TimeoutError: an answer stays away.
        """
        for request in self._cycle:
            os.write(self._fd, request.data)
            left = request.answer
            while left > 0:
                if not self._poll.poll(1e3 * _LONGEST):
                    raise TimeoutError("an answer stays away")
                left -= len(os.read(self._fd, left))
