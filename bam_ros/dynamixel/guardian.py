# SPDX-License-Identifier: Apache-2.0
"""A tiny process that turns torque off when the driver dies without doing so itself, as by kill -9.

The driver starts it with the port's file descriptor, the read end of a pipe, and the packets that release
every servo. The pipe's end means that the driver is gone: the guardian writes the packets, then ends. It
knows nothing of protocols, imports nothing but the standard library, and lives in a session of its own so
that no Ctrl-C reaches it.

It covers neither a driver that hangs without dying, nor the end of the whole machine, nor a cut cable. Servos
with Protocol 2.0 have their bus watchdog for these; those with Protocol 1.0 have nothing and keep their goal.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Sequence

_REPEATS = 12
_GAP = 0.01  # s; longer than any packet that the driver left half-sent, or that a servo is still answering
_DISMISSED = b"d"


class Guardian:
    """The driver's handle on its guardian process.

    Args:
        port: file descriptor of the serial port.
        packets: what releases every servo.
    """

    def __init__(self, port: int, packets: Sequence[bytes]) -> None:
        import subprocess

        end, self._pipe = os.pipe()
        try:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    *("-I", "-S", __file__, str(port), str(end)),
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

    @property
    def pid(self) -> int:
        """Process id of the guardian."""
        return self._process.pid

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
    """Wait for the pipe's end, then send the packets; arguments: port, pipe, packets in hexadecimal."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    port, pipe = int(arguments[0]), int(arguments[1])
    packets = [bytes.fromhex(text) for text in arguments[2:]]
    if os.read(pipe, 1) == _DISMISSED:
        return 0
    for _ in range(_REPEATS):
        for packet in packets:
            with contextlib.suppress(OSError):
                os.write(port, packet)
        time.sleep(_GAP)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
