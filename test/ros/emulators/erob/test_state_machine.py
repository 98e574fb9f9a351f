# SPDX-License-Identifier: Apache-2.0
"""The EtherCAT state machine as a table, and the checks of its steps on a slave."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bam_ros.emulators.erob import sii
from bam_ros.emulators.erob.registers import Register
from bam_ros.emulators.erob.state_machine import AlCode, AlState, AlStateMachine, Pending, Refusal
from test.ros.virtual_wire import ACKNOWLEDGE, MS, OP, PRE_OP, SAFE_OP, Wire

STATES = [AlState.INIT, AlState.PRE_OP, AlState.SAFE_OP, AlState.OP]


def machine(state: AlState) -> AlStateMachine:
    made = AlStateMachine(lambda before, after: None)
    made.state = state
    return made


@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("wanted", STATES)
def test_up_goes_one_step_and_down_any(before, wanted):
    states = machine(before)
    states.request(wanted)
    steps = STATES.index(wanted) - STATES.index(before)
    if steps <= 1:
        assert (states.status, states.code) == (wanted, AlCode.NO_ERROR)
    else:
        assert (states.status, states.code) == (before | 0x10, AlCode.INVALID_STATE_CHANGE)


@pytest.mark.parametrize(
    ("control", "code"),
    [(0, AlCode.UNKNOWN_STATE), (3, AlCode.BOOT_NOT_SUPPORTED), (7, AlCode.UNKNOWN_STATE)],
)
def test_states_that_it_does_not_have_are_refused_by_name(control, code):
    states = machine(AlState.PRE_OP)
    states.request(control)
    assert (states.status, states.code) == (PRE_OP | 0x10, code)


def test_an_error_is_acknowledged_before_anything_above():
    states = machine(AlState.SAFE_OP)
    states.request(5)
    assert states.error
    states.request(AlState.OP)
    assert states.status == SAFE_OP | 0x10
    states.request(AlState.SAFE_OP | ACKNOWLEDGE)
    assert (states.status, states.code) == (SAFE_OP, AlCode.NO_ERROR)
    states.request(AlState.OP)
    assert states.status == OP


def test_every_step_on_the_way_down_is_told():
    told = []
    states = AlStateMachine(lambda before, after: told.append((before, after)))
    states.state = AlState.OP
    states.request(AlState.INIT)
    assert told == [(8, 4), (4, 2), (2, 1)]
    told.clear()
    states.state = AlState.OP
    states.fall(AlState.SAFE_OP, AlCode.WATCHDOG)
    assert told == [(8, 4)]
    assert (states.status, states.code) == (SAFE_OP | 0x10, AlCode.WATCHDOG)


def test_a_pending_step_is_tried_again_or_given_up():
    answers: list[Exception | None] = [Pending(AlCode.NO_VALID_OUTPUTS)] * 2 + [None]

    def enter(before: AlState, after: AlState) -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    states = AlStateMachine(enter)
    states.state = AlState.SAFE_OP
    states.request(AlState.OP)
    assert states.status == SAFE_OP
    states.retry()
    assert states.status == SAFE_OP
    states.retry()
    assert states.status == OP
    states = machine(AlState.SAFE_OP)
    states.pending = Pending(AlCode.NO_SYNC)
    states.give_up()
    assert (states.status, states.code) == (SAFE_OP | 0x10, AlCode.NO_SYNC)


@given(st.lists(st.integers(0, 0xFF), max_size=30))
def test_no_sequence_of_requests_leaves_the_four_states(controls):
    def enter(before: AlState, after: AlState) -> None:
        assert after is not before
        if after is AlState.OP:
            raise Refusal(AlCode.SYNCHRONISATION_ERROR)

    states = AlStateMachine(enter)
    for control in controls:
        states.request(control)
        assert states.state in STATES[:3]
        assert states.error == (states.code is not AlCode.NO_ERROR)


@pytest.mark.parametrize(
    ("number", "start", "length", "control"),
    [(0, 0x1000, 64, 0x26), (0, 0x1010, 128, 0x26), (1, 0x1080, 128, 0x26), (1, 0x1080, 128, 0x20)],
)
def test_a_wrong_mailbox_is_refused(number, start, length, control):
    wire = Wire()
    wire.address_all()
    wire.set_managers()
    wire.set_manager(number, start, length, control)
    wire.request(PRE_OP)
    assert wire.state() == (0x11, AlCode.INVALID_MAILBOX)
    wire.set_managers()
    wire.request(PRE_OP | ACKNOWLEDGE)
    assert wire.state() == (PRE_OP, 0)


def test_a_mailbox_that_is_off_is_refused():
    wire = Wire()
    wire.address_all()
    wire.request(PRE_OP)
    assert wire.state() == (0x11, AlCode.INVALID_MAILBOX)


@pytest.mark.parametrize(
    ("number", "start", "length", "control", "code"),
    [
        (2, sii.OUTPUTS, 12, 0x64, AlCode.INVALID_OUTPUTS),
        (2, sii.OUTPUTS, 10, 0x20, AlCode.INVALID_OUTPUTS),
        (2, sii.OUTPUTS + 2, 10, 0x64, AlCode.INVALID_OUTPUTS),
        (3, sii.INPUTS, 9, 0x20, AlCode.INVALID_INPUTS),
    ],
)
def test_process_data_of_another_size_or_direction_are_refused(number, start, length, control, code):
    wire = Wire()
    wire.pre_op()
    wire.set_manager(number, start, length, control)
    wire.request(SAFE_OP)
    assert wire.state() == (PRE_OP | 0x10, code)


def test_op_needs_outputs_and_names_them_when_they_do_not_come():
    wire = Wire()
    wire.safe_op()
    wire.request(OP)
    assert wire.state() == (SAFE_OP, 0)
    wire.wait(2100 * MS)
    assert wire.state() == (SAFE_OP | 0x10, AlCode.NO_VALID_OUTPUTS)


def test_a_request_is_acted_upon_a_little_later():
    wire = Wire()
    wire.address_all()
    wire.set_managers()
    wire.write(Register.AL_CONTROL, b"\x02\0")
    assert wire.state() == (1, 0)
    wire.wait(MS)
    assert wire.state() == (PRE_OP, 0)


def test_a_slave_that_was_switched_off_comes_back_as_new():
    wire = Wire()
    wire.op()
    wire.slave.power_on(wire.now)
    wire.segment.connect(wire.segment.slaves)
    assert wire.slave.states.status == 1
    assert wire.slave.controller.station_address == 0
