# SPDX-License-Identifier: Apache-2.0
"""The rate of a line counts the bytes that really went over it."""

from __future__ import annotations

import pytest

from studies.bench.dynamixel_bus import LINES, Line, line_rate


def test_the_packets_of_a_line_are_counted() -> None:
    rate = line_rate(Line(name="two", servos=("xm430_w350",) * 2, baud_rate=4_000_000), duration=0.2)
    goals, request, answer = 14 + 2 * 5, 14 + 2, 8 + 2 * (4 + 16)
    assert rate.bytes_per_cycle == pytest.approx(goals + request + answer, rel=0.6, abs=60)
    assert rate.bytes_per_cycle > request + answer
    assert rate.packets == pytest.approx(400_000 / rate.bytes_per_cycle)
    assert 0.0 < rate.cycles < rate.packets


def test_feetech_servos_answer_one_packet_in_one_block_each() -> None:
    line = next(line for line in LINES if line.servos[0] == "sts3215")
    rate = line_rate(line, duration=0.2)
    goals, request, answer = 8 + 6 * 3, 8 + 6, 6 * (6 + 15)
    assert rate.bytes_per_cycle == pytest.approx(goals + request + answer, rel=0.6, abs=60)
    assert rate.bytes_per_cycle > request + answer
    assert 0.0 < rate.cycles < rate.packets
