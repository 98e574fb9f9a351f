# SPDX-License-Identifier: Apache-2.0
"""Servos are found at any baud rate, and what is wrong is told apart when they are not."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from bam_core.errors import Unavailable, Unsupported
from bam_ros.dynamixel.discovery import BAUD_RATES, find_servos
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort
from test.ros.ros_helpers import VirtualServos

MakeVirtual = Callable[..., VirtualServos]


@pytest.fixture
def open_port() -> Iterator[Callable[[str], SerialPort]]:
    ports = []

    def make(path: str) -> SerialPort:
        port = SerialPort(path)
        ports.append(port)
        port.openPort()
        return port

    yield make
    for port in ports:
        port.closePort()


OpenPort = Callable[[str], SerialPort]


@pytest.mark.parametrize("servo", ["mx106", "mx106_2"])
@pytest.mark.parametrize("baud_rate", BAUD_RATES[:3])
def test_baud_rate_protocol_and_model_are_found(
    servo: str, baud_rate: int, virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    virtual = virtual_servos(servo=servo, baud_rate=baud_rate)
    found = find_servos(open_port(virtual.path), [1])
    assert abs(found.baud_rate - baud_rate) <= 0.03 * baud_rate
    assert found.tables[1].name == servo
    assert found.protocol == virtual.servo.table.protocol


@pytest.mark.parametrize("servo", ["mx106", "xl330"])
def test_a_wrong_id_names_the_right_one(servo: str, virtual_servos: MakeVirtual, open_port: OpenPort) -> None:
    virtual = virtual_servos(servo=servo, ids=(4,), baud_rate=57600)
    with pytest.raises(Unavailable, match="no servo with id 1, but id 4 answered"):
        find_servos(open_port(virtual.path), [1], baud_rates=(57600,))


def test_answers_that_are_lost_on_a_bad_line_are_asked_for_again(
    virtual_servos: MakeVirtual, open_port: OpenPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual = virtual_servos(ids=(1, 2), baud_rate=57600)
    lost: list[int] = []

    def ping(link: Link, servo: int) -> bool:
        if servo == 2 and len(lost) < 5:
            lost.append(servo)
            return False
        return asked(link, servo)

    asked = Link.ping
    monkeypatch.setattr(Link, "ping", ping)
    assert list(find_servos(open_port(virtual.path), [1, 2], baud_rates=(57600,)).tables) == [1, 2]
    assert len(lost) == 5


def test_one_missing_servo_is_named(virtual_servos: MakeVirtual, open_port: OpenPort) -> None:
    virtual = virtual_servos(ids=(1, 2), baud_rate=57600)
    with pytest.raises(Unavailable, match=r"no answer from id 3 \(id 1, 2 answered"):
        find_servos(open_port(virtual.path), [1, 2, 3], baud_rates=(57600,))


def test_a_silent_bus_names_every_baud_rate_and_id_that_was_tried(
    virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    virtual = virtual_servos(baud_rate=1_000_000)
    said: list[str] = []
    with pytest.raises(Unavailable) as caught:
        find_servos(open_port(virtual.path), [1, 3], baud_rates=(57600, 115200), say=said.append)
    assert (
        "(tried id 1, 3, every other id with protocol 2.0, ids 0 to 20 with protocol 1.0;"
        " baud rates 57600, 115200; protocol 2.0 and 1.0)"
    ) in str(caught.value)
    assert len(said) == 1
    assert "searching servos, baud rates 57600, 115200 x ids 1, 3 x protocol 1.0 and 2.0" in said[0]


@pytest.mark.parametrize(("baud_rate", "lines"), [(57600, 0), (115200, 1)])
def test_a_search_is_announced_once_it_takes_longer(
    baud_rate: int, lines: int, virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    virtual = virtual_servos(baud_rate=baud_rate)
    said: list[str] = []
    find_servos(open_port(virtual.path), [1], baud_rates=(57600, 115200), say=said.append)
    assert len(said) == lines


def test_an_unsupported_model_is_named(virtual_servos: MakeVirtual, open_port: OpenPort) -> None:
    virtual = virtual_servos(baud_rate=57600)
    virtual.set("model_number", 29)
    with pytest.raises(Unsupported, match="29"):
        find_servos(open_port(virtual.path), [1])


def test_a_search_can_be_stopped(virtual_servos: MakeVirtual, open_port: OpenPort) -> None:
    virtual = virtual_servos(ids=(9,))
    port = open_port(virtual.path)
    asked = iter(range(10))

    def stop() -> bool:
        return next(asked) == 3  # it is not asked again

    with pytest.raises(Unavailable, match="stopped"):
        find_servos(port, [1], stop=stop)
    assert next(asked) == 4
