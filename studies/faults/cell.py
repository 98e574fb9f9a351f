# SPDX-License-Identifier: Apache-2.0
"""One cell of the matrix: bring a driver into a state, let something happen, look what follows."""

from __future__ import annotations

import math
import signal
import time
from dataclasses import dataclass

from bam_core.errors import BamError
from studies.faults.events import Back, Event, Follows, Off, State
from studies.faults.problems import Problem, RecordingOver, TorqueLate, TorqueLost
from studies.faults.rig import Rig
from studies.faults.streamer import AMPLITUDE

CENTRE = 0.2  # rad of goals
RAMP_END = 1.2  # rad of the goal that a ramp leads to
_AT_GOAL = 2e-3  # rad that a goal may be from the command once it has caught up; a few counts
_PLANNED = 5.0  # s in which a trajectory is planned and under way, else refused
_SWITCHED_ON = 30.0  # s until torque is on, else something has gone wrong
_TOO_BUSY = "the machine is too busy"
_TRIES = 4  # to reach a state on such a machine, and to let an event happen in it
_MOVED = 0.03  # rad that a goal has gone once a trajectory is under way
AFTERWARDS = 0.8
"""s for which torque has to stay as it is after the event, while clients go on commanding."""
_ANSWER = 10.0  # s until diagnostics, which come once a second, must have told


@dataclass(frozen=True, kw_only=True)
class Cell:
    """What came of one event.

    Attributes:
        driver: it happened to.
        state: in which.
        event: what happened.
        bound: s until torque has to be off; None where it has to be kept.
        seconds: until it was off; NaN where it never was on, or was kept.
        says: what the driver said of it.
        back: s until torque was restored.
        problems: what is not as it must be; none: the cell is safe.
    """

    driver: str
    state: str
    event: str
    bound: float | None
    seconds: float
    says: str
    back: float
    problems: tuple[Problem | str, ...]


def try_cell(rig: Rig, event: Event, state: State, tries: int = _TRIES) -> Cell:
    """Let an event happen in a state; the driver is started anew, and ended.

    Again, up to `tries` times, where a busy machine let a recorded run end before the event did.
    """
    driver = rig.servos.driver
    follows = event.follows[driver]
    problems: list[Problem | str] = []
    seconds = back = math.nan
    says = ""
    try:
        rig.start_driver()
        if event.second_driver:
            rig.load_second_driver()
        _reach_in_the_end(rig, state)
        began = time.monotonic()
        before = rig.driven()
        words = _happen(rig, event)
        seconds = _torque(rig, event, follows, state, before, problems)
        if follows.says and state is not State.IDLE:
            says = words if event.second_driver else _said(rig, began, follows.says)
            if not says:
                problems.append(f"nothing is said of it (expected {follows.says!r})")
        back = _again(rig, event, follows, problems)
    except BamError as error:
        problems.append(str(error))
    finally:
        _tidy(rig)
    if RecordingOver() in problems and tries > 1:
        return try_cell(rig, event, state, tries - 1)
    bound = None if follows.off is Off.NONE else follows.within
    return Cell(
        driver=driver,
        state=state.value,
        event=event.name,
        bound=bound,
        seconds=seconds,
        says=says,
        back=back,
        problems=tuple(problems),
    )


def _reach_in_the_end(rig: Rig, state: State) -> None:
    """Reach a state; anew where servos have stopped themselves since the machine was too busy for the driver.

    Anything else that goes wrong before the event is told of the cell.
    """
    for left in reversed(range(_TRIES)):
        began = time.monotonic()
        error = None
        try:
            _reach(rig, state)
        except BamError as failed:
            error = failed
        there = error is None and (state is State.IDLE or all(rig.driven()))
        if there or not left or not rig.said_since(began, _TOO_BUSY):
            break
        for client in rig.clients:
            client.say("off")
        time.sleep(0.7)
    if error is not None:
        raise error


def _reach(rig: Rig, state: State) -> None:
    if state is State.IDLE:
        for client in rig.clients:
            client.silence()
        rig.wait(lambda: not any(rig.driven()), "torque off")
        return
    if state is State.RECORDING:
        rig.start_recorder()
        rig.wait_for_recording()
        time.sleep(1.0)
        return
    line = {State.RAMP: f"hold {RAMP_END}", State.HOLDING: f"hold {CENTRE}", State.MOVING: f"swing {CENTRE}"}[
        state
    ]
    for client in rig.clients:
        client.say(line if rig.servos.by_position else "torque")
    rig.wait(lambda: all(rig.driven()), "torque on", _SWITCHED_ON)
    if state is State.RAMP or not rig.servos.by_position:
        time.sleep(0.3)
        if state is State.MOVING:
            _swing(rig)
        return

    distance = _AT_GOAL if state is State.HOLDING else AMPLITUDE

    def ramp_is_over() -> bool:
        newest = rig.watcher.state
        return newest is not None and all(abs(goal - CENTRE) <= distance for goal in newest.goal_position)

    rig.wait(ramp_is_over, "the end of the ramp")
    time.sleep(0.5)


