# SPDX-License-Identifier: Apache-2.0
"""Ports that cannot be used are told apart; the latency timer is set, or the cure named."""

from __future__ import annotations

import errno
import os
import pty
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import serial

from bam_core.errors import Conflict, Unsupported
from bam_ros.driver.servo_bus import BusGone
from bam_ros.dynamixel.latency import shorten_latency
from bam_ros.dynamixel.port import SerialPort
from bam_ros.dynamixel.port_errors import explain_port_error, port_holders
from test.ros.ros_helpers import PATIENCE


@pytest.fixture
def terminal() -> Iterator[tuple[int, str]]:
    master, slave = pty.openpty()
    yield master, os.ttyname(slave)
    os.close(slave)
    os.close(master)


def test_a_port_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(BusGone, match="serial ports found: ") as caught:
        SerialPort(str(tmp_path / "ttyUSB7")).openPort()
    assert caught.value.thing == f"port {tmp_path / 'ttyUSB7'}"


@pytest.mark.parametrize("kind", ["file", "directory", "null device"])
def test_what_is_no_serial_port_is_called_so(tmp_path: Path, kind: str) -> None:
    path = {"file": tmp_path / "file", "directory": tmp_path, "null device": Path("/dev/null")}[kind]
    if kind == "file":
        path.write_text("no port")
    with pytest.raises(Unsupported):
        SerialPort(str(path)).openPort()


def test_a_forbidden_port_tells_how_to_get_access(tmp_path: Path) -> None:
    port = tmp_path / "ttyUSB0"
    port.touch()
    error = explain_port_error(str(port), PermissionError(errno.EACCES, "Permission denied"))
    assert "sudo usermod -aG dialout $USER" in str(error)


def test_a_busy_port_names_its_holder(terminal: tuple[int, str]) -> None:
    _, path = terminal
    code = f"import serial, sys; s = serial.Serial({path!r}, exclusive=True); print('x', flush=True); input()"
    holder = subprocess.Popen(
        ["sh", "-c", f"{shlex.quote(sys.executable)} -c {shlex.quote(code)}; true"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(Conflict, match=r"python\S* \(\d+\)"):
            SerialPort(path).openPort()
    finally:
        holder.communicate(b"\n", timeout=PATIENCE)


HOLDER = """
import os, subprocess, sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], pass_fds=(fd,))
print(child.pid, flush=True)
child.wait()
"""


def test_only_programs_that_use_a_port_are_called_its_holders(terminal: tuple[int, str]) -> None:
    """Not this process, which serves the terminal, nor its child, nor what another holder started."""
    _, path = terminal
    slave = os.open(path, os.O_RDWR | os.O_NOCTTY)
    child = subprocess.Popen([sys.executable, "-c", "input()"], pass_fds=(slave,), stdin=subprocess.PIPE)
    assert port_holders(path) == ()
    # A session leader whose parent has gone, as a driver that somebody else started.
    shell = f"{shlex.quote(sys.executable)} -c {shlex.quote(HOLDER)} {path} & echo $!"
    started = subprocess.Popen(
        ["sh", "-c", shell], stdout=subprocess.PIPE, text=True, start_new_session=True, close_fds=True
    )
    assert started.stdout is not None
    holder = int(started.stdout.readline())
    try:
        started.stdout.readline()  # it has started its own child
        assert [name.rpartition(" ")[2] for name in port_holders(path)] == [f"({holder})"]
    finally:
        os.killpg(started.pid, signal.SIGKILL)
        started.communicate()
        child.communicate()
        os.close(slave)


SERVER = """
import os, pty, sys
master, slave = pty.openpty()
print(os.ttyname(slave), flush=True)
input()
"""


def test_who_serves_a_pseudo_terminal_does_not_hold_it() -> None:
    server = subprocess.Popen(
        ["sh", "-c", f"{shlex.quote(sys.executable)} -c {shlex.quote(SERVER)}; true"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        assert port_holders(server.stdout.readline().strip()) == ()
    finally:
        server.communicate("\n", timeout=PATIENCE)


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
    assert time.monotonic() - start > 0.015
    port.closePort()
    port.closePort()


def test_it_waits_for_a_late_answer_as_long_as_it_was_told(terminal: tuple[int, str]) -> None:
    _, path = terminal
    for answer_timeout, least in ((0.0, 0.034), (0.2, 0.2)):
        port = SerialPort(path, answer_timeout)
        port.openPort()
        port.setPacketTimeout(11)
        start = time.monotonic()
        assert port.readPort(1) == b""
        assert time.monotonic() - start > 0.9 * least
        assert port.packet_timeout < 1e3 * (least + 0.01)
        port.closePort()


def test_a_port_that_goes_away_is_an_error() -> None:
    master, slave = pty.openpty()
    port = SerialPort(os.ttyname(slave))
    port.openPort()
    os.close(slave)
    os.close(master)
    port.setPacketTimeoutMillis(100.0)
    with pytest.raises(BusGone, match="may still hold their last goals; cut their power"):
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


def test_packets_that_are_held_leave_in_one_go_with_the_next(terminal: tuple[int, str]) -> None:
    master, path = terminal
    os.set_blocking(master, False)
    port = SerialPort(path)
    port.openPort()
    try:
        with port.holding():
            assert [port.writePort(b"goal"), port.writePort(b"limit")] == [4, 5]
            with pytest.raises(BlockingIOError):
                os.read(master, 100)
        assert port.writePort(b"read") == 4
        assert port.sent == len(b"goallimitread")
        assert os.read(master, 100) == b"goallimitread"
        assert port.writePort(b"next") == 4
        assert os.read(master, 100) == b"next"
    finally:
        port.closePort()
