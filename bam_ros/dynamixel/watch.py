# SPDX-License-Identifier: Apache-2.0
"""The driver's side of its guardian: a beat before every packet, and what follows where one came too late."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence

from bam_core.errors import Unavailable
from bam_ros.dynamixel.guardian import Guardian
from bam_ros.dynamixel.packets import TO_ALL, instruction_packet
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.servo import DynamixelServo

_NO_WRITE = instruction_packet(2, TO_ALL, 0x83, bytes((64, 0, 1, 0)))  # a sync write without servos


class Watch:
    """The guardian of an open port, and the servos that it watches over.

    Args:
        port: open; from now on each of its packets is a beat.
        servos: of the bus.
        release: packets that turn their torque off.
        silence: time without a beat after which the guardian sends them, s.

    Raises:
        Unavailable: the process cannot be started.
    """

    def __init__(
        self,
        port: SerialPort,
        servos: Sequence[DynamixelServo],
        release: Sequence[bytes],
        silence: float,
    ) -> None:
        self._port, self._servos = port, servos
        try:
            self._guardian = Guardian(port.fd, release, silence)
        except OSError as error:
            raise Unavailable(
                f"port {port.port_name}",
                f"no guardian process ({error})",
                advice="raise the process limit",
            ) from None
        port.before_write = self.beat_quietly
        port.keep_alive = self._keep_alive

    @property
    def pid(self) -> int:
        """Process id of the guardian."""
        return self._guardian.pid

    def beat_quietly(self) -> None:
        """Beat; a guardian that is gone is the next exchange's concern, a release must not fail for it."""
        with contextlib.suppress(OSError):
            self._beat()

    def require(self, wanted: bool) -> None:
        """Beat before an exchange.

        Args:
            wanted: whether torque is about to be on.

        Raises:
            Unavailable: this driver stood still for too long, or nobody watches it.
        """
        try:
            self._beat(wanted)
        except OSError:
            raise Unavailable(
                f"guardian process {self.pid}",
                "exited unexpectedly",
                expected="to run while the port is open",
                advice="do not kill it",
            ) from None
        self.require_awake()

    def require_awake(self) -> None:
        """Raise Unavailable where the guardian has turned torque off because this driver stood still."""
        guardian = self._guardian
        if guardian.gap > guardian.silence:
            raise Unavailable(
                "driver",
                f"stood still for {guardian.gap:.2g} s while torque was on: its guardian turned torque off",
                expected=f"at most {guardian.silence:.2g} s",
                advice="give it a processor, or raise the parameter watchdog",
            )

    def dismiss(self) -> None:
        """End the guardian without a packet; idempotent."""
        self._guardian.dismiss()

    def _beat(self, wanted: bool = False) -> None:
        """Notify the guardian that this driver is in control, and whether torque is on or about to be.

        This comes before every packet, so that operations of many packets (gains, reboot, opening, a release
        that is not confirmed) are no silence. Raises OSError where the guardian is gone.
        """
        torque = wanted or any(servo.torque is not False for servo in self._servos)
        self._guardian.beat(time.monotonic(), torque=torque)

    def _keep_alive(self) -> None:
        """Send a packet that changes nothing and that nobody answers, for servos that watch the bus."""
        watching = any(servo.torque is not False and "bus_watchdog" in servo.table for servo in self._servos)
        with contextlib.suppress(Exception):
            if watching:
                self._port.writePort(_NO_WRITE)
            else:
                self.beat_quietly()
