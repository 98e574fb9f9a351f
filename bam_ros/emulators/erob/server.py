# SPDX-License-Identifier: Apache-2.0
"""Puts a segment behind a network interface: frames in, frames out, from a thread of its own."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import heapq
import os
import select
import socket
import struct
import sys
import threading
import time
from array import array
from types import TracebackType

from bam_core.errors import BamError, Conflict, Unavailable, UnknownName, Unsupported
from bam_ros.emulators.erob.faults import HOLD, Faults, FrameDice, apply_faults
from bam_ros.emulators.erob.frames import ETHERTYPE
from bam_ros.emulators.erob.permission import raw_socket_refused
from bam_ros.emulators.erob.segment import Segment

_BUFFER = 2048
_PRIORITY = 30
_LONGEST_WAIT = 20_000_000
"""How long the server sleeps at most, ns."""
_SWITCH_INTERVAL = 2e-4  # s; other threads hold the interpreter no longer while a frame waits
_STALL = 30_000_000  # asleep for longer than it wanted by this, ns: the emulator did not get the processor
_TIMES = 4096
_GET_FLAGS, _UP, _LOOPBACK = 0x8913, 0x1, 0x8  # SIOCGIFFLAGS, IFF_UP, IFF_LOOPBACK


class SegmentServer:
    """Serves a segment on an interface.

    Args:
        segment: the slaves.
        interface: name of the network interface.
        seed: of the dice for frame faults.
        silence: time after which a master in a cycle that sends nothing has gone, s.
    """

    def __init__(self, segment: Segment, interface: str, *, seed: int = 0, silence: float = 0.5) -> None:
        self.segment = segment
        self.interface = interface
        self._silence = silence
        self.lock = threading.Lock()
        self.received = self.answered = self.lost = 0
        """Frames: that came in, that went back, that a fault swallowed."""
        self._dice = FrameDice(seed)
        self._faults = Faults()
        self._times = array("q", bytes(8 * _TIMES))
        self._held: list[tuple[int, int, bytes]] = []
        self._thread: threading.Thread | None = None
        self._socket: socket.socket | None = None
        self._claim: socket.socket | None = None
        self._wake_read = self._wake_write = -1

    def start(self) -> None:
        """Open the interface and begin to answer; the first answer is not slowed by compilation.

        Raises:
            BamError: there is no such interface, it is down, it is not permitted, or another one serves it.
        """
        now = time.monotonic_ns()
        with self.lock:
            for slave in self.segment.slaves:
                slave.drive.sample(max(now, slave.bench.time + 1_000_000))
        self._socket = _open(self.interface)
        try:
            self._claim = _claim_cable(self.interface)
        except BamError:
            self._socket.close()
            raise
        self._wake_read, self._wake_write = os.pipe()
        sys.setswitchinterval(_SWITCH_INTERVAL)
        self._thread = threading.Thread(target=self._serve, name="virtual-segment", daemon=True)
        self._thread.start()

    def stop(self, timeout: float = 0.0) -> None:
        """Stop answering and close the interface; idempotent.

        Args:
            timeout: how long a master that sends frames is answered before that, s.
        """
        thread, self._thread = self._thread, None
        if thread is None:
            return
        if timeout:
            self._wait_for_silence(timeout)
        os.write(self._wake_write, b"x")
        thread.join()
        assert self._socket is not None
        assert self._claim is not None
        self._socket.close()
        self._claim.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def __enter__(self) -> SegmentServer:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def set_faults(self, faults: Faults) -> None:
        """Break and repair, while it serves or before."""
        with self.lock:
            apply_faults(faults, self._faults, self.segment, time.monotonic_ns())
            self._faults = faults
            self._dice.faults = faults.frames

    def process_times(self) -> list[int]:
        """Return how long the last frames took from their arrival to the answer, ns."""
        return list(self._times)[: min(self.received, _TIMES)]

    def _wait_for_silence(self, timeout: float) -> None:
        """Wait until no frame has come for `silence`, for at most `timeout` s."""
        deadline = time.monotonic() + timeout
        received = -1
        while received != self.received and time.monotonic() < deadline:
            received = self.received
            time.sleep(self._silence)

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
        assert self._socket is not None
        descriptor, wake = self._socket.fileno(), self._wake_read
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.register(wake, select.POLLIN)
        buffer = bytearray(_BUFFER)
        asleep = time.monotonic_ns()
        with self.lock:
            due = self.segment.update(asleep)
        while True:
            if self._held and self._held[0][0] < due:
                due = self._held[0][0]
            wait = min(max(due - asleep, 0), _LONGEST_WAIT)
            events = poll.poll((wait + 999_999) // 1_000_000)
            now = time.monotonic_ns()
            with self.lock:
                if now - asleep > wait + _STALL:
                    for slave in self.segment.slaves:
                        slave.excuse(now - asleep - wait)
                for which, _ in events:
                    if which == wake:
                        return
                    self._receive(buffer, now)
                if self._held:
                    self._release(now)
                asleep = time.monotonic_ns()
                due = self.segment.update(asleep)

    def _receive(self, buffer: bytearray, now: int) -> None:
        assert self._socket is not None
        try:
            length = self._socket.recv_into(buffer)
        except OSError:  # the interface went down, or there is nothing after all
            return
        self.received += 1
        if self._dice.faults:
            self._receive_at_fault(buffer, length, now)
            return
        answers = self.segment.process(buffer, length, now)
        self._times[self.received % _TIMES] = time.monotonic_ns() - now
        if answers:
            self._send(memoryview(buffer)[:length])

    def _receive_at_fault(self, buffer: bytearray, length: int, now: int) -> None:
        dice, faults = self._dice, self._dice.faults
        if dice.hits(faults.drop):
            self.lost += 1
            return
        if dice.hits(faults.corrupt):  # a wrong check sequence: nobody takes it
            self.segment.damage()
            self.lost += 1
            return
        if not self.segment.process(buffer, length, now):
            return
        if dice.hits(faults.garble):
            dice.garble(buffer, length)
        if dice.hits(faults.truncate):
            length = dice.cut(length)
        hold = round(faults.delay * 1e9)
        if dice.hits(faults.reorder):
            hold += HOLD
        elif not hold:
            self._send(memoryview(buffer)[:length])
            # What was held back to be overtaken follows now.
            while self._held:
                self._send(heapq.heappop(self._held)[2])
            return
        heapq.heappush(self._held, (now + hold, self.received, bytes(buffer[:length])))

    def _release(self, now: int) -> None:
        while self._held and self._held[0][0] <= now:
            self._send(heapq.heappop(self._held)[2])

    def _send(self, frame: bytes | memoryview) -> None:
        assert self._socket is not None
        with contextlib.suppress(OSError):  # the other end is down: a wire would lose the frame, too
            self._socket.send(frame)
            self.answered += 1


def _claim_cable(interface: str) -> socket.socket:
    """Keep other virtual segments from a cable: two would answer each other's answers for ever."""
    from pyroute2 import IPRoute

    index = socket.if_nametoindex(interface)
    with IPRoute() as route:
        (link,) = route.get_links(index)
    ends = index, link.get_attr("IFLA_LINK") or index  # not from /sys, which may be another namespace's
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        # An abstract socket belongs to the network namespace, as the number does; it ends with the process.
        claim.bind(f"\0bam_bench_virtual_segment_{min(ends)}")
    except OSError:
        claim.close()
        raise Conflict(
            f"interface {interface}",
            "another virtual segment is at this cable",
            expected="none",
            advice="stop that one first",
        ) from None
    return claim


