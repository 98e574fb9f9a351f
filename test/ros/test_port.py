# SPDX-License-Identifier: Apache-2.0
"""Ports that cannot be used are told apart; the latency timer is set, or the cure named."""

from __future__ import annotations

import errno
import os
import pty
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from bam_ros.dynamixel.latency import shorten_latency
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.port_errors import explain_port_error
from bam_ros.servo_bus import BusError


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    master, slave = pty.openpty()
    yield master, os.ttyname(slave)
    os.close(slave)
    os.close(master)


def test_a_port_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(BusError, match=r"does not exist \(serial ports found: "):
        SerialPort(str(tmp_path / "ttyUSB7")).openPort()


@pytest.mark.parametrize("kind", ["file", "directory", "null device"])
def test_what_is_no_serial_port_is_called_so(tmp_path: Path, kind: str) -> None:
    path = {"file": tmp_path / "file", "directory": tmp_path, "null device": Path("/dev/null")}[kind]
    if kind == "file":
        path.write_text("no port")
    with pytest.raises(BusError, match="is not a serial port"):
        SerialPort(str(path)).openPort()


def test_a_forbidden_port_tells_how_to_get_access(tmp_path: Path) -> None:
    port = tmp_path / "ttyUSB0"
    port.touch()
    error = explain_port_error(str(port), PermissionError(errno.EACCES, "Permission denied"))
    assert "sudo usermod -aG dialout $USER" in str(error)


def test_a_busy_port_names_its_holder(terminal: tuple[int, str]) -> None:
    _, path = terminal
    holder = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import serial, time; s = serial.Serial({path!r}, exclusive=True); print('x', flush=True)"
            "; time.sleep(60)",
        ],
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(BusError, match=rf"busy \(held by .*\({holder.pid}\)"):
            SerialPort(path).openPort()
    finally:
        holder.kill()
        holder.communicate()


def test_reading_waits_for_bytes_and_ends_with_the_timeout(terminal: tuple[int, str]) -> None:
    master, path = terminal
    port = SerialPort(path)
    port.openPort()
    os.write(master, b"\xff\xff\xfd\x00")
    port.setPacketTimeoutMillis(500.0)
    assert port.readPort(2) == b"\xff\xff"
    assert port.readPort(8) == b"\xfd\x00"
    port.setPacketTimeoutMillis(20.0)
    start = time.monotonic()
    assert port.readPort(1) == b""
    assert port.isPacketTimeout()
    assert 0.015 < time.monotonic() - start < 0.5
    port.closePort()
    port.closePort()


def test_a_port_that_goes_away_is_an_error() -> None:
    master, slave = pty.openpty()
    port = SerialPort(os.ttyname(slave))
    port.openPort()
    os.close(slave)
    os.close(master)
    port.setPacketTimeoutMillis(100.0)
    with pytest.raises(BusError, match="plug the adapter in again"):
        port.readPort(1)
    port.closePort()


class Adapter:
    """A port with the latency timer of an FTDI chip."""

    def __init__(self, timer: Path, *, kernel_obeys: bool) -> None:
        self.port = "/dev/ttyUSB0"
        self._timer = timer
        self._obeys = kernel_obeys

    def set_low_latency_mode(self, on: bool) -> None:
        if not self._obeys:
            raise ValueError("not permitted")
        self._timer.chmod(0o600)
        self._timer.write_text("1")


@pytest.fixture
def timer(tmp_path: Path) -> Path:
    (tmp_path / "ttyUSB0").mkdir()
    path = tmp_path / "ttyUSB0" / "latency_timer"
    path.write_text("16\n")
    return path


def as_port(adapter: Adapter) -> serial.Serial:
    return adapter  # type: ignore[return-value]


def test_the_latency_timer_is_set(timer: Path) -> None:
    assert shorten_latency(as_port(Adapter(timer, kernel_obeys=False)), timer.parents[1]) is None
    assert timer.read_text() == "1"


def test_without_write_access_the_kernel_is_asked_and_failing_that_the_cure_is_named(
    timer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, text: str) -> int:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "write_text", refuse)
    warning = shorten_latency(as_port(Adapter(timer, kernel_obeys=False)), timer.parents[1])
    assert warning is not None
    assert "udev" in warning
    assert "16 ms" in warning


def test_other_adapters_have_no_timer(tmp_path: Path, timer: Path) -> None:
    adapter = Adapter(timer, kernel_obeys=False)
    adapter.port = "/dev/ttyACM0"
    assert shorten_latency(as_port(adapter), tmp_path) is None
