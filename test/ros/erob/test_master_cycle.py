# SPDX-License-Identifier: Apache-2.0
"""The cycle on a segment that is made up: what it sends when the node, the wire or a drive misbehaves."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from bam_core.errors import BamError, Unavailable
from bam_ros.driver.servo_bus import BusGone
from bam_ros.erob.al_status import AlStatus, SlaveState
from bam_ros.erob.axis import Axis, Ratings
from bam_ros.erob.cia402 import DriveState, Encoder
from bam_ros.erob.cycle import Cycle
from bam_ros.erob.master_settings import MasterSettings
from bam_ros.erob.messages import AxisGoal, Goals, Message, Note, Samples, failure, receive, send
from bam_ros.erob.pdo_layout import load_layout
from bam_ros.erob.position_law import MotorLimits
from bam_ros.erob.segment import Outcome
from test.ros.ros_helpers import PATIENCE

LAYOUT = load_layout("torque")
LIMITS = MotorLimits(heat_limit=12.0, torque_constant=9.4, resistance=2.0, nominal_voltage=48.0)
RESET = 0x80  # controlword
NEXT = {0x06: 0x21, 0x07: 0x23, 0x0F: 0x27}
HOLD = AxisGoal(True, 0.1, 20.0, 9.0)
# A machine that stands still for a moment is no matter here: the limits are those of nobody.
SETTINGS = MasterSettings(interface="lo", axes=(), silence=PATIENCE, watchdog=PATIENCE)


class MadeUpSegment:
    """Two drives at 0 rad that do as they are told; the outcome of every exchange is up to the test."""

    interface = "lo"
    expected_counter = 6
    dc_time = 0

    def __init__(self) -> None:
        self.outcome = Outcome.ANSWERED
        self.states: list[AlStatus | None] = [AlStatus(SlaveState.OP)] * 2
        self.status = [0x40, 0x40]
        self.faults: set[int] = set()  # of drives, each until it is reset
        self.sent: list[list[tuple[int, ...]]] = []

    @property
    def working_counter(self) -> int:
        return {Outcome.ANSWERED: 6, Outcome.WRONG: 3}.get(self.outcome, -1)

    def exchange(self, outputs: Sequence[bytes]) -> Outcome:
        rows = [LAYOUT.receive.unpack(data) for data in outputs]
        self.sent.append(rows)
        if self.outcome is Outcome.ANSWERED:
            for index, (_, control, _) in enumerate(rows):
                if control == RESET:
                    self.faults.discard(index)
                self.status[index] = 0x08 if index in self.faults else NEXT.get(control, 0x40)
        return self.outcome

    def inputs(self, index: int) -> bytes:
        return LAYOUT.transmit.pack([0, 0, 0, self.status[index], 0x2310, 10, 48000])

    def al_status(self, index: int) -> AlStatus | None:
        return self.states[index]

    def who(self, index: int) -> str:
        return f"slave {index + 1}"


class Node:
    """The other end of the link, and the cycle in a thread."""

    def __init__(self, settings: MasterSettings) -> None:
        self.segment = MadeUpSegment()
        self.link, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        axes = [
            Axis(name=name, layout=LAYOUT, encoder=Encoder(), limits=LIMITS, ratings=Ratings(current=6.0))
            for name in ("a", "b")
        ]
        self.cycle = Cycle(other, self.segment, axes, settings)  # type: ignore[arg-type]
        self.axes = axes
        self.notes: list[Note] = []
        self.samples: list[Samples] = []
        self.thread = threading.Thread(target=self.cycle.run)
        self.thread.start()

    def goals(self, *axes: AxisGoal, number: int = 1) -> None:
        send(self.link, Goals(number, axes or (HOLD, HOLD)))

    def listen(self) -> None:
        while (message := self._next()) is not None:
            if isinstance(message, Note):
                self.notes.append(message)
            elif isinstance(message, Samples):
                self.samples.append(message)

    def _next(self) -> Message | None:
        try:
            return receive(self.link)
        except EOFError:
            return None

    def wait(self, predicate: Callable[[], object], *, goals: Sequence[AxisGoal] = ()) -> None:
        deadline = time.monotonic() + PATIENCE
        while not predicate():
            assert time.monotonic() < deadline, "not in time"
            if goals:
                self.goals(*goals)
            self.listen()
            time.sleep(0.001)

    def hold(self) -> None:
        self.wait(lambda: self.torques() == [333, 333], goals=(HOLD, HOLD))

    def torques(self) -> list[int]:
        return [row[0] for row in self.segment.sent[-1]] if self.segment.sent else []

    def trip(self) -> BamError | None:
        return next((failure(note) for note in self.notes if note.kind == "failed"), None)

    def off(self) -> bool:
        return self.segment.sent[-1] == [(0, 0, 10), (0, 0, 10)]


@pytest.fixture
def node(request: pytest.FixtureRequest) -> Iterator[Node]:
    node = Node(replace(SETTINGS, **getattr(request, "param", {})))
    yield node
    if node.link.fileno() >= 0:
        node.link.close()
    node.thread.join(PATIENCE)
    assert not node.thread.is_alive()
    assert node.off()


def test_goals_become_current_and_samples_name_them(node: Node) -> None:
    node.hold()
    node.goals(HOLD._replace(position=0.2), HOLD, number=77)
    node.wait(lambda: node.torques() == [667, 333])
    node.wait(lambda: node.samples and node.samples[-1].number == 77)
    assert [axis.goal for axis in node.samples[-1].axes] == [0.2, 0.1]
    assert all(axis.enabled for axis in node.samples[-1].axes)
    cycles = [samples.cycle for samples in node.samples]
    assert cycles == sorted(set(cycles))


def test_the_end_of_the_node_is_torque_off_at_once(node: Node) -> None:
    node.hold()
    node.link.close()
    node.thread.join(PATIENCE)
    assert not node.thread.is_alive()
    assert node.off()


@pytest.mark.parametrize("node", [{"silence": 0.2}], indirect=True, ids=["0.2 s"])
def test_a_node_that_is_silent_loses_its_torque_for_good(node: Node) -> None:
    node.hold()
    node.wait(node.trip)
    trip = node.trip()
    assert isinstance(trip, Unavailable)
    assert trip.thing == "driver"
    node.wait(node.off)
    count = len(node.segment.sent)
    node.wait(lambda: len(node.segment.sent) > count + 20, goals=(HOLD, HOLD))
    assert node.off()


@pytest.mark.parametrize("node", [{"silence": 0.2}], indirect=True, ids=["0.2 s"])
def test_silence_without_torque_is_nothing(node: Node) -> None:
    node.goals(HOLD._replace(enable=False), HOLD._replace(enable=False))
    node.wait(lambda: len(node.samples) > 400)
    assert node.trip() is None


@pytest.mark.parametrize("node", [{"answer_timeout": PATIENCE}], indirect=True, ids=["no loss"])
def test_drives_that_are_not_heard_get_no_current_after_a_few_cycles(node: Node) -> None:
    node.hold()
    before = len(node.segment.sent)
    node.segment.outcome = Outcome.UNANSWERED
    node.wait(lambda: len(node.segment.sent) > before + 12, goals=(HOLD, HOLD))
    node.segment.outcome = Outcome.ANSWERED
    lost = [rows[0][0] for rows in node.segment.sent[before : before + 12]]
    assert lost[-1] == 0
    assert lost.count(0) >= 6
    node.hold()
    assert node.trip() is None


@pytest.mark.parametrize(
    ("outcome", "states", "thing", "problem", "gone"),
    [
        (Outcome.UNANSWERED, [None, None], "interface lo", "no slave", True),
        (Outcome.WRONG, [AlStatus(SlaveState.OP), None], "slave 2", "not answer", False),
        (
            Outcome.WRONG,
            [AlStatus(SlaveState.OP)] * 2,
            "interface lo",
            "working counter 3, expected 6",
            False,
        ),
        (Outcome.STALE, [AlStatus(SlaveState.OP)] * 2, "interface lo", "earlier cycle for 30 ms", False),
    ],
)
def test_a_loss_that_lasts_is_named_after_who_is_missing(
    node: Node, outcome: Outcome, states: list[AlStatus | None], thing: str, problem: str, gone: bool
) -> None:
    node.hold()
    node.segment.states = states
    node.segment.outcome = outcome
    node.wait(node.trip, goals=(HOLD, HOLD))
    trip = node.trip()
    assert isinstance(trip, Unavailable)
    assert trip.thing == thing
    assert problem in trip.problem
    assert isinstance(trip, BusGone) is gone
    node.wait(node.off, goals=(HOLD, HOLD))
    node.segment.outcome = Outcome.ANSWERED
    count = len(node.segment.sent)
    node.wait(lambda: len(node.segment.sent) > count + 20, goals=(HOLD, HOLD))
    assert node.off()  # until the node has opened the segment anew


def test_a_drive_that_leaves_op_is_seen_though_it_answers(node: Node) -> None:
    node.hold()
    node.segment.states[1] = AlStatus(SlaveState.SAFE_OP, True, 0x1B)
    node.wait(node.trip, goals=(HOLD, HOLD))
    trip = node.trip()
    assert isinstance(trip, Unavailable)
    assert trip.thing == "slave 2"
    assert "AL status 0x001B" in trip.problem
    node.wait(node.off)


def test_a_fault_of_one_drive_is_passed_on_and_reset_on_request_only(node: Node) -> None:
    node.hold()
    node.segment.faults.add(0)
    node.wait(lambda: node.samples and node.samples[-1].axes[0].error_code == 0x2310, goals=(HOLD, HOLD))
    node.wait(lambda: node.torques()[0] == 0, goals=(HOLD, HOLD))  # the cycle that follows the sample
    count = len(node.segment.sent)
    node.wait(lambda: len(node.segment.sent) > count + 3, goals=(HOLD, HOLD))
    assert all(rows[0][0] == 0 for rows in node.segment.sent[count:])
    assert all(row[0][1] != RESET for row in node.segment.sent)
    send(node.link, Note("reset", {"id": 5, "axis": 0}))
    node.wait(lambda: any(note.kind == "answer" for note in node.notes), goals=(HOLD, HOLD))
    answer = next(note for note in node.notes if note.kind == "answer")
    assert (answer.content["id"], answer.content["error"]) == (5, "")
    assert any(rows[0][1] == RESET for rows in node.segment.sent)
    assert node.axes[0].state is not DriveState.FAULT


def test_every_cycle_is_accounted_for_in_the_report(node: Node) -> None:
    for outcome in (Outcome.UNANSWERED, Outcome.WRONG, Outcome.STALE):
        count = len(node.segment.sent)
        node.segment.outcome = outcome
        node.wait(lambda count=count: len(node.segment.sent) > count + 3)
        node.segment.outcome = Outcome.ANSWERED
        node.wait(lambda count=count: len(node.segment.sent) > count + 10)
    node.notes.clear()
    node.wait(lambda: any(note.kind == "report" for note in node.notes))
    report = node.notes[-1].content
    assert report["sent"] == report["answered"] + report["lost"]
    assert report["lost"] == report["unanswered"] + report["wrong"] + report["stale"]
    assert min(report["unanswered"], report["wrong"], report["stale"]) >= 1
    assert report["states"][0] in ("OP", "unknown")
    assert not math.isnan(report["p99.9"])


def test_a_request_to_stop_releases(node: Node) -> None:
    node.hold()
    send(node.link, Note("stop", {}))
    node.thread.join(PATIENCE)
    assert not node.thread.is_alive()
    assert node.off()
