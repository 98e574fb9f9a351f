# SPDX-License-Identifier: Apache-2.0
"""What keeps a segment closed is told in one line."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

import bam_ros.erob
from bam_core.errors import Conflict, Unavailable, Unsupported
from bam_ros.driver.servo_bus import BusGone
from bam_ros.emulators.erob.frames import Command, Datagram, encode, physical
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.emulators.erob.registers import Register
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.interface import ETHERCAT
from bam_ros.erob.objects import Object
from bam_ros.text.erob_notices import OtherRatings
from test.ros.erob_cases import Make, failure, hold, keep, opened, settings, wait_torque_off


def test_wrong_wiring_is_told_in_one_line(pair: VirtualSegmentProcess) -> None:
    cases = [
        (
            settings(pair.interface, 3),
            BusGone,
            r"slave at position 3 \(joint 'c'\): is missing \(expected 3 slaves,"
            r" eRobs at positions 1, 2, 3; found 2 slaves, 1: .*, 2: .*\); check the cable behind position 2",
        ),
        (settings("eth_nowhere"), BusGone, "interface eth_nowhere: there is none .*" + pair.interface),
    ]
    for wrong, kind, message in cases:
        with pytest.raises(kind, match=message) as caught:
            ErobBus(wrong).open()
        assert "\n" not in str(caught.value)
    pair.faults("lost@1", "lost@2")
    with pytest.raises(BusGone, match=r"no EtherCAT slave answers \(expected 2 slaves, .*check power"):
        ErobBus(settings(pair.interface)).open()


def test_an_object_that_a_drive_cannot_map_is_named(pair: VirtualSegmentProcess, tmp_path: Path) -> None:
    text = (Path(bam_ros.erob.__file__).parent / "layouts" / "torque.yaml").read_text()
    layout = tmp_path / "mine.yaml"
    layout.write_text(text.replace("{object: 0x6079, bits: 32}", "{object: 0x607A, bits: 32}"))
    with pytest.raises(Unsupported, match=r"0x607A .* entry \d+ of what it sends \(.*abort code"):
        ErobBus(settings(pair.interface, layout=str(layout))).open()


@pytest.mark.long  # 2000 times a second, three processes: beside other work the node is silent for too long
def test_two_thousand_cycles_per_second_are_accounted_for(pair: VirtualSegmentProcess) -> None:
    """How many of them come in time is for `make soak` to say."""
    with opened(pair, rate=2000.0) as bus:
        goal = hold(bus)
        sample = keep(bus, goal, lambda sample: bus.report.get("sent", 0) > 3000)
        assert all(sample.torque_enabled)
        report = bus.report
        assert report["sent"] == report["answered"] + report["lost"]
        assert report["wrong"] == report["stale"] == 0
        assert len(bus.read_object("b", Object.RATED_TORQUE)) == 4


@pytest.mark.long
def test_a_slave_that_is_no_erob_is_named(segments: Make) -> None:
    segment = segments(1, "--vendor", "0x2", "--product", "0x44c2c52")
    with pytest.raises(Conflict, match=r"is '.*', vendor 0x00000002, product 0x044C2C52"):
        ErobBus(settings(segment.interface, 1)).open()


def test_a_slave_that_does_not_reach_op_is_named_with_its_al_status(pair: VirtualSegmentProcess) -> None:
    pair.faults("safe_op@1")
    with pytest.raises(Unavailable, match="AL status 0x001A") as caught:
        ErobBus(settings(pair.interface)).open()
    assert caught.value.thing == "slave at position 1 (joint 'a')"


def test_a_cycle_rate_that_drives_do_not_take_is_named_as_the_cause(pair: VirtualSegmentProcess) -> None:
    with pytest.raises(Unsupported, match=r"AL status 0x0035, .*1287 µs: set the parameter cycle"):
        ErobBus(settings(pair.interface, rate=777.0)).open()


def test_a_working_counter_that_is_never_right_keeps_the_segment_closed(pair: VirtualSegmentProcess) -> None:
    pair.faults("wkc@2")
    with pytest.raises(Unavailable, match="working counter 5, expected 6"):
        ErobBus(settings(pair.interface)).open()


@pytest.mark.long
def test_a_watchdog_that_a_slave_cannot_hold_is_told_in_one_line(segments: Make) -> None:
    segment = segments()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERCAT)) as other:
        other.bind((segment.interface, ETHERCAT))
        divider = physical(0, Register.WATCHDOG_DIVIDER)
        other.send(encode([Datagram(Command.BWR, 0, divider, bytes(2))]))
    with pytest.raises(Unsupported, match=r"1000 ms \(.*limited to 5"):
        ErobBus(settings(segment.interface, 1)).open()


def test_a_drive_of_another_gear_than_its_servo_is_a_warning(pair: VirtualSegmentProcess) -> None:
    with opened(pair, servos=("erob80_50", "erob80_100")) as bus:
        (other,) = bus.warnings
    assert isinstance(other, OtherRatings)
    assert (other.joint, other.position, other.servo) == ("a", 1, "erob80_50")
    assert (other.current, other.torque) == pytest.approx((6.0, 56.7), rel=1e-2)
    assert other.torque_constant == pytest.approx(4.92, abs=0.01)


def test_an_interface_that_is_down_is_told_and_taken_when_it_is_up(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        subprocess.run(["ip", "link", "set", pair.interface, "down"], check=True)
        error = failure(bus, goal)
        assert isinstance(error, BusGone)
        assert f"interface {pair.interface}: is down (expected up); ip link set" in str(error)
        wait_torque_off(pair)
        bus.close()
        with pytest.raises(BusGone):
            bus.open()
        subprocess.run(["ip", "link", "set", pair.interface, "up"], check=True)
        bus.open()
        hold(bus)


@pytest.mark.long
def test_missing_permission_names_the_capabilities_and_how_to_grant_them(pair: VirtualSegmentProcess) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give up its permission")
    code = (
        "import os, sys\n"
        "from bam_ros.erob.interface import require_interface\n"
        "os.setuid(65534)\n"
        "require_interface(sys.argv[1])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, pair.interface], capture_output=True, text=True, check=False
    )
    assert (
        "no permission for raw frames (expected CAP_NET_RAW and CAP_NET_ADMIN, missing CAP_NET_RAW and"
        " CAP_NET_ADMIN)"
    ) in result.stderr
    assert "setpriv" in result.stderr