def _swing(rig: Rig) -> None:
    """Let servos that are commanded by trajectories follow one."""
    watcher = rig.watcher
    rig.wait(lambda: watcher.takes_trajectories, "a driver that takes trajectories")
    assert watcher.state is not None
    before = list(watcher.state.goal_position)
    due = 0.0

    def moves() -> bool:
        nonlocal due
        assert watcher.state is not None
        if time.monotonic() > due:  # again where a machine was too busy to plan it before its first point
            watcher.swing(rig.servos.joints)
            due = time.monotonic() + _PLANNED
        goals = zip(before, watcher.state.goal_position, strict=True)
        return all(abs(goal - first) > _MOVED for first, goal in goals)

    rig.wait(moves, "a trajectory that is followed")


def _happen(rig: Rig, event: Event) -> str:
    """Let it happen; return what a second driver said."""
    rig.break_(event.lines, event.repair)
    if event.signal is not None:
        assert rig.driver is not None
        rig.driver.send_signal(event.signal)
    if event.client:
        if rig.recording:
            (rig.kill_recorder if event.client == "killed" else rig.stop_recorder)()
        elif event.client == "killed":
            rig.clients[0].kill()
        else:
            for client in rig.clients:
                client.silence()
    return rig.second_driver() if event.second_driver else ""


def _torque(
    rig: Rig,
    event: Event,
    follows: Follows,
    state: State,
    before: tuple[bool, ...],
    problems: list[Problem | str],
) -> float:
    """Watch the torque of all joints; return when the last of those that must be released was."""
    count = len(rig.servos.joints)
    first_only = follows.off is Off.FIRST and count > 1
    losing = range(1) if first_only else range(count)
    keeping = range(1, count) if first_only else range(0)
    if state is not State.IDLE and not all(before):
        problems.append("torque was not on before")
    if follows.off is Off.OUT_OF_REACH:
        time.sleep(event.lasts)
        rig.repair()
    off_at = [math.nan] * count
    on: set[int] = set()
    again: set[int] = set()
    begun_anew: set[int] = set()  # by a recorder that has ended its run, and said so
    for elapsed, driven in rig.looks(follows.within + AFTERWARDS):
        if 0.0 < event.lasts < elapsed:
            rig.repair()
        on.update(joint for joint in range(count) if driven[joint])
        for joint in range(count):
            if not driven[joint] and math.isnan(off_at[joint]):
                off_at[joint] = elapsed
            elif driven[joint] and not math.isnan(off_at[joint]) and joint not in again | begun_anew:
                (begun_anew if rig.recording and rig.run_given_up() else again).add(joint)
    names = rig.servos.joints
    if state is State.IDLE:
        problems += [f"{names[joint]}: torque came on" for joint in sorted(on)]
        return math.nan
    if follows.off is Off.NONE and rig.recording_over:
        problems.append(RecordingOver())
        return math.nan
    if follows.off is Off.NONE:
        problems += [TorqueLost(joint=names[joint]) for joint in range(count) if off_at[joint] >= 0.0]
        return math.nan
    for joint in losing:
        if not off_at[joint] <= follows.within:
            after = None if math.isnan(off_at[joint]) else off_at[joint]
            problems.append(TorqueLate(joint=names[joint], after=after, bound=follows.within))
        if joint in again:
            problems.append(f"{names[joint]}: torque came back by itself")
    problems += [TorqueLost(joint=names[joint], beside=True) for joint in keeping if off_at[joint] >= 0.0]
    return max(off_at[joint] for joint in losing)


def _said(rig: Rig, began: float, pattern: str) -> str:
    deadline = time.monotonic() + _ANSWER
    while time.monotonic() < deadline:
        if line := rig.said_since(began, pattern):
            return line
        time.sleep(0.1)
    return ""


def _again(rig: Rig, event: Event, follows: Follows, problems: list[Problem | str]) -> float:
    """Repair, and ask for torque again as a client would; return how long that took, s."""
    rig.kill_recorder()
    rig.repair()
    if event.resume and rig.driver is not None:
        rig.driver.send_signal(signal.SIGCONT)
    began = time.monotonic()
    if follows.back is Back.RESTART:
        rig.end_driver()
        rig.start_driver()
    line = f"hold {CENTRE}" if rig.servos.by_position else "torque"
    asks_anew = follows.back in (Back.ACKNOWLEDGE, Back.REBOOT)
    try:
        while True:
            if asks_anew:
                for client in rig.clients:
                    client.say("off")
                time.sleep(0.7)
            if follows.back is Back.REBOOT:
                rig.reboot()
            for client in rig.clients:
                client.say(line)
            limit = 2.0 if asks_anew else 20.0
            try:
                rig.wait(lambda: all(rig.driven()), "torque again", limit)
                return time.monotonic() - began
            except BamError:
                if time.monotonic() - began > 20.0:
                    raise
    except BamError as error:
        problems.append(str(error))
        return math.nan


def _tidy(rig: Rig) -> None:
    rig.end_second_driver()
    rig.kill_recorder()
    rig.repair()
    for client in rig.clients:
        if len(rig.clients) == 1:  # a recorder refuses to share its servo with another client
            client.kill()
        else:
            client.silence()
    rig.end_driver()
