# SPDX-License-Identifier: Apache-2.0
"""Faults of drives and segment, each with its defined end."""

from __future__ import annotations

import contextlib
import re
import socket
from types import SimpleNamespace

import pytest

from bam_core.errors import BamError, Unavailable, Unsupported
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import BusGone, ServoGoal
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.erob import master
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.messages import Note, receive
from bam_ros.erob.objects import Object
from bam_ros.text.erob_notices import CameUpLater
from test.ros.erob_cases import failure, hold, keep, opened, settings, torque, wait_torque_off

LOST = {
    "drop=1": (BusGone, "interface .*: no slave answers any more .*check cable and power"),
    "lost@1": (Unavailable, r"slave at position 1 \(joint 'a'\): does not answer"),
    "lost@2": (Unavailable, r"slave at position 2 \(joint 'b'\): does not answer"),
    "safe_op@2": (Unavailable, r"slave at position 2 \(joint 'b'\): is in SAFE-OP\+ERROR \(AL status 0x001A"),
    "wkc@1": (Unavailable, r"wrong working counter .*working counter 5, expected 6"),
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
        with pytest.raises(BamError):  # no silent values afterwards
            bus.exchange(goal)
        if word != "wkc@1":
            bus.close()
            with contextlib.suppress(BamError):  # not before it is repaired
                bus.open()
                pytest.fail("opened though it is broken")
        pair.faults()
        bus.close()
        bus.open()
        sample = keep(bus, ServoGoal.released(2), lambda sample: True)
        assert sample.torque_enabled == (False, False)
        assert sample.hardware_error == (0, 0)
        hold(bus)


@pytest.mark.parametrize("kind", [Unavailable, Unsupported])
def test_what_may_come_up_is_tried_again_and_that_is_told(
    kind: type[Unavailable | Unsupported], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0
    failed = kind("slave at position 2", "does not reach OP", advice="switch it off and on")

    def bring_up(*_: object) -> tuple[object, dict[str, object]]:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise failed
        return SimpleNamespace(run=lambda: None), {}

    monkeypatch.setattr(master, "_bring_up", bring_up)
    monkeypatch.setattr(master.Segment, "open", lambda self: None)
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    told = ErobBus(settings("lo"))._master_settings
    with near, far:
        if kind is Unsupported:  # a refusal stays one
            with pytest.raises(kind):
                master.serve(near, told)
            assert tries == 1
            return
        master.serve(near, told)
        note = receive(far)
    assert isinstance(note, Note)
    assert note.kind == "opened"
    assert note.content["warnings"][0] == str(CameUpLater(failure=failed))


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
            with pytest.raises(Unavailable, match="still in fault"):
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


@pytest.mark.long
def test_an_object_that_is_not_answered_is_an_error_and_costs_no_cycles(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        pair.faults("sdo_timeout@1")
        with pytest.raises(Unavailable, match=r"0x6076:0 .*no answer"):
            bus.read_object("a", Object.RATED_TORQUE)
        assert all(keep(bus, goal, lambda sample: True).torque_enabled)
        pair.faults()
        assert len(bus.read_object("a", Object.RATED_TORQUE)) == 4
