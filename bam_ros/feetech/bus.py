# SPDX-License-Identifier: Apache-2.0
"""Feetech servos on one serial port as a `ServoBus`."""

from __future__ import annotations

from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.control_table import ControlTable
from bam_ros.dynamixel.discovery import FoundServos
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.servo import DynamixelServo
from bam_ros.feetech.discovery import find_servos
from bam_ros.feetech.link import FeetechLink
from bam_ros.feetech.servo import FeetechServo


class FeetechBus(DynamixelBus):
    """Servos on one port, with the guardian process of `DynamixelBus`; arguments as there."""

    def _find(self, port: SerialPort, known: FoundServos | None) -> FoundServos:
        return find_servos(
            port,
            self._settings.ids,
            baud_rate=known.baud_rate if known else self._settings.baud_rate,
            search=known is None,
            stop=self._stop,
            announce=self._report,
        )

    def _make_link(self, port: SerialPort, protocol: int) -> Link:
        return FeetechLink(port, protocol)

    def _make_servo(self, name: str, servo: int, table: ControlTable, link: Link) -> DynamixelServo:
        return FeetechServo(name, servo, table, link, kind=self._kind(name), borrowed=self._borrowed[servo])
