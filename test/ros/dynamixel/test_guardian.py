# SPDX-License-Identifier: Apache-2.0
"""The guardian speaks when its driver is gone, and only then."""

from __future__ import annotations

import os
import pty
import signal
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import dynamixel_sdk as sdk
import pytest

from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.dynamixel.guardian import SILENCE, Guardian
from bam_ros.dynamixel.link import sync_write_packet
from test.ros.ros_helpers import PATIENCE, wait_for

PACKET = b"\xff\xff\x01release"


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    master, slave = pty.openpty()
    tty.setraw(slave)
    os.set_blocking(master, False)
    yield master, slave
    os.close(master)
    os.close(slave)


def received(master: int) -> bytes:
    try:
        return os.read(master, 4096)
    except BlockingIOError:
        return b""


def test_it_releases_when_the_driver_dies(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    guardian = Guardian(slave, [PACKET])
    os.close(guardian._pipe)  # what the kernel does for a process that is killed
    heard = bytearray()
    wait_for(lambda: heard.extend(received(master)) or heard.count(PACKET) >= 3)
    guardian._pipe = -1
    guardian._process.wait()


def test_it_survives_signals_meant_for_the_driver(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    guardian = Guardian(slave, [PACKET])
    status = Path(f"/proc/{guardian.pid}/status")

    def ignored() -> bool:
        rows = status.read_text().splitlines()
        mask = int(next(row.split()[1] for row in rows if row.startswith("SigIgn")), 16)
        return all(mask >> (number - 1) & 1 for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP))

    wait_for(ignored)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(guardian.pid, number)
    os.close(guardian._pipe)
    guardian._pipe = -1
    assert guardian._process.wait(PATIENCE) == 0
    assert PACKET in received(master)


def test_it_releases_when_a_driver_with_torque_on_goes_silent(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    guardian = Guardian(slave, [PACKET])
    guardian.beat(0.0, torque=True)
    heard = bytearray()
    wait_for(lambda: heard.extend(received(master)) or PACKET in heard)
    guardian.dismiss()


def test_it_waits_as_long_as_it_is_told_to(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    guardian = Guardian(slave, [PACKET], 2.0 * SILENCE)
    wait_for(lambda: listens(guardian))
    began = time.monotonic()
    guardian.beat(0.0, torque=True)
    heard = bytearray()
    wait_for(lambda: heard.extend(received(master)) or PACKET in heard)
    assert time.monotonic() - began >= 2.0 * SILENCE
    guardian.dismiss()


def listens(guardian: Guardian) -> bool:
    """Whether the process is past its start, where it takes no signals any more."""
    rows = Path(f"/proc/{guardian.pid}/status").read_text().splitlines()
    mask = int(next(row.split()[1] for row in rows if row.startswith("SigIgn")), 16)
    return bool(mask >> (signal.SIGHUP - 1) & 1)


def test_it_stays_quiet_while_the_driver_beats_or_torque_is_off(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    guardian = Guardian(slave, [PACKET])
    begin = last = time.monotonic()
    while (now := time.monotonic()) < begin + 1.5 * SILENCE:
        if now - last > 0.5 * SILENCE:  # it was this test that did not beat: once more
            received(master)
            begin = now
        guardian.beat(now, torque=True)
        last = now
        time.sleep(2e-3)
    end = time.monotonic()
    guardian.beat(end, torque=False)
    wait_for(lambda: time.monotonic() > end + 1.5 * SILENCE)
    guardian.dismiss()
    assert received(master) == b""


def test_dismissed_it_says_nothing(terminal: tuple[int, int]) -> None:
    master, slave = terminal
    guardian = Guardian(slave, [PACKET])
    guardian.dismiss()
    guardian.dismiss()
    assert received(master) == b""
    with pytest.raises(ProcessLookupError):
        os.kill(guardian.pid, 0)


@pytest.mark.parametrize("name", ["mx106", "xl330"])
def test_its_packet_is_what_the_sdk_would_send(name: str) -> None:
    table = CONTROL_TABLES[name]
    packet = sync_write_packet(table.protocol, table["torque_enable"], {1: 0, 2: 0})
    if table.protocol == 1:
        assert packet == bytes((255, 255, 254, 8, 0x83, 24, 1, 1, 0, 2, 0, ~(254 + 8 + 0x83 + 24 + 4) & 0xFF))
    else:
        crc = sdk.PacketHandler(2.0).updateCRC(0, packet, len(packet) - 2)
        assert packet[-2:] == crc.to_bytes(2, "little")
        assert packet[4:-2] == bytes((254, 11, 0, 0x83, 64, 0, 1, 0, 1, 0, 2, 0))
