# SPDX-License-Identifier: Apache-2.0
"""The virtual bus as a process of its own: start, link, signals, bad input; and clients that die."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dynamixel_sdk import COMM_SUCCESS

from bam_core.errors import NotWritable, Unavailable
from bam_ros.dynamixel.control_table import control_table
from bam_ros.emulators import bench_physics as physics
from bam_ros.emulators.dynamixel import bench_kernel as k
from bam_ros.emulators.dynamixel.builder import BusSetup, build_bus
from bam_ros.emulators.dynamixel.pty_server import PtyServer
from bam_ros.text.emulator_notices import EmulatorStarts
from test.ros.ros_helpers import PATIENCE, wait_for
from test.ros.virtual_helpers import Client, virtual_bus

ROBOT = Path(__file__).parents[4] / "config" / "robots" / "dynamixel_2r.xml"
MODULE = [sys.executable, "-m", "bam_ros.emulators.dynamixel"]


@contextmanager
def emulator(link: Path, *options: str) -> Iterator[subprocess.Popen]:
    """Start the emulator and wait for the line that says it serves."""
    process = subprocess.Popen(
        [*MODULE, "--link", str(link), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    patience = threading.Timer(PATIENCE, process.kill)
    patience.start()
    try:
        assert process.stdout is not None
        for words in ("starting", f": {link}", f"connect with: {sys.executable} -m "):
            assert words in process.stdout.readline()
        patience.cancel()
        yield process
    finally:
        patience.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_takes_the_link_away(tmp_path, number):
    link = tmp_path / "bus"
    with emulator(link, "--servo", "mx106_2", "--id", "1", "5", "--reveal") as process:
        client = Client(str(link), control_table("mx106_2"))
        assert client.handler.ping(client.port, 5)[1] == COMM_SUCCESS
        client.close()
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert output.count("torque_constant") == 2
    assert not os.path.lexists(link)


@pytest.mark.long
@pytest.mark.parametrize("pause", [0.0, 0.01, 0.1])
def test_more_signals_change_nothing(tmp_path, pause):
    link = tmp_path / "bus"
    with emulator(link) as process:
        for _ in range(3):
            process.send_signal(signal.SIGINT)
            time.sleep(pause)
        _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert not os.path.lexists(link)


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_it_says_at_once_that_it_starts_and_can_be_interrupted_then(tmp_path, pause):
    link = tmp_path / "bus"
    process = subprocess.Popen(
        [*MODULE, "--link", str(link)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == f"{EmulatorStarts(kind='dynamixel')}\n"
    assert not os.path.lexists(link)
    time.sleep(pause)  # somewhere in its imports
    for _ in range(2):
        process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) in ((130, ""), (0, ""))
    assert not os.path.lexists(link)


def test_nothing_heavy_is_imported_before_the_first_line():
    code = (
        "import sys; before = set(sys.modules); import bam_ros.emulators.dynamixel.__main__;"
        "print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "argparse", "serial", "rclpy"} & set(done.stdout.split())


def test_only_an_arm_needs_the_engine():
    """MuJoCo starts a process while it is imported, which prints errors where a signal ends this one then."""
    code = "import sys; import bam_ros.emulators.dynamixel.command; print('mujoco' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


BITS = {"undervoltage": 0x01, "overheat": 0x04, "overload": 0x20}


@pytest.mark.parametrize(
    "fault", [pytest.param(fault, marks=() if fault == "overload" else pytest.mark.long) for fault in BITS]
)
@pytest.mark.parametrize("servo", ["mx106", "xl330"])
def test_a_fault_at_the_start_is_reported_until_it_is_cleared_as_the_manual_says(tmp_path, servo, fault):
    link, bit = tmp_path / "bus", BITS[fault]
    with emulator(link, "--servo", servo, "--fault", fault):
        client = Client(str(link), control_table(servo))
        handler, port = client.handler, client.port

        def error() -> int:
            return handler.ping(port, 1)[2]

        alert = bit if servo == "mx106" else 0x80
        wait_for(lambda: error() == alert, what="the error")
        time.sleep(0.3)  # the bench goes on meanwhile, with its motor at rest
        assert error() == alert
        if servo == "xl330":
            assert client.read("hardware_error_status") == bit
            shuts_down = bool(client.read("shutdown") & bit)
            assert (client.write("torque_enable", 1) != alert) == shuts_down  # refused, or on
            assert handler.reboot(port, 1)[0] == COMM_SUCCESS
            wait_for(lambda: not client.silent(1), what="the servo after its reboot")
            lasting = 0 if fault == "overload" else bit  # the cause is still there, or not
            # The answer to a ping that gave up waiting may still come first.
            wait_for(lambda: client.read("hardware_error_status") == lasting, what="the error that is left")
        else:
            shuts_down = bool(client.read("shutdown") & bit)
            assert (client.read("torque_limit") == 0) == shuts_down
            client.write("torque_limit", 1023)
            wait_for(lambda: error() == (0 if fault == "overload" else bit), what="the error that is left")
        client.close()


@pytest.mark.long
def test_a_link_left_by_a_killed_emulator_is_replaced(tmp_path):
    link = tmp_path / "bus"
    with emulator(link) as process:
        process.send_signal(signal.SIGKILL)
        process.communicate(timeout=PATIENCE)
    assert link.is_symlink()
    with emulator(link):
        client = Client(str(link), control_table("mx106"))
        assert client.handler.ping(client.port, 1)[:2] == (320, COMM_SUCCESS)
        client.close()


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--servo", "mx107"], "servo 'mx107': unknown"),
        (["--baud", "12"], "baud rate of MX-106: is 12"),
        (["--mass", "-1"], "mass"),
        (["--fault", "gremlins"], "fault 'gremlins': unknown"),
        (["--link", "/nowhere/bus"], "/nowhere/bus: cannot be written"),
        (["--link", "/tmp/" + "x" * 300], "cannot be written"),
        (["--seed", "-1"], "'-1' is no seed"),
        (["--id", "one"], "--id: invalid int value: 'one'"),
        (["--servos", "*=mx106"], "--robot: is missing"),
        (["--robot", str(ROBOT)], "--servos: is missing"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(options, message):
    done = subprocess.run([*MODULE, *options], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_output_that_nobody_reads_ends_it_without_a_traceback():
    readable, writable = os.pipe()
    os.close(readable)
    try:
        done = subprocess.run(MODULE, stdout=writable, stderr=subprocess.PIPE, timeout=PATIENCE, check=False)
    finally:
        os.close(writable)
    assert (done.returncode, done.stderr) == (141, b"")


def test_no_pseudo_terminal_left_is_one_line(monkeypatch):
    def none_left():
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pty.openpty", none_left)
    with pytest.raises(Unavailable, match="pseudo-terminal"):
        PtyServer(build_bus(BusSetup(), 0.0)).start()


def test_a_file_in_the_place_of_the_link_is_never_touched(tmp_path):
    link = tmp_path / "bus"
    link.write_text("precious")
    server = PtyServer(build_bus(BusSetup(), time.monotonic()), link=link)
    with pytest.raises(NotWritable) as caught:
        server.start()
    assert caught.value.path == str(link)
    server.stop()
    assert link.read_text() == "precious"
    assert list(tmp_path.iterdir()) == [link]


def test_clients_come_and_go():
    with virtual_bus("mx106_2", ids=(1,)) as served:
        for _ in range(3):
            client = Client(str(served.server.path), served.table)
            assert client.handler.ping(client.port, 1)[1] == COMM_SUCCESS
            client.close()


DRIVE = """
import sys
from dynamixel_sdk import PacketHandler, PortHandler
port, handler = PortHandler(sys.argv[1]), PacketHandler(2.0)
assert port.openPort() and port.setBaudRate(1000000)
handler.write1ByteTxRx(port, 1, 98, 127)
handler.write1ByteTxRx(port, 1, 64, 1)
handler.write4ByteTxRx(port, 1, 116, 3000)
print("driving", flush=True)
while True:
    handler.read4ByteTxRx(port, 1, 132)
"""


def test_the_watchdog_releases_a_servo_whose_client_was_killed():
    with virtual_bus("xl330", ids=(1,)) as served:
        client = subprocess.Popen(
            [sys.executable, "-c", DRIVE, str(served.server.path)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert client.stdout is not None
            assert client.stdout.readline() == "driving\n"
            registers, state = served.servo.registers, served.servo.bench.state
            wait_for(lambda: state[physics.POSITION] > 0.2, what="the client moves the arm")
            assert registers.get("bus_watchdog") == 127  # 2.5 s: the client may have to wait for a processor
        finally:
            client.kill()
            client.communicate()
        wait_for(lambda: registers.get("bus_watchdog") == -1, what="the watchdog expires")
        wait_for(lambda: state[k.DUTY] == 0.0, what="the output is off")
        wait_for(lambda: state[physics.POSITION] < 0.2, what="the arm sinks")
