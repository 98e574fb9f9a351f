# SPDX-License-Identifier: Apache-2.0
"""Registers of Feetech servos, with the calls of `bam_ros.dynamixel.link`; the maker's SDK pings them."""

from __future__ import annotations

from typing import Any

import dynamixel_sdk
import scservo_sdk

from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort

_RESULTS = {
    scservo_sdk.COMM_SUCCESS: dynamixel_sdk.COMM_SUCCESS,
    scservo_sdk.COMM_RX_TIMEOUT: dynamixel_sdk.COMM_RX_TIMEOUT,
    scservo_sdk.COMM_RX_CORRUPT: dynamixel_sdk.COMM_RX_CORRUPT,
    scservo_sdk.COMM_RX_FAIL: dynamixel_sdk.COMM_RX_FAIL,
}


class FeetechLink(Link):
    """Reads and writes registers; pings through the maker's packet handler."""

    def _make_handler(self) -> Any:
        return _Handler(self.port)


class _Handler:
    """The maker's packet handler, called as the one of Dynamixel's SDK is: with the port, and its results.

    Args:
        port: open.
    """

    def __init__(self, port: SerialPort) -> None:
        self._sdk = scservo_sdk.protocol_packet_handler(port, 0)

    def txRxPacket(self, port: SerialPort, packet: list[int]) -> tuple[Any, int, int]:  # noqa: N802
        answer, result, error = self._sdk.txRxPacket(packet)
        return answer, _common(result), error


def _common(result: int) -> int:
    """Return the result that Dynamixel's SDK has for one of the maker's."""
    return _RESULTS.get(result, result)
