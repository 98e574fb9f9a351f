# SPDX-License-Identifier: Apache-2.0
"""Servos are found at any baud rate, and what is wrong is told apart when they are not."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest

from bam_core.errors import Conflict, Unavailable, Unsupported
from bam_ros.driver.servo_bus import BusGone
from bam_ros.dynamixel.discovery import BAUD_RATES, RARE_BAUD_RATES, NoServoAnswers, find_servos
from bam_ros.dynamixel.link import Link
from bam_ros.dynamixel.port import SerialPort
from bam_ros.emulators.dynamixel.builder import BusSetup, build_servo
from bam_ros.text.dynamixel_notices import SearchBegun
from test.core.refusals import refused
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
    with pytest.raises(BusGone, match=r"no answer from id 3 \(id 1, 2 answered"):
        find_servos(open_port(virtual.path), [1, 2, 3], baud_rates=(57600,))


def test_servos_of_both_protocols_are_found_on_one_line(
    virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    virtual = virtual_servos(servo="xl330,mx106,mx64_2", ids=(1, 2, 3), baud_rate=57600)
    found = find_servos(open_port(virtual.path), [2, 1, 3], baud_rates=(57600,))
    assert [table.name for table in found.tables.values()] == ["mx106", "xl330", "mx64_2"]
    assert found.protocol == 0
    assert all(f"(protocol {number}.0)" in str(found) for number in (1, 2))


@pytest.mark.parametrize("servo", ["mx106,xl330", "mx106"])
def test_servos_that_answer_with_another_protocol_than_the_one_set_are_named(
    servo: str, virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    ids = (1, 2)[: servo.count(",") + 1]
    virtual = virtual_servos(servo=servo, ids=ids, baud_rate=57600)
    words = r"id 1 .*protocol 1\.0.*expected protocol 2\.0.*parameter protocol to 0"
    with pytest.raises(Conflict, match=words):
        find_servos(open_port(virtual.path), ids, protocol=2, baud_rates=(57600,))


@pytest.mark.parametrize("other", [1_000_000, 500_000])
def test_servos_with_other_baud_rates_are_named_with_them(
    other: int, virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    virtual = virtual_servos(servo="mx106,mx64", ids=(1, 2), baud_rate=57600)
    second = virtual.bus.servos[1]
    second.registers.set("baud_rate", second.table.baud_value(other))
    with pytest.raises(Conflict) as caught:
        find_servos(open_port(virtual.path), [1, 2], baud_rates=(57600,))
    assert re.findall(r"id (\d)\D+ (\d+) baud", str(caught.value)) == [("2", str(other)), ("1", "57600")]


def test_a_rare_baud_rate_is_found_at_last(virtual_servos: MakeVirtual, open_port: OpenPort) -> None:
    virtual = virtual_servos(servo="mx106", baud_rate=200_000)
    assert find_servos(open_port(virtual.path), [1], baud_rates=(57600,)).baud_rate == 200_000


def test_a_rare_baud_rate_that_the_adapter_does_not_have_is_left_out(
    virtual_servos: MakeVirtual, open_port: OpenPort, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual = virtual_servos(servo="mx106", baud_rate=400_000)
    port = open_port(virtual.path)
    allowed = port.setBaudRate

    def set_rate(rate: int) -> bool:
        if rate in (500_000, 200_000):
            raise Unsupported("port", f"cannot run at {rate} baud", advice="choose another baud_rate")
        return allowed(rate)

    monkeypatch.setattr(port, "setBaudRate", set_rate)
    assert find_servos(port, [1], baud_rates=(57600,)).baud_rate == 400_000
    with pytest.raises(Unsupported):
        find_servos(port, [1], baud_rate=500_000)


def test_a_silent_bus_names_every_baud_rate_and_id_that_was_tried(
    virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    virtual = virtual_servos(baud_rate=3_000_000)
    said: list[str] = []
    with pytest.raises(NoServoAnswers) as caught:
        find_servos(open_port(virtual.path), [1, 3], baud_rates=(57600, 115200), report=said.append)
    silent = caught.value
    assert (silent.ids, silent.baud_rates) == ((1, 3), (57600, 115200))
    assert silent.rare_baud_rates == RARE_BAUD_RATES
    assert (silent.scanned[0], silent.scanned[-1]) == (0, 20)
    begun = SearchBegun(
        port=virtual.path, baud_rates=(57600, 115200), ids=(1, 3), protocols=(1, 2), longest=10.0
    )
    assert said == [str(begun)]


@pytest.mark.parametrize(("baud_rate", "lines"), [(57600, 0), (115200, 1)])
def test_a_search_is_announced_once_it_takes_longer(
    baud_rate: int, lines: int, virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    virtual = virtual_servos(baud_rate=baud_rate)
    said: list[str] = []
    find_servos(open_port(virtual.path), [1], baud_rates=(57600, 115200), report=said.append)
    assert len(said) == lines


def test_an_unsupported_model_is_named(virtual_servos: MakeVirtual, open_port: OpenPort) -> None:
    virtual = virtual_servos(baud_rate=57600)
    virtual.set("model_number", 4711)
    with pytest.raises(Unsupported, match=r"4711.*parameter models"):
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


@pytest.mark.parametrize(
    ("servo", "other"),
    [("mx106", "mx106"), ("xm430_w350", "xm430_w350"), ("xm430_w350", "xl330")],
)
def test_two_servos_of_one_id_are_refused(
    servo: str, other: str, virtual_servos: MakeVirtual, open_port: OpenPort
) -> None:
    """Also two of one model, whose models answer with the same bits, and two of which no answer is whole."""
    virtual = virtual_servos(servo=servo, ids=(1, 2))
    second = BusSetup(servo=other, seed=1000, ids=(1, 2))
    double = build_servo(second, 1, virtual.bus.servos[1].bench.time)
    double.bench.set_supply(10.0)  # what the two measure differs at any time
    virtual.bus.double = double
    with refused(Conflict, thing="id 2"):
        find_servos(open_port(virtual.path), (1, 2))