def _flags(opened: socket.socket, interface: str) -> int:
    request = struct.pack("16sH22x", interface.encode(), 0)
    return int(struct.unpack_from("H", fcntl.ioctl(opened, _GET_FLAGS, request), 16)[0])


def _open(interface: str) -> socket.socket:
    try:
        # Without a protocol it hears nothing yet; with one it would hear every interface until it is bound.
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    except PermissionError:
        raise raw_socket_refused(interface) from None
    try:
        opened.bind((interface, ETHERTYPE))
    except OSError as error:
        opened.close()
        if error.errno == errno.ENODEV:
            names = [name for _, name in socket.if_nameindex()]
            advice = "or make a pair with --create-veth"
            raise UnknownName("interface", interface, names, advice=advice) from None
        raise Unavailable(
            f"interface {interface}", f"cannot be opened ({error.strerror})", advice="check it"
        ) from None
    flags = _flags(opened, interface)
    if flags & _LOOPBACK:  # it would answer its own answers
        opened.close()
        raise Unsupported(
            f"interface {interface}",
            "is the loopback",
            expected="an Ethernet interface",
            advice="choose another, or make a pair with --create-veth",
        )
    if not flags & _UP:
        opened.close()
        raise Unavailable(
            f"interface {interface}", "is down", advice=f"switch it on: sudo ip link set {interface} up"
        )
    opened.setblocking(False)
    return opened
