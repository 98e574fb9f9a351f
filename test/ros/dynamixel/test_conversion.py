# SPDX-License-Identifier: Apache-2.0
"""While answers are on the line, those before them are converted."""

from __future__ import annotations

import pytest

from bam_ros.driver.servo_bus import ServoGoal
from test.ros.dynamixel.wired_bus import wired_bus


def test_answers_of_one_read_are_converted_while_the_next_is_on_the_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with wired_bus(monkeypatch, "ax12a,mx106,xm430_w350", 3) as wired:
        bus, port, order = wired.bus, wired.port, []
        write, receive = port._write, port._receive
        monkeypatch.setattr(port, "_write", lambda data: order.append("sent") or write(data))
        monkeypatch.setattr(port, "_receive", lambda wait: order.append("received") or receive(wait))
        for servo in bus._servos:
            measured = servo.measured
            monkeypatch.setattr(
                servo,
                "measured",
                lambda data, name=servo.name, measured=measured: order.append(name) or measured(data),
            )
        bus._next_check = float("inf")
        bus.exchange(ServoGoal.released(3))
        # An AX-12 answers no bulk read, and is read behind the others of its protocol.
        assert order == [
            "sent",
            "received",
            "sent",
            "joint2",
            "received",
            "sent",
            "joint1",
            "received",
            "joint3",
        ]


def test_an_answer_is_converted_while_the_next_ones_are_on_the_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with wired_bus(monkeypatch, "sts3215", 3) as wired:
        bus, port, order = wired.bus, wired.port, []
        coming = bytearray()
        answer = bus._groups[0]._requests[0].next_end({})

        def receive(wait: float) -> bool:
            order.append("received")
            coming.extend(port._coming)
            port._coming = b""
            port._buffer += coming[:answer]
            del coming[:answer]
            return True

        monkeypatch.setattr(port, "_receive", receive)
        for servo in bus._servos:
            measured = servo.measured
            monkeypatch.setattr(
                servo,
                "measured",
                lambda data, name=servo.name, measured=measured: order.append(name) or measured(data),
            )
        bus._next_check = float("inf")
        sample = bus.exchange(ServoGoal.released(3))
        assert order == ["received", "joint1", "received", "joint2", "received", "joint3"]
        assert len(sample.position) == 3
