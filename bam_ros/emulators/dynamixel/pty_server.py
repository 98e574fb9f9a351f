# SPDX-License-Identifier: Apache-2.0
"""Puts a virtual bus behind a pseudo-terminal, so that a client opens it like a USB serial adapter."""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import os
import pty
import select
import struct
import threading
import time
import tty
from pathlib import Path
from types import TracebackType
from typing import Protocol

from bam_core.errors import BamError, Unavailable
from bam_ros.emulators.dynamixel.bus import VirtualBus
from bam_ros.emulators.dynamixel.bus_link import BusLink
from bam_ros.emulators.dynamixel.packets import Reply
from bam_ros.emulators.dynamixel.served_clock import ServedClock

IDLE_PERIOD = 0.05
"""How often the bench is brought up to date while no client talks, s."""

_SPIN = 40e-6  # s before the last answer: as long as it takes to wake up
_PR_SET_TIMERSLACK = 29  # of prctl(2)
_BITS_PER_BYTE = 10  # start, 8 data, stop
_TERMIOS2 = struct.Struct("=IIIIB19sII")  # flags, line discipline, control characters, input and output speed
_TCGETS2 = 0x802C542A  # of Linux on x86 and ARM; tells any speed, also those without a B... constant


class BusClock(Protocol):
    """Gives the time of a bus."""

    def at(self, time: float, *, intended: float = 0.0, idle: bool = False) -> float:
        """Return the bus's time at the machine's time; see `ServedClock.at`."""


class PtyServer:
    """Serves a bus on a pseudo-terminal from a thread of its own.

    The client's baud rate is what it set on the terminal; servos set to another one do not hear it.

    Args:
        bus: the servos.
        link: symbolic link to the terminal, replaced where it is left over from an earlier run.
        wire_time: wait as long as the bytes would take on a real line.
        clock: of the bus; None: the machine's, see `ServedClock`.
    """

    def __init__(
        self,
        bus: VirtualBus,
        *,
        link: Path | None = None,
        wire_time: bool = False,
        clock: BusClock | None = None,
    ) -> None:
        self.bus = bus
        self.lock = threading.Lock()
        self._link = BusLink(link) if link is not None else None
        self._wire_time = wire_time
        self._thread: threading.Thread | None = None
        self._master = self._slave = -1
        self._wake_read = self._wake_write = -1
        self._given = clock
        self._clock: BusClock = clock or ServedClock(time.monotonic())
        self.device = Path()

    @property
    def path(self) -> Path:
        """What a client opens: the link, or the terminal itself."""
        return self._link.path if self._link is not None else self.device

    def start(self) -> None:
        """Open the terminal and begin to answer; the first answer is not slowed by compilation.

        Raises:
            BamError: there is no pseudo-terminal left, or the link cannot be made.
        """
        now = time.monotonic()
        self._clock = self._given or ServedClock(now)
        self.bus.update(self._clock.at(now))
        try:
            self._master, self._slave = pty.openpty()
        except OSError as error:
            problem = f"cannot be opened ({error.strerror or error})"
            raise Unavailable("pseudo-terminal", problem, advice="end programs that use some") from None
        os.set_blocking(self._master, False)
        tty.setraw(self._slave)  # no echo while no client has configured it
        self.device = Path(os.ttyname(self._slave))
        self._wake_read, self._wake_write = os.pipe()
        if self._link is not None:
            try:
                self._link.make(self.device)
            except BamError:
                self._close()
                raise
        self._thread = threading.Thread(target=self._serve, name="virtual-bus", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 0.0) -> None:
        """Stop answering and take the terminal and the link away; idempotent.

        Args:
            timeout: how long clients that have the terminal open are answered before that, s.
        """
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if timeout:
            self._wait_for_clients(timeout)
        os.write(self._wake_write, b"x")
        thread.join()
        if self._link is not None:
            self._link.remove()
        self._close()

    def __enter__(self) -> PtyServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait_for_clients(self, timeout: float) -> None:
        """Wait until no client has the terminal open, for at most `timeout` s."""
        os.close(self._slave)  # ours: the kernel tells the end of the last one
        self._slave = -1
        hung_up = select.poll()
        hung_up.register(self._master, 0)
        hung_up.poll(timeout * 1e3)

    def _close(self) -> None:
        for descriptor in (self._master, self._slave, self._wake_read, self._wake_write):
            with contextlib.suppress(OSError):
                os.close(descriptor)

    def _serve(self) -> None:
        if self._wire_time:
            _wake_on_time()
        master, wake = self._master, self._wake_read
        poll = select.poll()
        poll.register(master, select.POLLIN)
        poll.register(wake, select.POLLIN)
        timeout = round(IDLE_PERIOD * 1000)
        sending = 0.0
        while True:
            events = poll.poll(timeout)
            received_at = time.monotonic()
            now, sending = self._clock.at(received_at, intended=sending, idle=not events), 0.0
            if not events:
                with self.lock:
                    self.bus.update(now)
                continue
            if any(descriptor == wake for descriptor, _ in events):
                return
            try:
                data = os.read(master, 4096)
            except OSError:  # the last client has gone, and `stop` waited for that
                return
            baud_rate = _baud_rate(master)
            with self.lock:
                replies = self.bus.receive(data, now, baud_rate)
            if replies:
                sending = self._send(replies, received_at, len(data), baud_rate) - received_at

    def _send(self, replies: list[Reply], start: float, received: int, baud_rate: int) -> float:
        """Write replies when a servo would have sent them; return the time of the last one."""
        per_byte = _BITS_PER_BYTE / max(baud_rate, 1) if self._wire_time else 0.0
        due = start + received * per_byte
        for place, reply in enumerate(replies, 1):
            due += reply.delay + len(reply.data) * per_byte
            _sleep_until(due, spin=_SPIN if place == len(replies) else 0.0)
            with contextlib.suppress(BlockingIOError):  # nobody reads: a wire would lose the bytes, too
                os.write(self._master, reply.data)
        return due


def _sleep_until(due: float, *, spin: float) -> None:
    """Return at that time of the monotonic clock; do not sleep in the last `spin` s before it."""
    wait = due - spin - time.monotonic()
    if wait > 0.0:
        time.sleep(wait)
    while time.monotonic() < due:
        pass


def _wake_on_time() -> None:
    """Let the kernel wake this thread when its sleep ends, not up to 50 us later together with others."""
    with contextlib.suppress(OSError, AttributeError):  # other systems than Linux
        ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1, 0, 0, 0)


def _baud_rate(master: int) -> int:
    """Return the output speed that the client set on its side, bit/s."""
    answer = fcntl.ioctl(master, _TCGETS2, bytes(_TERMIOS2.size))
    return int(_TERMIOS2.unpack(answer)[7])
