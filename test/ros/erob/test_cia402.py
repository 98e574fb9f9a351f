# SPDX-License-Identifier: Apache-2.0
"""CiA 402 without a wire: states, ways between them, faults, angles."""

from __future__ import annotations

import math

import pytest

from bam_ros.driver.hardware_errors import FATAL, HardwareError
from bam_ros.erob.al_status import AlStatus, SlaveState
from bam_ros.erob.cia402 import (
    DISABLE_VOLTAGE,
    ENABLE_OPERATION,
    FAULT_RESET,
    DriveState,
    Encoder,
    PowerSwitch,
    decode_status,
    next_controlword,
)
from bam_ros.erob.faults import drive_fault, fault_bits
from bam_ros.text import al_status_words
from bam_ros.text.al_status_words import al_status_cure, slave_words

WORDS = {
    DriveState.NOT_READY: 0x0000,
    DriveState.SWITCH_ON_DISABLED: 0x0040,
    DriveState.READY_TO_SWITCH_ON: 0x0021,
    DriveState.SWITCHED_ON: 0x0023,
    DriveState.OPERATION_ENABLED: 0x0027,
    DriveState.QUICK_STOP_ACTIVE: 0x0007,
    DriveState.FAULT_REACTION_ACTIVE: 0x000F,
    DriveState.FAULT: 0x0008,
}


class Drive:
    """The state machine of the profile, written from its table of transitions."""

    def __init__(self, state: DriveState) -> None:
        self.state = state
        self.last = 0

    def take(self, word: int) -> None:
        rising = word & FAULT_RESET and not self.last & FAULT_RESET
        self.last = word
        if self.state is DriveState.FAULT:
            if rising:
                self.state = DriveState.SWITCH_ON_DISABLED
        elif self.state is DriveState.FAULT_REACTION_ACTIVE:
            self.state = DriveState.FAULT
        elif self.state is DriveState.NOT_READY or not word & 0x02:
            self.state = DriveState.SWITCH_ON_DISABLED
        elif word & 0x8F == 0x06:
            self.state = DriveState.READY_TO_SWITCH_ON
        elif word & 0x8F == 0x07 and self.state is not DriveState.SWITCH_ON_DISABLED:
            self.state = DriveState.SWITCHED_ON
        elif word & 0x8F == 0x0F and self.state in (DriveState.SWITCHED_ON, DriveState.OPERATION_ENABLED):
            self.state = DriveState.OPERATION_ENABLED


@pytest.mark.parametrize(("state", "word"), WORDS.items())
def test_a_status_word_tells_its_state_whatever_the_other_bits_say(state: DriveState, word: int) -> None:
    free = 0xFF90 | (0x20 if state in (DriveState.SWITCH_ON_DISABLED, DriveState.FAULT) else 0)
    assert decode_status(word) is state
    assert decode_status(word | free) is state


def test_every_status_word_has_a_state_and_impossible_ones_are_unknown() -> None:
    states = [decode_status(word) for word in range(0x10000)]
    assert all(isinstance(state, DriveState) for state in states)
    assert decode_status(0x0001) is DriveState.UNKNOWN


@pytest.mark.parametrize("state", [state for state in WORDS if not state.is_fault])
def test_torque_goes_on_from_every_state_but_a_fault(state: DriveState) -> None:
    drive, switch = Drive(state), PowerSwitch()
    for _ in range(5):
        drive.take(switch.controlword(drive.state, enable=True))
    assert drive.state is DriveState.OPERATION_ENABLED
    assert switch.controlword(drive.state, enable=True) == ENABLE_OPERATION


@pytest.mark.parametrize("state", WORDS)
def test_torque_off_is_one_control_word_away(state: DriveState) -> None:
    assert next_controlword(state, enable=False) == DISABLE_VOLTAGE
    drive = Drive(state)
    drive.take(next_controlword(state, enable=False))
    assert drive.state is not DriveState.OPERATION_ENABLED


def test_a_fault_stays_until_its_reset_is_asked_for() -> None:
    drive, switch = Drive(DriveState.FAULT), PowerSwitch()
    for _ in range(20):
        drive.take(switch.controlword(drive.state, enable=True))
    assert drive.state is DriveState.FAULT


@pytest.mark.parametrize("last", [0x0000, FAULT_RESET])
def test_a_fault_reset_has_its_rising_edge_whatever_was_sent_before(last: int) -> None:
    drive, switch = Drive(DriveState.FAULT_REACTION_ACTIVE), PowerSwitch()
    drive.last = last
    switch.reset_fault()
    for _ in range(4):
        drive.take(switch.controlword(drive.state, enable=False))
    assert drive.state is DriveState.SWITCH_ON_DISABLED
    switch.controlword(drive.state, enable=False)
    assert not switch.resetting


