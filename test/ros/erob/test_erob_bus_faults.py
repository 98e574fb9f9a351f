# SPDX-License-Identifier: Apache-2.0
"""Faults of line, segment and drives on the bus: counted, named, and each with a defined end."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time

import pytest
from erob_cases import exchange, failure, hold, keep, opened, torque, wait_torque_off
from ros_helpers import PATIENCE

from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import BusError, BusGone, ServoGoal
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.erob.objects import Object

GENTLE = ["drop=0.02", "corrupt=0.02", "garble=0.02", "reorder=0.02", "delay=0.0005"]


@pytest.mark.parametrize("word", GENTLE)
def test_single_lost_cycles_are_counted_and_survived(pair: VirtualSegmentProcess, word: str) -> None:
    with opened(pair) as bus:
        goal = hold(bus, 0.0)
        keep(bus, goal, lambda sample: bool(bus.report))
        pair.faults(word)
        cycles = bus.report["sent"] + 150
        loses = word in ("drop=0.02", "corrupt=0.02", "garble=0.02")  # the others only come late
        deadline = time.monotonic() + PATIENCE
        while bus.report["sent"] < cycles or (loses and not bus.report["lost"]):
            assert time.monotonic() < deadline
            sample = exchange(bus, goal)
            if sample is not None:  # what is delivered is true, not damaged and not old
                assert all(abs(position) < 0.01 for position in sample.position)
                assert all(sample.torque_enabled)
                assert sample.hardware_error == (0, 0)
            time.sleep(0.002)
        pair.faults()
        keep(bus, goal, lambda sample: True)
        report = bus.report
        assert report["sent"] == report["answered"] + report["lost"]
        assert report["lost"] == report["unanswered"] + report["wrong"] + report["stale"]


LOST = {
    "drop=1": (BusGone, "interface .*: no slave answers any more .*check cable and power"),
    "lost@1": (BusError, r"slave at position 1 \(joint 'a'\): does not answer"),
    "lost@2": (BusError, r"slave at position 2 \(joint 'b'\): does not answer"),
    "safe_op@2": (BusError, r"slave at position 2 \(joint 'b'\): is in SAFE-OP\+ERROR \(AL status 0x001A"),
    "wkc@1": (BusError, r"wrong working counter .*working counter 5, expected 6"),
}


@pytest.mark.parametrize("word", LOST)
def test_a_segment_that_fails_is_named_released_and_taken_again(
    pair: VirtualSegmentProcess, word: str
) -> None:
    kind, message = LOST[word]
    with opened(pair) as bus:
        goal = hold(bus)
        pair.faults(word)
        error = failure(bus, goal)
        assert isinstance(error, kind)
        assert re.search(message, str(error)), str(error)
        wait_torque_off(pair)
        with pytest.raises(BusError):  # no silent values afterwards
            bus.exchange(goal)
        if word != "wkc@1":
            bus.close()
            with contextlib.suppress(BusError):  # not before it is repaired
                bus.open()
                pytest.fail("opened though it is broken")
        pair.faults()
        bus.close()
        bus.open()
        sample = keep(bus, ServoGoal.released(2), lambda sample: True)
        assert sample.torque_enabled == (False, False)
        assert sample.hardware_error == (0, 0)
        hold(bus)


FAULTS = {
    "overcurrent@1": (HardwareError.OVERLOAD, "0x23.., .*overcurrent"),
    "short_circuit@1": (HardwareError.ELECTRICAL_SHOCK, "short circuit"),
    "following_error@1": (HardwareError.OVERLOAD, "0x8611, following error"),
    "overvoltage@1": (HardwareError.INPUT_VOLTAGE, "DC link overvoltage"),
    "undervoltage@1": (HardwareError.INPUT_VOLTAGE, "DC link undervoltage"),
    "overheat@1": (HardwareError.OVERHEATING, "too hot"),
    "encoder@1": (HardwareError.ENCODER, "0x73.., "),
    "fault=0xFF42@1": (HardwareError.DRIVE, "0xFF42, error that only its vendor knows"),
}
LASTING = ("overvoltage@1", "undervoltage@1", "overheat@1", "encoder@1")


@pytest.mark.parametrize("word", FAULTS)
def test_a_drive_fault_is_named_and_stays_until_it_is_reset(pair: VirtualSegmentProcess, word: str) -> None:
    bit, message = FAULTS[word]
    with opened(pair) as bus:
        goal = hold(bus)
        pair.faults(word)
        sample = keep(bus, goal, lambda sample: any(sample.hardware_error))
        assert sample.hardware_error == (bit, 0)
        assert not sample.torque_enabled[0]
        (line,) = bus.describe_errors("a", sample.hardware_error[0])
        assert re.search(f"a: drive fault .*{message}", line), line
        bus.release()
        assert torque(pair) == [False, False]
        keep(bus, ServoGoal.released(2), lambda sample: sample.hardware_error == (bit, 0))
        if word in LASTING:
            with pytest.raises(BusError, match="still in fault"):
                bus.reboot("a")
        pair.faults()
        bus.reboot("a")
        sample = keep(bus, ServoGoal.released(2), lambda sample: sample.hardware_error == (0, 0))
        assert sample.torque_enabled == (False, False)
        hold(bus)


def test_a_fault_that_was_there_before_is_not_reset_by_opening(pair: VirtualSegmentProcess) -> None:
    pair.faults("overheat@1")
    with opened(pair) as bus:
        sample = keep(bus, ServoGoal.released(2), lambda sample: any(sample.hardware_error))
        assert sample.hardware_error == (HardwareError.OVERHEATING, 0)


def test_an_object_that_is_not_answered_is_an_error_and_costs_no_cycles(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        pair.faults("sdo_timeout@1")
        with pytest.raises(BusError, match=r"a: cannot read object 0x6076:0 .*no answer"):
            bus.read_object("a", Object.RATED_TORQUE)
        assert all(keep(bus, goal, lambda sample: True).torque_enabled)
        pair.faults()
        assert len(bus.read_object("a", Object.RATED_TORQUE)) == 4


def test_an_interface_that_is_down_is_told_and_taken_when_it_is_up(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        subprocess.run(["ip", "link", "set", pair.interface, "down"], check=True)
        error = failure(bus, goal)
        assert isinstance(error, BusGone)
        assert f"interface {pair.interface}: is down (expected up); ip link set" in str(error)
        wait_torque_off(pair)
        bus.close()
        with pytest.raises(BusGone, match="is down"):
            bus.open()
        subprocess.run(["ip", "link", "set", pair.interface, "up"], check=True)
        bus.open()
        hold(bus)
