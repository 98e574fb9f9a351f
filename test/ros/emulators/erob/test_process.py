# SPDX-License-Identifier: Apache-2.0
"""The virtual segment as a process of its own: start, signals, bad input, permission, control lines."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pyroute2 import IPRoute

from bam_core.errors import BamError, Conflict, MissingSoftware, Unavailable
from bam_ros.emulators.erob import permission, veth
from bam_ros.emulators.erob.builder import SegmentSetup, build_segment
from bam_ros.emulators.erob.frames import Command, Datagram, decode, encode
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.emulators.erob.server import SegmentServer
from bam_ros.emulators.erob.veth import VethPair
from test.ros.ros_helpers import PATIENCE
from test.ros.soem_cases import needs_network, until

MODULE = [sys.executable, "-m", "bam_ros.emulators.erob"]


def names(letter: str) -> tuple[str, str]:
    return f"ep{os.getpid()}{letter}m", f"ep{os.getpid()}{letter}s"


def exists(interface: str) -> bool:
    return interface in (name for _, name in socket.if_nameindex())


@contextmanager
def emulator(letter: str, *options: str) -> Iterator[subprocess.Popen]:
    """Start the emulator and wait for the line that says it serves."""
    master, slaves = names(letter)
    process = subprocess.Popen(
        [*MODULE, "--create-veth", f"{master}:{slaves}", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("starting")
        assert process.stdout.readline().endswith(f"at {slaves}, master at {master}\n")
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()


@needs_network
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_and_takes_the_pair_away(number):
    with emulator("a", "--slaves", "2", "--reveal") as process:
        assert exists(names("a")[0])
        process.send_signal(number)
        output, errors = process.communicate(timeout=PATIENCE)
    assert (process.returncode, errors) == (0, "")
    assert output.count("torque_constant") == 2
    assert not exists(names("a")[0])


@needs_network
def test_a_second_segment_at_the_same_cable_is_refused_until_the_first_has_ended():
    pair = names("f")
    with VethPair(*pair):
        with SegmentServer(build_segment(SegmentSetup(), 0), pair[1]):
            for end in pair:
                with pytest.raises(Conflict) as caught:
                    SegmentServer(build_segment(SegmentSetup(), 0), end).start()
                assert caught.value.thing == f"interface {end}"
        with SegmentServer(build_segment(SegmentSetup(), 0), pair[1]):
            pass


@needs_network
def test_a_pair_is_made_once_a_master_would_find_its_cable_plugged(monkeypatch):
    """On a busy machine the kernel tells so some time after both ends are up."""
    pair, answers = names("v"), [False, True, False, True, True]
    monkeypatch.setattr(veth, "has_carrier", lambda name: exists(name) and answers.pop(0))
    with VethPair(*pair):
        assert not answers


@needs_network
def test_a_pair_whose_ends_do_not_find_each_other_is_taken_away(monkeypatch):
    pair = names("w")
    monkeypatch.setattr(veth, "has_carrier", lambda name: False)
    with pytest.raises(Unavailable), VethPair(*pair, link_timeout=0.0):
        pass
    assert not exists(pair[0])


@needs_network
def test_a_name_that_is_taken_is_refused_and_left_alone():
    pair = names("b")
    with VethPair(*pair):
        done = subprocess.run(
            [*MODULE, "--create-veth", ":".join(pair)],
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 2
        assert "one of these interfaces exists already" in done.stderr
        assert exists(pair[0])
    assert not exists(pair[0])


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "interface: is missing"),
        (["--interface", "nowhere0"], "interface 'nowhere0': unknown (valid: "),
        (["--create-veth", "one"], "expected MASTER:SLAVES"),
        (["--create-veth", "a:a"], "both ends have the same name"),
        (["--create-veth", "much_too_long_name:b"], "name of an interface: is 'much_too_long_name'"),
        (["--interface", "lo", "--servo", "mx107"], "servo 'mx107': unknown"),
        (["--interface", "lo", "--slaves", "0"], "slaves: is 0 (expected 1 to 32)"),
        (["--interface", "lo", "--mass", "-1"], "mass"),
        (["--interface", "lo", "--fault", "gremlins"], "fault 'gremlins': unknown"),
        (["--interface", "lo", "--fault", "lost@2"], "slave of a fault: is 'lost@2' (expected @1 to @1)"),
        (["--interface", "lo"], "interface lo: is the loopback (expected an Ethernet interface)"),
        (["--vendor", "0x1FFFFFFFF"], "'0x1FFFFFFFF' is no code (expected 0 to 0xFFFFFFFF"),
        (["--product", "eRob"], "'eRob' is no code"),
        (["--slaves", "two"], "--slaves: invalid int value: 'two' (see --help)"),
    ],
)
def test_bad_input_gets_one_line_and_status_2(options, message):
    done = subprocess.run([*MODULE, *options], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 2
    assert message in done.stderr or "CAP_NET_RAW" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_missing_permission_is_named_with_its_cure(monkeypatch):
    def refuse(*arguments: object) -> socket.socket:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(socket, "socket", refuse)
    server = SegmentServer(build_segment(SegmentSetup(), 0), "ecat1")
    with pytest.raises(MissingSoftware, match=r"^interface ecat1: .*CAP_NET_RAW .*sudo setcap cap_net_raw"):
        server.start()
    server.stop()
    refused = str(permission.veth_refused("ecat0", "ecat1"))
    assert "CAP_NET_ADMIN" in refused
    assert "sudo ip link add ecat0 type veth peer name ecat1" in refused


def test_nothing_heavy_is_imported_before_the_first_line():
    code = (
        "import sys; before = set(sys.modules); import bam_ros.emulators.erob.__main__;"
        "print(*(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "argparse", "pyroute2", "rclpy"} & set(done.stdout.split())


@pytest.mark.long
@needs_network
def test_control_lines_look_break_and_hang():
    with VirtualSegmentProcess(2, "--seed", "3") as segment:
        found = segment.look()
        assert [slave["al_state"] for slave in found["slaves"]] == ["INIT", "INIT"]
        segment.request("place 2 0.5")
        assert segment.look()["slaves"][1]["position"] > 0.3
        segment.request("load 3.0 0.4 0.5")
        assert segment.look()["slaves"][1]["position"] == pytest.approx(0.0, abs=1e-6)
        assert "torque_constant" in segment.request("reveal")[1]
        segment.faults("undervoltage@1")
        assert segment.look()["slaves"][0]["error_code"] == 0x3220
        for line, message in (
            ("dance", "command 'dance': unknown"),
            ("place 3 0.5", "slave: is '3' (expected 1 to 2)"),
            ("place 1 far", "word: is 'far' (expected a number)"),
            ("load -1 0.4", "mass"),
            ("faults drop=7", "(expected a probability"),
        ):
            with pytest.raises(BamError) as caught:
                segment.request(line)
            assert message in str(caught.value)
    assert not exists(segment.interface)


@needs_network
def test_it_ends_with_the_program_that_started_it():
    code = (
        "from bam_ros.emulators.erob.process import VirtualSegmentProcess as P\n"
        "p = P(1); p.start(); print(p.interface, flush=True); import os; os.kill(os.getpid(), 9)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    interface = done.stdout.strip()
    assert interface
    until(lambda: not exists(interface), "its end")


@needs_network
def test_a_server_in_a_thread_answers_a_bare_socket():
    pair = names("c")
    with VethPair(*pair), SegmentServer(build_segment(SegmentSetup(slaves=3), 0), pair[1]) as server:
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as master:
            master.bind((pair[0], 0x88A4))
            master.settimeout(PATIENCE)
            master.send(encode([Datagram(Command.BRD, 9, 0x01300000, bytes(2))]))
            (answer,) = decode(master.recv(2048))
            assert (answer.number, answer.working_counter, answer.data) == (9, 3, b"\x01\0")
            master.send(encode([Datagram(Command.BRD, 9, 0, bytes(100))])[:60])  # cut off: swallowed
            until(lambda: server.received == 2, "the frame arriving")
        assert server.answered == 1


@needs_network
def test_a_server_that_ends_answers_a_master_until_its_frames_stop():
    pair, silence = names("g"), 2.0  # longer than this test may stand still
    with (
        VethPair(*pair),
        SegmentServer(build_segment(SegmentSetup(), 0), pair[1], silence=silence) as server,
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as master,
    ):
        master.bind((pair[0], 0x88A4))
        master.settimeout(PATIENCE)
        end = threading.Thread(target=server.stop, args=(10 * PATIENCE,))
        end.start()
        for number in range(20):
            master.send(encode([Datagram(Command.BRD, number, 0x01300000, bytes(2))]))
            (answer,) = decode(master.recv(2048))
            assert (answer.number, answer.working_counter) == (number, 1)
        assert end.is_alive()
        end.join(PATIENCE)
        assert not end.is_alive()


@needs_network
def test_an_interface_that_is_down_is_named_with_its_cure():
    pair = names("d")
    with VethPair(*pair):
        with IPRoute() as route:
            route.link("set", index=socket.if_nametoindex(pair[1]), state="down")
        server = SegmentServer(build_segment(SegmentSetup(), 0), pair[1])
        with pytest.raises(Unavailable, match=f"sudo ip link set {pair[1]} up"):
            server.start()


@needs_network
def test_an_interface_that_goes_away_and_comes_back_ends_nothing():
    pair = names("e")
    with VethPair(*pair), SegmentServer(build_segment(SegmentSetup(), 0), pair[1]) as server:
        with IPRoute() as route:
            for state in ("down", "up"):
                route.link("set", index=socket.if_nametoindex(pair[1]), state=state)
        with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as master:
            master.bind((pair[0], 0x88A4))

            def answered() -> bool:
                master.send(encode([Datagram(Command.BRD, 9, 0x01300000, bytes(2))]))
                time.sleep(0.01)
                return server.answered > 0

            until(answered, "an answer")


def test_help_names_every_option_and_an_example():
    done = subprocess.run([*MODULE, "--help"], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0
    for word in ("--create-veth", "--interface", "--slaves", "--fault", "erob80_100", "ecat0:ecat1"):
        assert word in done.stdout
