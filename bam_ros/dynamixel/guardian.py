# SPDX-License-Identifier: Apache-2.0
"""A tiny process that turns torque off when the driver cannot: it was killed (kill -9), or it hangs.

The driver starts it with the port's file descriptor, the read end of a pipe, and the packets that release
every servo. While torque may be on the driver sends a beat through the pipe every now and then, at any packet
that it writes. Silence, or the pipe's end, means that the driver is no longer in control: the guardian writes
the packets. Once every servo has confirmed that torque is off, silence means nothing: a driver that waits for
a servo to reboot is not interrupted. It knows nothing of protocols, imports nothing but the standard library,
and lives in a session of its own so that no Ctrl-C reaches it.

It covers neither the end of the whole machine nor a cut cable. Servos with Protocol 2.0 have their bus
watchdog for these; those with Protocol 1.0 have nothing and keep their goal.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import sys
import time
from collections.abc import Sequence

SILENCE = 0.5
"""Time without a beat after which torque goes off, s."""
_BEAT_PERIOD = 0.05  # s
_REPEATS = 12
_GAP = 0.01  # s; longer than any packet that the driver left half-sent, or that a servo is still answering
_IDLE, _ARMED, _DISMISSED = b"i", b"a", b"d"


class Guardian:
    """The driver's handle on its guardian process.

    Args:
        port: file descriptor of the serial port.
        packets: what releases every servo.
        silence: time without a beat after which torque goes off, s.

    Raises:
        OSError: the process cannot be started.
    """

    def __init__(self, port: int, packets: Sequence[bytes], silence: float = SILENCE) -> None:
        import subprocess

        end, self._pipe = os.pipe()
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    *("-I", "-S", __file__, str(port), str(end), str(silence)),
                    *(packet.hex() for packet in packets),
                ],
                pass_fds=(port, end),
                start_new_session=True,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            os.close(self._pipe)
            raise
        finally:
            os.close(end)
        os.set_blocking(self._pipe, False)
        self.silence = silence
        """Time without a beat after which torque goes off, s."""
        self.gap = 0.0
        """Longest time between two beats while torque was on, s; above `silence` it has acted."""
        self._armed = False
        self._last_beat = self._next_beat = 0.0

    @property
    def pid(self) -> int:
        """Process id of the guardian."""
        return self._process.pid

    def beat(self, now: float, *, torque: bool) -> None:
        """Notify that the driver is in control; to be called before every packet, cheap.

        Args:
            now: monotonic clock, s.
            torque: whether any servo's torque may be on; only then silence means something.

        Raises:
            OSError: the guardian is gone.
        """
        if torque == self._armed and (not torque or now < self._next_beat):
            return
        if self._armed:
            self.gap = max(self.gap, now - self._last_beat)
        with contextlib.suppress(BlockingIOError):  # it was stopped and has enough to read
            os.write(self._pipe, _ARMED if torque else _IDLE)
        self._armed = torque
        self._last_beat = now
        self._next_beat = now + _BEAT_PERIOD

    def dismiss(self) -> None:
        """End the guardian without a packet; idempotent."""
        if self._pipe < 0:
            return
        with contextlib.suppress(OSError):
            os.write(self._pipe, _DISMISSED)
        os.close(self._pipe)
        self._pipe = -1
        self._process.wait()


def main(arguments: Sequence[str]) -> int:
    """Stand guard until dismissed or alone; arguments: port, pipe, silence, packets in hexadecimal."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    port, pipe, silence = int(arguments[0]), int(arguments[1]), float(arguments[2])
    packets = [bytes.fromhex(text) for text in arguments[3:]]
    armed = False
    while True:
        if not select.select([pipe], [], [], silence if armed else None)[0]:
            _release(port, packets)
            armed = False
            continue
        beats = os.read(pipe, 4096)
        if not beats:
            _release(port, packets)
            return 0
        if beats.endswith(_DISMISSED):
            return 0
        armed = beats.endswith(_ARMED)


def _release(port: int, packets: Sequence[bytes]) -> None:
    for _ in range(_REPEATS):
        for packet in packets:
            with contextlib.suppress(OSError):
                os.write(port, packet)
        time.sleep(_GAP)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
