# SPDX-License-Identifier: Apache-2.0
"""The SDK's port, opened exclusively, that sleeps until bytes arrive instead of polling for them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import select
import termios
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import serial
from dynamixel_sdk import PortHandler

from bam_core.errors import Unsupported
from bam_ros.driver.servo_bus import BusGone
from bam_ros.dynamixel.latency import shorten_latency
from bam_ros.dynamixel.port_errors import BUSY, explain_port_error

_CHUNK = 4096
_KEEP_ALIVE_PERIOD = 0.03  # s; a few of them are less than the shortest watchdog, also on a busy machine
_LOCK_TIMEOUT = 1.0  # s; the guardian of a driver that was killed holds the lock until torque is off


class SerialPort(PortHandler):
    """A serial port as the SDK's packet handlers want it.

    Opened with an advisory lock that other programs of this kind respect, and with the kernel's exclusive
    mode where the device is not a pseudo-terminal. Reading blocks in the kernel until bytes are there or the
    packet timeout has passed: the SDK asks for more until it has its packet, and would otherwise spin.

    Args:
        path: of the device.
        answer_timeout: after which an answer counts as lost at the earliest, s. The SDK waits for 34 ms and
            for as long as its bytes take; machines whose adapters or servos are emulated need more.

    Attributes:
        warning: what limits the loop rate though the port works, one line; None where nothing does.
        before_write: called before packets leave; must not raise.
        keep_alive: called now and then while nothing is sent for long; must not raise.
        sent: bytes that were written last, in one go.
        traffic: bytes that were written and received so far.
    """

    packet_timeout: float  # ms; the SDK's

    def __init__(self, path: str, answer_timeout: float = 0.0) -> None:
        super().__init__(path)
        self._answer_timeout = 1e3 * answer_timeout
        self.warning: str | None = None
        self.before_write: Callable[[], None] = lambda: None
        self.keep_alive: Callable[[], None] = lambda: None
        self._fd = -1
        self.sent = self.traffic = 0
        self._buffer = bytearray()
        self._holding = False
        self._held = bytearray()
        self._poll = select.poll()

    @property
    def fd(self) -> int:
        """File descriptor; -1 while closed."""
        return self._fd

    def openPort(self) -> bool:  # noqa: N802
        """Open and lock the port at 57600 baud.

        Raises:
            BamError: it does not exist, is not permitted, busy, or no serial port.
        """
        deadline = time.monotonic() + _LOCK_TIMEOUT
        while True:
            try:
                self.ser = serial.Serial(self.port_name, 57600, timeout=0, exclusive=True)
                break
            except OSError as error:  # SerialException is one
                if error.errno not in BUSY or time.monotonic() > deadline:
                    raise explain_port_error(self.port_name, error) from None
                time.sleep(0.02)
        self._fd = self.ser.fileno()
        self._poll.register(self._fd, select.POLLIN)
        if not os.path.realpath(self.port_name).startswith("/dev/pts/"):
            with contextlib.suppress(OSError):
                fcntl.ioctl(self._fd, termios.TIOCEXCL)
        self.warning = shorten_latency(self.ser)
        self.is_open = True
        return self.setBaudRate(57600)

    def closePort(self) -> None:  # noqa: N802
        """Close the port; idempotent."""
        if self._fd >= 0:
            self._poll.unregister(self._fd)
            self._fd = -1
        if self.ser is not None:
            with contextlib.suppress(OSError):
                self.ser.close()
        self._held.clear()
        self.is_open = False
        self.is_using = False

    def setBaudRate(self, baudrate: int) -> bool:  # noqa: N802
        """Set any baud rate the adapter can do.

        Raises:
            Unsupported: it cannot.
        """
        try:
            self.ser.baudrate = baudrate
        except (OSError, ValueError) as error:
            raise Unsupported(
                f"port {self.port_name}",
                f"cannot run at {baudrate} baud ({error})",
                advice="choose another baud_rate",
            ) from None
        self.baudrate = baudrate
        self.tx_time_per_byte = 1e4 / baudrate  # ms: a start bit, eight bits, a stop bit
        self.clearPort()
        return True

    def clearPort(self) -> None:  # noqa: N802
        """Drop what was received but not read."""
        self._buffer.clear()
        try:
            termios.tcflush(self._fd, termios.TCIFLUSH)
        except (OSError, termios.error) as error:
            raise self._gone(error) from None

    def getBytesAvailable(self) -> int:  # noqa: N802
        """Return how many received bytes wait."""
        try:
            return len(self._buffer) + int(self.ser.in_waiting)
        except OSError as error:
            raise self._gone(error) from None

    def readPort(self, length: int) -> bytes:  # noqa: N802
        """Return up to `length` bytes; waits for the first of them, at most until the packet timeout."""
        if not self._buffer:
            self._receive(max(self.packet_timeout - self.getTimeSinceStart(), 0.0))
        data = bytes(self._buffer[:length])
        del self._buffer[:length]
        return data

    def peek(self, length: int, begin: bytes = b"") -> bytes:
        """Wait for bytes and return all that have come since `clearPort`; they remain to be read.

        Args:
            length: waits for so many, at most until the packet timeout.
            begin: of them; what begins in another way is not waited for.
        """
        buffer = self._buffer
        while len(buffer) < length and begin.startswith(buffer[: len(begin)]):
            left = self.packet_timeout - self.getTimeSinceStart()
            if left <= 0.0 or not self._receive(left):
                break
        return bytes(buffer)

    def writePort(self, packet: Sequence[int]) -> int:  # noqa: N802
        """Write a whole packet, behind those that were held, and return its length."""
        if self._holding:
            self._held += bytes(packet)
            return len(packet)
        self.before_write()
        data = bytes(self._held) + bytes(packet)
        self._held.clear()
        written = self._write(data)
        self.sent = written
        self.traffic += written
        return written - len(data) + len(packet)

    def _write(self, data: bytes) -> int:
        """Hand bytes to the kernel; return how many it took in 0.1 s."""
        written = 0
        deadline = time.monotonic() + 0.1
        while written < len(data) and time.monotonic() < deadline:
            try:
                written += os.write(self._fd, data[written:])
            except BlockingIOError:
                select.select([], [self._fd], [], 0.01)
            except OSError as error:
                raise self._gone(error) from None
        return written

    @contextlib.contextmanager
    def holding(self) -> Iterator[None]:
        """Hold packets that nobody answers: they leave in one go with the next packet behind this block.

        Nothing comes between goals and the read that follows them: neither a second turn of the USB bus nor
        other programs, for which this process waits. The sample then shows what these goals began.
        """
        self._holding = True
        try:
            yield
        finally:
            self._holding = False

    def setPacketTimeout(self, packet_length: int) -> None:  # noqa: N802
        """Begin to wait for an answer of so many bytes."""
        super().setPacketTimeout(packet_length)
        self.packet_timeout = max(self.packet_timeout, self._answer_timeout)

    def getCurrentTime(self) -> float:  # noqa: N802
        """Return the monotonic time in ms: a clock that is set must not end or extend a timeout."""
        return time.monotonic() * 1e3

    def drain(self, quiet: float, longest: float = 0.2) -> None:
        """Wait until nothing has arrived for `quiet` s, so that no late answer is taken for the next.

        Servos and guardian would take a long silence for the end of this driver: `keep_alive` is called
        meanwhile.

        Args:
            quiet: s.
            longest: s; not waited for longer while bytes arrive.
        """
        began = last = self.getCurrentTime()
        while (now := self.getCurrentTime()) - last < 1e3 * quiet and (
            now - began < 1e3 * longest or last == began
        ):
            left = 1e3 * quiet - (now - last)
            if self._receive(min(left, 1e3 * _KEEP_ALIVE_PERIOD)):
                last = self.getCurrentTime()
            elif left > 1e3 * _KEEP_ALIVE_PERIOD:
                self.keep_alive()
        self._buffer.clear()

    def _receive(self, milliseconds: float) -> bool:
        """Move what arrives within a time into the buffer; return whether something did."""
        if not self._poll.poll(milliseconds):
            return False
        try:
            data = os.read(self._fd, _CHUNK)
        except BlockingIOError:
            return False
        except OSError as error:
            raise self._gone(error) from None
        if not data:
            raise self._gone(None)
        self._buffer += data
        self.traffic += len(data)
        return True

    def _gone(self, error: Exception | None) -> BusGone:
        self.is_using = False
        reason = "" if error is None or not Path(self.port_name).exists() else f" ({error})"
        return BusGone(
            f"port {self.port_name}",
            f"has gone{reason}, its servos may still hold their last goals",
            advice="cut their power, then plug the adapter in again",
        )