def test_a_later_fault_is_not_reset_by_an_earlier_request() -> None:
    switch = PowerSwitch()
    switch.reset_fault()
    switch.controlword(DriveState.SWITCH_ON_DISABLED, enable=False)
    words = {switch.controlword(DriveState.FAULT, enable=True) for _ in range(6)}
    assert words == {DISABLE_VOLTAGE}


def test_every_fault_code_has_a_bit_that_releases_and_one_line_with_a_cure() -> None:
    for code in range(0x10000):
        assert fault_bits(code) & FATAL
    for code in (0x2310, 0x3210, 0x4310, 0x7305, 0x8611, 0x0000, 0x1234, 0xFFFF):
        fault = drive_fault("elbow", code)
        assert (fault.joint, fault.code) == ("elbow", code)
        assert fault.name
        assert fault.cure
        assert str(fault).isprintable()


@pytest.mark.parametrize(
    ("code", "bit", "name"),
    [
        (0x2310, HardwareError.OVERLOAD, "continuous overcurrent"),
        (0x2320, HardwareError.ELECTRICAL_SHOCK, "short circuit"),
        (0x3220, HardwareError.INPUT_VOLTAGE, "DC link undervoltage"),
        (0x4310, HardwareError.OVERHEATING, "motor too hot"),
        (0x7305, HardwareError.ENCODER, "encoder 1"),
        (0x8611, HardwareError.OVERLOAD, "following error"),
        (0x2313, HardwareError.OVERLOAD, "continuous overcurrent"),  # of a group that has a name
        (0xFF42, HardwareError.DRIVE, "only its vendor knows"),
    ],
)
def test_fault_codes_are_told_by_name(code: int, bit: HardwareError, name: str) -> None:
    assert fault_bits(code) == bit
    assert name in drive_fault("joint", code).name


def test_counts_and_angles_are_each_others_inverse() -> None:
    for direction in (1, -1):
        encoder = Encoder(zero=0.3, direction=direction)
        for counts in (-(2**31), -1, 0, 1, 262144, 2**31 - 1):
            assert encoder.counts(encoder.angle(counts)) == counts
        low, high = encoder.limits()
        assert low < -4000.0 * math.pi < 4000.0 * math.pi < high


def test_the_zero_is_what_the_drive_says_where_the_arm_hangs() -> None:
    encoder = Encoder(zero=math.pi / 2.0)
    assert encoder.angle(524288 // 4) == pytest.approx(0.0)
    assert encoder.rate(524288.0) == pytest.approx(2.0 * math.pi)
    assert Encoder(direction=-1).rate(524288.0) == pytest.approx(-2.0 * math.pi)


def test_al_status_is_told_by_name() -> None:
    fallen = AlStatus.decode(bytes([0x14, 0, 0, 0, 0x1B, 0]))
    assert (fallen.state, fallen.error, fallen.code) == (SlaveState.SAFE_OP, True, 0x1B)
    assert str(fallen) == slave_words("SAFE-OP", 0x1B)
    assert AlStatus.decode(bytes([8, 0, 0, 0, 0, 0])).operational
    assert not fallen.operational
    assert AlStatus.decode(bytes([0x0F, 0, 0, 0, 0, 0])).state is SlaveState.NONE  # no such state


@pytest.mark.parametrize(
    ("code", "parameters"),
    [
        (0x1A, ("distributed_clocks", "cycle_rate")),
        (0x2C, ("distributed_clocks", "cycle_rate")),
        (0x32, ("distributed_clocks", "cycle_rate")),
        (0x1B, ("watchdog", "cycle_rate")),
        (0x1F, ("watchdog",)),
        (0x1E, ("layout",)),
        (0x27, ("distributed_clocks to true",)),
        (0x28, ("distributed_clocks to false",)),
        (0x36, ("cycle_rate",)),
        (0x20, ("off and on",)),
        (0x8123, ("off and on",)),
    ],
)
def test_every_al_status_code_has_a_cure(code: int, parameters: tuple[str, ...]) -> None:
    assert all(parameter in al_status_cure(code) for parameter in parameters)


def test_cures_are_for_codes_that_have_a_name() -> None:
    assert set(al_status_words._CURES) <= set(al_status_words._CODES)
