# SPDX-License-Identifier: Apache-2.0
"""The rate of a line counts the bytes that really went over it."""

from __future__ import annotations

import os
import tty

import pytest

from bam_ros.dynamixel.port import SerialPort
from studies.bench.counting_client import CountingClient, Request, recorded_cycle
from studies.bench.dynamixel_bus import LINES, Line, line_rate


def test_the_packets_of_a_line_are_counted() -> None:
    rate = line_rate(Line(name="two", servos=("xm430_w350",) * 2, baud_rate=4_000_000), duration=0.2)
    goals, request, answer = 14 + 2 * 5, 14 + 2, 8 + 2 * (4 + 16)
    assert rate.bytes_per_cycle == pytest.approx(goals + request + answer, rel=0.6, abs=60)
    assert rate.bytes_per_cycle > request + answer
    assert rate.packets == pytest.approx(400_000 / rate.bytes_per_cycle)
    assert 0.0 < rate.cycles < rate.packets
    assert 0.0 < rate.counted < rate.packets
    assert rate.fastest_counted > 0.0


class Echo(SerialPort):
    """A port of which three bytes come back for each request."""

    def __init__(self) -> None:
        super().__init__("echo")

    def _write(self, data: bytes) -> int:
        return len(data)

    def ask(self, *requests: bytes) -> None:
        for request in requests:
            self.writePort(request)  # type: ignore[arg-type]
            self.traffic += 3


def test_a_recorded_cycle_is_the_shortest_with_what_came_back() -> None:
    port, extra = Echo(), iter((True, False, True))
    cycle = recorded_cycle(port, lambda: port.ask(b"goal", *((b"look",) if next(extra) else ())), times=3)
    assert cycle == (Request(b"goal", 3),)


def test_a_counting_client_waits_for_the_bytes_of_each_request() -> None:
    near, far = os.openpty()
    tty.setraw(far)
    os.write(near, b"123" + b"45")
    CountingClient(far, (Request(b"ab", 3), Request(b"c", 2))).run()
    sent = b""
    while len(sent) < 3:
        sent += os.read(near, 10)
    assert sent == b"abc"
    os.close(near)
    os.close(far)


def test_feetech_servos_answer_one_packet_in_one_block_each() -> None:
    line = next(line for line in LINES if line.servos[0] == "sts3215")
    rate = line_rate(line, duration=0.2)
    goals, request, answer = 8 + 6 * 3, 8 + 6, 6 * (6 + 15)
    assert rate.bytes_per_cycle == pytest.approx(goals + request + answer, rel=0.6, abs=60)
    assert rate.bytes_per_cycle > request + answer
    assert 0.0 < rate.cycles < rate.packets
