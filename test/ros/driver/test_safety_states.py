# SPDX-License-Identifier: Apache-2.0
"""What follows every event in every safety state of a driver, as a table."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import get_args

import pytest

from bam_ros.driver.safety_events import (
    BusFailed,
    BusFound,
    BusNotFound,
    Event,
    Interrupted,
    InterruptionBegun,
    InterruptionFailed,
    LoopCrashed,
    NotFollowing,
    OtherServosFound,
    PortVanished,
    SampleLost,
    SampleTaken,
    ServoErrors,
    TorqueAsked,
    TorqueNotAsked,
)
from bam_ros.driver.safety_states import (
    BUS_OPEN,
    Action,
    Fault,
    ImpossibleEvent,
    Mode,
    Report,
    Safety,
    transition,
)

PAGE = Path(__file__).parents[3] / "docs" / "safety.md"
BEFORE = Fault("overload")
COLUMNS = (Mode.READY, Mode.LATCHED, Mode.INTERRUPTED, Mode.BUS_LOST, Mode.PORT_GONE)

EVENTS: dict[str, Event] = {
    "sample taken": SampleTaken(),
    "torque asked": TorqueAsked(),
    "torque not asked": TorqueNotAsked(acknowledged=False, healthy=True),
    "torque not asked, servos not healthy": TorqueNotAsked(acknowledged=False, healthy=False),
    "acknowledged, servos not healthy": TorqueNotAsked(acknowledged=True, healthy=False),
    "acknowledged": TorqueNotAsked(acknowledged=True, healthy=True),
    "servo errors": ServoErrors("overheating"),
    "servo errors as before": ServoErrors("overload"),
    "not following": NotFollowing("knee"),
    "sample lost": SampleLost("no answer", 3),
    "sample lost, the last one allowed": SampleLost("no answer", 1),
    "bus failed": BusFailed("no memory"),
    "port vanished": PortVanished("gone"),
    "bus found": BusFound("two servos"),
    "bus not found": BusNotFound("absent"),
    "other servos found": OtherServosFound("others"),
    "interruption begun": InterruptionBegun(),
    "interrupted": Interrupted("rebooted", asked=False),
    "interrupted, torque asked": Interrupted("rebooted", asked=True),
    "interruption failed": InterruptionFailed("rebooted", asked=False),
    "interruption failed, torque asked": InterruptionFailed("rebooted", asked=True),
    "loop crashed": LoopCrashed("a defect"),
}

# Next mode and actions in their order: Release, Drop sample, reset Goals, Await release, Forget commands,
# a report of an error (!) or of anything else (+). "-": cannot happen. Nothing at all happens in "stopped".
TABLE = """
event                                | ready           | latched         | interrupted     | bus lost      | port gone
sample taken                         | ready           | latched         | interrupted     | -             | -
torque asked                         | ready           | latched         | interrupted     | -             | -
torque not asked                     | ready           | latched         | ready GF+       | -             | -
torque not asked, servos not healthy | ready           | latched         | ready GF+       | -             | -
acknowledged, servos not healthy     | ready           | latched         | ready GF+       | -             | -
acknowledged                         | ready           | ready +         | ready GF+       | -             | -
servo errors                         | latched RGA!    | latched RGA!    | latched RGA!    | -             | -
servo errors as before               | latched RGA!    | latched RGA     | latched RGA     | -             | -
not following                        | latched RGA!    | latched RGA!    | latched RGA!    | -             | -
sample lost                          | ready           | latched         | interrupted     | -             | -
sample lost, the last one allowed    | bus lost DRGA!  | bus lost DRGA!  | bus lost DRGA!  | -             | -
bus failed                           | bus lost DRGA!  | bus lost DRGA!  | bus lost DRGA!  | -             | -
port vanished                        | port gone DRGA! | port gone DRGA! | port gone DRGA! | -             | -
bus found                            | -               | -               | -               | latched +     | interrupted +
bus not found                        | -               | -               | -               | bus lost      | port gone
other servos found                   | -               | -               | -               | bus lost GA!  | port gone GA!
interruption begun                   | ready RG        | latched RG      | interrupted RG  | bus lost RG   | port gone RG
interrupted                          | ready DGF       | ready DGF       | ready DGF       | port gone DGF | port gone DGF
interrupted, torque asked            | interrupted DGA! | interrupted DGA! | interrupted DGA! | port gone DGA! | port gone DGA!
interruption failed                  | ready GF        | latched GF      | interrupted GF  | bus lost GF   | port gone GF
interruption failed, torque asked    | interrupted GA! | latched         | interrupted     | bus lost      | port gone
loop crashed                         | stopped RGA!    | stopped RGA!    | stopped RGA!    | stopped RGA!  | stopped RGA!
"""  # noqa: E501

LETTERS = {
    Action.RELEASE: "R",
    Action.DROP_SAMPLE: "D",
    Action.RESET_GOALS: "G",
    Action.AWAIT_RELEASE: "A",
    Action.FORGET_COMMANDS: "F",
}


def cells(text: str) -> list[list[str]]:
    return [
        [cell.strip() for cell in line.strip().strip("|").split("|")]
        for line in text.strip("\n").splitlines()
    ]


ROWS = {row[0]: row[1:] for row in cells(TABLE)[1:]}


def in_mode(mode: Mode) -> Safety:
    return Safety(mode=mode, fault=None if mode is Mode.READY else BEFORE)


def cell(safety: Safety, event: Event) -> str:
    """Return what follows an event as the table has it."""
    try:
        after, actions = transition(safety, event)
    except ImpossibleEvent:
        return "-"
    letters = (
        ("!" if action.is_error else "+") if isinstance(action, Report) else LETTERS[action]
        for action in actions
    )
    return f"{after.mode.value} {''.join(letters)}".strip()


def test_the_table_has_every_mode_and_every_event() -> None:
    assert cells(TABLE)[0][1:] == [mode.value for mode in COLUMNS]
    assert {*COLUMNS, Mode.STOPPED} == set(Mode)
    assert ROWS.keys() == EVENTS.keys()
    assert {type(event) for event in EVENTS.values()} == set(get_args(Event))


@pytest.mark.parametrize("mode", COLUMNS, ids=lambda mode: mode.value)
@pytest.mark.parametrize("name", EVENTS)
def test_what_follows_an_event(name: str, mode: Mode) -> None:
    assert cell(in_mode(mode), EVENTS[name]) == ROWS[name][COLUMNS.index(mode)]


@pytest.mark.parametrize("name", EVENTS)
def test_nothing_happens_once_the_loop_has_stopped(name: str) -> None:
    with pytest.raises(ImpossibleEvent, match="stopped"):
        transition(in_mode(Mode.STOPPED), EVENTS[name])


def test_all_modes_but_ready_have_a_fault() -> None:
    for mode in COLUMNS:
        for event in EVENTS.values():
            if cell(in_mode(mode), event) != "-":
                after, _ = transition(in_mode(mode), event)
                assert (after.fault is None) == (after.mode is Mode.READY)


def test_torque_goes_off_before_anything_is_reported_where_a_fault_begins_while_the_bus_is_open() -> None:
    begins = (SampleLost, BusFailed, PortVanished, ServoErrors, NotFollowing, LoopCrashed)
    for mode in BUS_OPEN:
        for event in EVENTS.values():
            if isinstance(event, begins):
                _, actions = transition(in_mode(mode), event)
                reports = [number for number, action in enumerate(actions) if isinstance(action, Report)]
                if reports:
                    assert actions.index(Action.RELEASE) < reports[0]


def test_states_and_faults_are_values() -> None:
    safety = in_mode(Mode.READY)
    transition(safety, LoopCrashed("a defect"))
    assert safety == Safety()
    for value, field in ((safety, "mode"), (BEFORE, "reason"), (SampleLost("x", 1), "limit")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, field, None)


# Samples in a row


def test_lost_samples_are_counted_in_a_row() -> None:
    safety, lost = Safety(), SampleLost("no answer", 3)
    for event in (lost, lost, SampleTaken(), lost, lost):
        safety, actions = transition(safety, event)
        assert (safety.mode, actions) == (Mode.READY, ())
    safety, actions = transition(safety, lost)
    assert safety.mode is Mode.BUS_LOST
    assert actions[-1] == Report(True, "torque off: no answer (3 samples lost in a row)")


@pytest.mark.parametrize("event", [ServoErrors("x"), NotFollowing("x")])
def test_a_sample_that_shows_a_fault_is_none_that_was_lost(event: Event) -> None:
    safety, _ = transition(Safety(lost_in_a_row=2), event)
    assert safety.lost_in_a_row == 0


def test_a_bus_that_is_back_has_lost_nothing_yet() -> None:
    lost = SampleLost("no answer", 2)
    safety = in_mode(Mode.READY)
    for event in (lost, lost, BusFound("two servos"), lost):
        safety, _ = transition(safety, event)
    assert safety.mode is Mode.LATCHED


# In words


def reported(safety: Safety, event: Event) -> tuple[str, list[Report]]:
    after, actions = transition(safety, event)
    return str(after), [action for action in actions if isinstance(action, Report)]


@pytest.mark.parametrize("mode", [Mode.READY, Mode.LATCHED])
def test_a_fault_is_reported_with_its_reason(mode: Mode) -> None:
    for event in (ServoErrors("a"), NotFollowing("a"), BusFailed("a"), LoopCrashed("a")):
        assert reported(in_mode(mode), event) == ("a", [Report(True, "torque off: a")])


def test_a_port_that_vanished_is_not_reported_as_torque_off_which_nobody_knows() -> None:
    assert reported(Safety(), PortVanished("gone")) == ("gone", [Report(True, "gone")])
    assert reported(in_mode(Mode.PORT_GONE), OtherServosFound("a")) == ("a", [Report(True, "a")])
    assert reported(in_mode(Mode.BUS_LOST), OtherServosFound("a")) == ("a", [Report(True, "torque off: a")])


@pytest.mark.parametrize("mode", [Mode.BUS_LOST, Mode.PORT_GONE])
def test_a_bus_that_is_back_says_so_until_the_fault_ends(mode: Mode) -> None:
    back = "overload (it is back; call ~/reset_fault, or command torque off, then on, to go on)"
    text, reports = reported(in_mode(mode), BusFound("two servos"))
    assert (text, reports) == (back, [Report(False, "bus is back: two servos")])
    latched = Safety(mode=Mode.LATCHED, fault=Fault("overload", bus_is_back=True))
    text, reports = reported(latched, EVENTS["acknowledged"])
    assert (text, reports) == ("", [Report(False, f"acknowledged: {back}")])
    _, reports = reported(latched, ServoErrors("overload"))  # it has come again
    assert reports == [Report(True, "torque off: overload")]


def test_a_bus_that_is_not_found_says_why_until_that_has_changed() -> None:
    away, _ = transition(in_mode(Mode.BUS_LOST), BusNotFound("absent"))
    assert (str(away.fault), away.not_found) == ("overload", "absent")
    assert str(away).startswith("overload (")
    others, _ = transition(away, OtherServosFound("others"))
    assert str(others) == "others"  # and no longer that it is absent
    found, _ = transition(away, BusFound("two servos"))
    assert found.not_found == ""
    assert "absent" not in str(found)
    failed, _ = transition(found, BusFailed("no memory"))
    assert str(failed) == "no memory"


@pytest.mark.parametrize("kind", [Interrupted, InterruptionFailed])
def test_a_client_that_asked_for_torque_meanwhile_is_told_what_to_do(kind: type[Interrupted]) -> None:
    text = "rebooted while torque was asked for; stop these commands or command torque off, then begin again"
    assert reported(Safety(), kind("rebooted", asked=True)) == (text, [Report(True, text)])
    assert reported(Safety(mode=Mode.INTERRUPTED, fault=Fault("gone")), EVENTS["acknowledged"]) == (
        "",
        [Report(False, "torque may be asked for again")],
    )


def test_an_interruption_is_reported_each_time() -> None:
    event = Interrupted("rebooted", asked=True)
    once, _ = transition(Safety(), event)
    again, reports = reported(once, event)
    assert (again, len(reports)) == (str(once), 1)


def test_an_event_that_cannot_happen_is_named_with_its_mode() -> None:
    with pytest.raises(ImpossibleEvent, match=r"BusFound\(summary='x'\) in the mode 'ready'"):
        transition(Safety(), BusFound("x"))


# The page


def page_table() -> str:
    """Return the table for the page: the next mode, where it is another one."""
    head = ["event", *(mode.value for mode in COLUMNS)]
    lines = [head, ["---"] * len(head)]
    for name, row in ROWS.items():
        nexts = [entry.rstrip(" RDGAF!+") for entry in row]
        shown = [
            "-" if after == "-" else "" if after == mode.value else after
            for mode, after in zip(COLUMNS, nexts, strict=True)
        ]
        lines.append([name, *shown])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def test_the_page_has_the_same_table() -> None:
    assert page_table() in PAGE.read_text(encoding="utf-8")
