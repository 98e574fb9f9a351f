# SPDX-License-Identifier: Apache-2.0
"""The Dynamixel bus, its guardian and operations that take long: reboots, gains, opening, a bad line."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from bam_core.errors import BamError, OutOfRange, Unavailable
from bam_ros.driver.servo_bus import BusTimeout, Gains, ServoGoal
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.guardian import SILENCE, Guardian
from bam_ros.dynamixel.settings import DynamixelSettings
from bam_ros.emulators.dynamixel.packets import BROADCAST_ID, Packet
from test.ros.ros_helpers import CALM, VirtualServos, wait_for

SERVOS = ("mx106", "mx106_2", "xl330")

Pair = Callable[..., tuple[VirtualServos, DynamixelBus]]


@pytest.fixture
def pair(virtual_servos: Callable[..., VirtualServos]) -> Iterator[Pair]:
    """Two virtual servos, and the bus of joints a and b on them, not open yet."""
    buses = []

    def make(servo: str, **settings: float) -> tuple[VirtualServos, DynamixelBus]:
        virtual = virtual_servos(servo=servo, ids=(1, 2))
        patient = {**CALM, "answer_timeout": 0.25, **settings}
        buses.append(
            DynamixelBus(
                DynamixelSettings(
                    port=virtual.path,
                    baud_rate=1_000_000,
                    joints=("a", "b"),
                    ids=(1, 2),
                    **patient,  # type: ignore[arg-type]
                )
            )
        )
        return virtual, buses[-1]

    yield make
    for bus in buses:
        bus.close()


@pytest.mark.parametrize("servo", SERVOS)
def test_two_servos_are_rebooted_without_a_look_at_them_in_between(servo: str, pair: Pair) -> None:
    virtual, bus = pair(servo)
    bus.open()
    for each in virtual.bus.servos:
        each.inject("overload")
    off = ServoGoal.released(2)
    wait_for(lambda: all(bus.exchange(off).hardware_error))
    for each in virtual.bus.servos:
        each.repair()
    for name in bus.names:
        bus.reboot(name)
    sample = bus.exchange(off)
    assert sample.hardware_error == (0, 0)
    assert sample.torque_enabled == (False, False)
    bus.exchange(ServoGoal(torque_enable=(True, True), position=sample.position))
    assert [each.torque_enabled for each in virtual.bus.servos] == [True, True]


@pytest.fixture
def beats(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """What guardians were told of torque, in order, also where nothing changed."""
    told: list[bool] = []
    beat = Guardian.beat

    def note(guardian: Guardian, now: float, *, torque: bool) -> None:
        told.append(torque)
        beat(guardian, now, torque=torque)

    monkeypatch.setattr(Guardian, "beat", note)
    return told


def broadcasts(virtual: VirtualServos, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Keep the packets for all servos, by instruction: of the guardian, and of the driver's `release`."""
    seen: list[int] = []
    dispatch = virtual.bus._dispatch

    def note(packet: Packet, *arguments: Any) -> Any:
        if packet.id == BROADCAST_ID:
            seen.append(packet.instruction)
        return dispatch(packet, *arguments)

    monkeypatch.setattr(virtual.bus, "_dispatch", note)
    return seen


def hold_last(bus: DynamixelBus) -> None:
    """Switch on the last of two servos only, however late answers are and however long the machine stalls."""

    def held() -> bool:
        try:
            position = bus.exchange(ServoGoal.released(2)).position
            return bus.exchange(ServoGoal(torque_enable=(False, True), position=position)).torque_enabled[1]
        except BusTimeout:
            return False
        except Unavailable as error:
            if error.thing != "driver":  # it stood still, and its guardian let go
                raise
            bus.close()
            bus.open()
            return False

    wait_for(held)


def test_the_guardian_stays_quiet_while_servos_reboot_slowly(
    pair: Pair, monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual, bus = pair("xl330", guardian_silence=SILENCE)
    for servo in virtual.bus.servos:
        servo.boot_time = 2.0 * SILENCE
    bus.open()
    hold_last(bus)
    bus.release()
    seen = broadcasts(virtual, monkeypatch)
    bus.reboot("a")
    bus.reboot("b")
    assert seen == []
    assert bus.exchange(ServoGoal.released(2)).hardware_error == (0, 0)


@pytest.mark.parametrize(
    "servo", [SERVOS[0], *(pytest.param(servo, marks=pytest.mark.long) for servo in SERVOS[1:])]
)
def test_no_servo_reboots_before_torque_is_off_on_all(servo: str, pair: Pair, beats: list[bool]) -> None:
    virtual, bus = pair(servo)
    bus.open()
    hold_last(bus)
    assert beats[-1]
    bus.reboot("a")
    assert not beats[-1]
    assert [each.torque_enabled for each in virtual.bus.servos] == [False, False]
    hold_last(bus)
    virtual.bus.faults.drop = 1.0
    with pytest.raises(Unavailable) as caught:
        bus.reboot("a")
    assert caught.value.thing == "b"
    assert beats[-1]  # on guard: nobody knows what the second servo does
    virtual.bus.faults.drop = 0.0  # else the bus tries to release it for long


@pytest.mark.parametrize("servo", SERVOS)
def test_the_guardian_hears_of_every_packet_of_a_long_operation(
    servo: str, pair: Pair, beats: list[bool]
) -> None:
    virtual, bus = pair(servo)
    bus.open()
    assert beats[0]  # nobody knows yet what the servos hold
    assert not beats[-1]
    hold_last(bus)
    beats.clear()
    bus.set_gains("a", Gains(kp=20.0, ki=1.0, kd=2.0))
    heard = len(beats)
    assert heard >= 6  # three gains written and read back
    assert all(beats)
    virtual.bus.faults.drop = 1.0
    with pytest.raises(BamError):
        bus.set_gains("a", Gains(kp=20.0, ki=1.0, kd=2.0))
    assert len(beats) >= heard + 3  # attempts
    assert all(beats)
    virtual.bus.faults.drop = 0.0
    bus.release()
    assert not beats[-1]


def test_a_driver_that_stood_still_says_so_and_not_that_the_supply_dipped(
    virtual_servos: Callable[..., VirtualServos], monkeypatch: pytest.MonkeyPatch
) -> None:
    virtual = virtual_servos(servo="mx106", ids=(1, 2))
    settings = DynamixelSettings(
        port=virtual.path, baud_rate=1_000_000, joints=("a", "b"), ids=(1, 2), watchdog=2.5
    )
    bus = DynamixelBus(settings)
    bus.open()
    try:
        on = ServoGoal(torque_enable=(True, True), position=(0.0, 0.0))
        bus.exchange(on)
        bus.exchange(on)
        later = time.monotonic() + 5.0
        monkeypatch.setattr("bam_ros.dynamixel.watch.time", SimpleNamespace(monotonic=lambda: later))
        with pytest.raises(Unavailable, match="at most 4 s") as caught:
            bus.exchange(on)
        assert caught.value.thing == "driver"
    finally:
        bus.close()


@pytest.mark.parametrize("watchdog", [0.03, 2.6, -1.0])
def test_a_watchdog_that_no_servo_can_have_is_refused(watchdog: float) -> None:
    with pytest.raises(OutOfRange) as caught:
        DynamixelSettings(watchdog=watchdog)
    assert (caught.value.thing, caught.value.value) == ("watchdog", watchdog)
