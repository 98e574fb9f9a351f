# SPDX-License-Identifier: Apache-2.0
"""What tests of the eRob bus on emulated drives share."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator

import pytest

from bam_core.errors import BamError, Conflict, Unavailable
from bam_ros.driver.servo_bus import BusTimeout, ServoGoal, ServoSample
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.settings import ErobSettings
from test.ros.ros_helpers import EROB_LATE, PATIENCE, wait_for

GOAL = 0.3
# What a wire and a machine of its own keep to is no matter here: emulated drives wait for their turn.
PATIENT = {"rate": 500.0, **EROB_LATE}

Make = Callable[..., VirtualSegmentProcess]


@contextlib.contextmanager
def opened(segment: VirtualSegmentProcess, slaves: int = 2, **changes: object) -> Iterator[ErobBus]:
    bus = ErobBus(settings(segment.interface, slaves, **changes))
    try:
        open_patiently(bus)
        yield bus
    finally:
        bus.close()


def open_patiently(bus: ErobBus) -> None:
    """Open a bus, again and again where the machine is too busy for its master or its mailboxes."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            bus.open()
            return
        except (Conflict, Unavailable) as error:
            is_late = "not ready within" in error.problem or "and 0 in" in error.problem
            if not is_late or time.monotonic() > deadline:
                raise


def settings(interface: str, slaves: int = 2, **changes: object) -> ErobSettings:
    joints = tuple("abcdef"[:slaves])
    fields = {"interface": interface, "joints": joints, "positions": tuple(range(1, slaves + 1))}
    # Goals come straight from the tests, also while an arm swings; test_erob_limits.py is about limits.
    return ErobSettings(**{**fields, **PATIENT, "speed_limit": 1000.0, **changes})  # type: ignore[arg-type]


def exchange(bus: ErobBus, goal: ServoGoal) -> ServoSample | None:
    """Exchange once; None for a sample that was lost, as the loop of a node takes it."""
    try:
        return bus.exchange(goal)
    except BusTimeout:
        return None


def hold(bus: ErobBus, position: float = GOAL) -> ServoGoal:
    """Ask for torque until every drive has it."""
    count = len(bus.names)
    goal = ServoGoal(torque_enable=(True,) * count, position=(position,) * count)
    keep(bus, goal, lambda sample: all(sample.torque_enabled))
    return goal


def keep(bus: ErobBus, goal: ServoGoal, until: Callable[[ServoSample], bool]) -> ServoSample:
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        sample = exchange(bus, goal)
        if sample is not None and until(sample):
            return sample
        time.sleep(0.002)
    pytest.fail(f"not within {PATIENCE:g} s")


def failure(bus: ErobBus, goal: ServoGoal) -> BamError:
    """Exchange as a node does until the bus gives up; return why."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            exchange(bus, goal)
        except BamError as error:
            return error
        time.sleep(0.002)
    pytest.fail(f"no complaint within {PATIENCE:g} s")


def torque(segment: VirtualSegmentProcess) -> list[bool]:
    """What the drives really do."""
    return [slave["torque_enabled"] for slave in segment.look()["slaves"]]


def wait_torque_off(segment: VirtualSegmentProcess) -> None:
    """Return when every drive was seen without torque."""
    wait_for(lambda: not any(torque(segment)), what="torque off")
