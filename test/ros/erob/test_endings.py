# SPDX-License-Identifier: Apache-2.0
"""However a master or its driver ends, drives are without torque."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bam_core.errors import Conflict
from bam_ros.driver.servo_bus import ServoGoal
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.errors import MasterExited, MasterStalled
from bam_ros.erob.interface import ETHERCAT
from studies.emulated_drives import EMULATED_WATCHDOG
from test.ros.erob_cases import exchange, failure, hold, keep, opened, settings, torque, wait_torque_off
from test.ros.ros_helpers import PATIENCE, wait_for


def test_the_drives_stop_by_themselves_when_the_master_is_killed(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        os.kill(bus.master_pid, signal.SIGKILL)
        wait_torque_off(pair)
        assert {slave["al_code"] for slave in pair.look()["slaves"]} == {0x1B}
        exited = failure(bus, goal)
        assert isinstance(exited, MasterExited)
        assert exited.status == -signal.SIGKILL
        bus.close()
        bus.open()  # faults that blame the line are reset: it works again
        assert keep(bus, ServoGoal.released(2), lambda sample: True).hardware_error == (0, 0)
        hold(bus)


def test_the_drives_stop_by_themselves_when_the_master_stands_still(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        os.kill(bus.master_pid, signal.SIGSTOP)
        enough = time.monotonic() + 1.5 * EMULATED_WATCHDOG
        wait_torque_off(pair)
        assert exchange(bus, goal) is None or exchange(bus, goal) is None
        wait_for(lambda: time.monotonic() > enough)
        os.kill(bus.master_pid, signal.SIGCONT)
        stalled = failure(bus, goal)
        assert isinstance(stalled, MasterStalled)
        assert stalled.duration > EMULATED_WATCHDOG
        assert torque(pair) == [False, False]


def test_a_master_that_stands_still_can_be_ended(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        hold(bus)
        pid = bus.master_pid
        os.kill(pid, signal.SIGSTOP)
        bus.close()
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)
        assert torque(pair) == [False, False]


def test_a_master_that_is_asked_to_end_releases_first(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        os.kill(bus.master_pid, signal.SIGTERM)
        assert "exited unexpectedly" in str(failure(bus, goal))
        assert torque(pair) == [False, False]
        assert pair.look()["slaves"][0]["al_state"] == "INIT"


DRIVER = """
import sys, time
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.settings import ErobSettings
from bam_ros.driver.servo_bus import BusTimeout, ServoGoal
settings = {"watchdog": 1.0, "answer_timeout": 0.1}
bus = ErobBus(ErobSettings(interface=sys.argv[1], joints=("a", "b"), positions=(1, 2), **settings))
bus.open()
print(bus.master_pid, flush=True)
while True:
    try:
        bus.exchange(ServoGoal(torque_enable=(True, True), position=(0.3, 0.3)))
    except BusTimeout:
        pass
    time.sleep(0.002)
"""


@pytest.fixture
def driver(pair: VirtualSegmentProcess) -> Iterator[tuple[VirtualSegmentProcess, subprocess.Popen[str], int]]:
    """A program that holds a drive, and its master's process id."""
    process = subprocess.Popen(
        [sys.executable, "-c", DRIVER, pair.interface], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    master = int(process.stdout.readline())
    wait_for(lambda: all(torque(pair)), what="torque on")
    yield pair, process, master
    process.kill()
    process.communicate()


Driver = tuple[VirtualSegmentProcess, "subprocess.Popen[str]", int]


def test_a_driver_that_is_killed_leaves_no_torque_and_no_master(driver: Driver) -> None:
    segment, process, master = driver
    process.kill()
    wait_torque_off(segment)
    wait_for(lambda: not Path(f"/proc/{master}").exists(), what="the end of the master")
    assert segment.look()["slaves"][0]["al_state"] == "INIT"


def test_a_driver_that_hangs_loses_its_torque(driver: Driver) -> None:
    segment, process, _ = driver
    os.kill(process.pid, signal.SIGSTOP)
    wait_torque_off(segment)
    os.kill(process.pid, signal.SIGCONT)
    process.wait(PATIENCE)  # the bus raises in it
    assert not any(torque(segment))


def test_the_second_master_on_an_interface_is_refused(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        second = ErobBus(settings(pair.interface))
        with pytest.raises(Conflict, match=f"process {bus.master_pid}"):
            second.open()
        assert exchange(bus, ServoGoal.released(2)) or exchange(bus, ServoGoal.released(2))


def test_a_foreign_master_is_found(pair: VirtualSegmentProcess) -> None:
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERCAT)) as foreign:
        foreign.bind((pair.interface, ETHERCAT))
        with pytest.raises(Conflict, match=f"process {os.getpid()}"):
            ErobBus(settings(pair.interface)).open()
