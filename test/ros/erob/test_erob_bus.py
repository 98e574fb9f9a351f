# SPDX-License-Identifier: Apache-2.0
"""The bus on emulated drives: bring-up, the law, mailbox traffic, and every fault's defined end."""

from __future__ import annotations

import contextlib
import math
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from missing import raw_frames
from ros_helpers import PATIENCE, wait_for

import bam_ros.erob
from bam_core.errors import BamError, Conflict, Missing, OutOfRange, Unavailable, UnknownName, Unsupported
from bam_core.servo.model import load_servo
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.servo_bus import BusGone, BusTimeout, Gains, ServoGoal, ServoSample
from bam_ros.emulators.erob.frames import Command, Datagram, encode, physical
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.emulators.erob.registers import Register
from bam_ros.erob import master
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.interface import ETHERCAT
from bam_ros.erob.messages import Note, receive
from bam_ros.erob.objects import Object
from bam_ros.erob.settings import ErobSettings
from bam_ros.studies.soak import EMULATED_TIMEOUT, EMULATED_WATCHDOG

GOAL = 0.3
# What a wire and a machine of its own keep to is no matter here: emulated drives wait for their turn.
PATIENT = {"rate": 500.0, "watchdog": EMULATED_WATCHDOG, "answer_timeout": EMULATED_TIMEOUT}

Make = Callable[..., VirtualSegmentProcess]


@pytest.fixture
def segments() -> Iterator[Make]:
    """Start emulated drives; arguments as for `VirtualSegmentProcess`."""
    with contextlib.ExitStack() as stack:

        def make(slaves: int = 1, *options: str) -> VirtualSegmentProcess:
            segment = VirtualSegmentProcess(slaves, *options)
            with raw_frames():
                return stack.enter_context(segment)

        yield make


@pytest.fixture(scope="module")
def shared() -> Iterator[VirtualSegmentProcess]:
    """Two drives for every test that breaks nothing which `faults` cannot repair."""
    segment = VirtualSegmentProcess(2)
    with raw_frames():
        segment.start()
    yield segment
    segment.stop()


@pytest.fixture
def pair(shared: VirtualSegmentProcess) -> Iterator[VirtualSegmentProcess]:
    """The shared drives, repaired, without faults and arms hanging down."""
    yield shared
    shared.faults()
    if any(slave["power_state"] == "FAULT" for slave in shared.look()["slaves"]):
        with contextlib.suppress(BamError), opened(shared) as bus:
            for name in bus.names:
                bus.reboot(name)
    for position in (1, 2):
        shared.tell(f"place {position} 0.0")


@contextlib.contextmanager
def opened(segment: VirtualSegmentProcess, slaves: int = 2, **changes: object) -> Iterator[ErobBus]:
    bus = ErobBus(settings(segment.interface, slaves, **changes))
    try:
        bus.open()
        yield bus
    finally:
        bus.close()


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


@pytest.mark.parametrize("slaves", [1, 2, 6])
def test_drives_come_to_op_with_torque_off_and_clocks_on(segments: Make, slaves: int) -> None:
    segment = segments(slaves)
    with opened(segment, slaves) as bus:
        sample = keep(bus, ServoGoal.released(slaves), lambda sample: bool(bus.report.get("clock")))
        assert sample.torque_enabled == (False,) * slaves
        assert [slave["al_state"] for slave in segment.look()["slaves"]] == ["OP"] * slaves
        assert bus.report["working_counter"] == bus.report["expected_counter"] == 3 * slaves
        assert bus.warnings == ()
        assert [identity.id for identity in bus.identities] == list(range(1, slaves + 1))
        assert bus.identities[0].servo == "erob80_100"
    assert [slave["al_state"] for slave in segment.look()["slaves"]] == ["INIT"] * slaves


def test_the_law_moves_the_arm_and_what_is_measured_is_true(segments: Make) -> None:
    segment = segments(1, "--mass", "8.2", "--length", "0.5")
    with opened(segment, 1, kp=100.0) as bus:
        goal = hold(bus)
        keep(bus, goal, lambda sample: sample.velocity[0] > 0.05)
        places: list[float] = []

        def rests(sample: ServoSample) -> bool:
            places.append(sample.position[0])
            return len(places) > 100 and len(set(places[-100:])) == 1

        sample = keep(bus, goal, rests)
        truth = segment.look()["slaves"][0]
        assert abs(sample.position[0] - GOAL) < 0.25
        assert sample.position[0] == pytest.approx(truth["position"], abs=2e-3)
        assert sample.current[0] == pytest.approx(100.0 * (GOAL - sample.position[0]), abs=0.05)
        assert sample.effort[0] == pytest.approx(
            sample.current[0] * load_servo("erob80_100").motor.torque_constant, rel=0.01
        )
        assert sample.voltage[0] == pytest.approx(48.0, abs=1.0)
        assert sample.goal_position == (GOAL,)


def test_a_gain_is_in_force_from_the_next_cycles_and_kept_over_a_reopening(
    pair: VirtualSegmentProcess,
) -> None:
    with opened(pair, kp=0.0) as bus:
        goal = hold(bus)
        assert keep(bus, goal, lambda sample: True).current[0] == pytest.approx(0.0, abs=0.01)
        wanted = Gains(kp=30.0, ki=0.0, kd=0.0)
        assert bus.set_gains("a", wanted) == wanted
        keep(bus, goal, lambda sample: sample.current[0] > 1.0)
        bus.close()
        bus.open()
        goal = hold(bus, 1.0)
        keep(bus, goal, lambda sample: sample.current[0] > 1.0)
        for gains, kind in (
            (Gains(kp=-1.0, ki=0.0, kd=0.0), OutOfRange),
            (Gains(kp=1.0, ki=2.0, kd=0.0), Unsupported),
        ):
            with pytest.raises(kind):
                bus.set_gains("a", gains)
        with pytest.raises(UnknownName):
            bus.set_gains("elbow", wanted)


def test_a_released_drive_has_no_current(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        hold(bus)
        bus.release()
        assert torque(pair) == [False, False]
        sample = keep(bus, ServoGoal.released(2), lambda sample: True)
        assert sample.torque_enabled == (False, False)
        assert sample.current == (0.0, 0.0)


def test_one_drive_is_released_alone(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        hold(bus)
        goal = ServoGoal(torque_enable=(True, False), position=(GOAL, math.nan))
        keep(bus, goal, lambda sample: sample.torque_enabled == (True, False))
        keep(bus, goal, lambda sample: torque(pair) == [True, False])


def test_objects_are_read_and_written_while_process_data_runs(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        keep(bus, goal, lambda sample: bool(bus.report))
        before = dict(bus.report)
        for _ in range(20):
            assert int.from_bytes(bus.read_object("b", Object.RATED_TORQUE), "little") > 10_000
            assert bus.read_object("a", Object.IDENTITY, 1) == bytes.fromhex("6f72655a")
            assert len(bus.read_object("a", Object.SOFTWARE_VERSION)) > 128  # in segments
        assert bus.read_object("a", Object.TRANSMIT_PDO_ASSIGN, 1) == bytes.fromhex("001a")
        bus.write_object("a", Object.QUICK_STOP_OPTION, 0, b"\x02\0")
        assert bus.read_object("a", Object.QUICK_STOP_OPTION) == b"\x02\0"
        with pytest.raises(Unavailable, match=r"0x5FFF:0 \(no such object"):
            bus.read_object("a", 0x5FFF)
        sample = keep(bus, goal, lambda sample: bus.report["sent"] > before["sent"] + 400)
        assert all(sample.torque_enabled)
        after = bus.report
        assert after["sent"] == after["answered"] + after["lost"]
        assert after["wrong"] == before["wrong"]


OLD = 500_000_000  # ns; far more than a period, far less than what the queue would have kept


def test_samples_are_fresh_and_in_order(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        stamps = []
        began = time.time_ns()
        for _ in range(100):
            sample = exchange(bus, ServoGoal.released(2))
            if sample is not None:
                stamps.append(sample.stamp)
        assert stamps == sorted(set(stamps))
        assert stamps[0] > began - OLD
        assert stamps[-1] < time.time_ns()
        time.sleep(1.0)  # longer than the queue between the processes holds, and than what is old
        began = time.time_ns()
        sample = keep(bus, ServoGoal.released(2), lambda sample: True)
        assert sample.stamp > began - OLD


GENTLE = ["drop=0.02", "corrupt=0.02", "garble=0.02", "reorder=0.02", "delay=0.0005"]


@pytest.mark.parametrize("word", GENTLE)
def test_single_lost_cycles_are_counted_and_survived(pair: VirtualSegmentProcess, word: str) -> None:
    with opened(pair) as bus:
        goal = hold(bus, 0.0)
        keep(bus, goal, lambda sample: bool(bus.report))
        pair.faults(word)
        cycles = bus.report["sent"] + 150
        loses = word in ("drop=0.02", "corrupt=0.02", "garble=0.02")  # the others only come late
        deadline = time.monotonic() + PATIENCE
        while bus.report["sent"] < cycles or (loses and not bus.report["lost"]):
            assert time.monotonic() < deadline
            sample = exchange(bus, goal)
            if sample is not None:  # what is delivered is true, not damaged and not old
                assert all(abs(position) < 0.01 for position in sample.position)
                assert all(sample.torque_enabled)
                assert sample.hardware_error == (0, 0)
            time.sleep(0.002)
        pair.faults()
        keep(bus, goal, lambda sample: True)
        report = bus.report
        assert report["sent"] == report["answered"] + report["lost"]
        assert report["lost"] == report["unanswered"] + report["wrong"] + report["stale"]


LOST = {
    "drop=1": (BusGone, "interface .*: no slave answers any more .*check cable and power"),
    "lost@1": (Unavailable, r"slave at position 1 \(joint 'a'\): does not answer"),
    "lost@2": (Unavailable, r"slave at position 2 \(joint 'b'\): does not answer"),
    "safe_op@2": (Unavailable, r"slave at position 2 \(joint 'b'\): is in SAFE-OP\+ERROR \(AL status 0x001A"),
    "wkc@1": (Unavailable, r"wrong working counter .*working counter 5, expected 6"),
}


@pytest.mark.parametrize("word", LOST)
def test_a_segment_that_fails_is_named_released_and_taken_again(
    pair: VirtualSegmentProcess, word: str
) -> None:
    kind, message = LOST[word]
    with opened(pair) as bus:
        goal = hold(bus)
        pair.faults(word)
        error = failure(bus, goal)
        assert isinstance(error, kind)
        assert re.search(message, str(error)), str(error)
        wait_torque_off(pair)
        with pytest.raises(BamError):  # no silent values afterwards
            bus.exchange(goal)
        if word != "wkc@1":
            bus.close()
            with contextlib.suppress(BamError):  # not before it is repaired
                bus.open()
                pytest.fail("opened though it is broken")
        pair.faults()
        bus.close()
        bus.open()
        sample = keep(bus, ServoGoal.released(2), lambda sample: True)
        assert sample.torque_enabled == (False, False)
        assert sample.hardware_error == (0, 0)
        hold(bus)


@pytest.mark.parametrize("kind", [Unavailable, Unsupported])
def test_what_may_come_up_is_tried_again_and_that_is_told(
    kind: type[Unavailable | Unsupported], monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    def bring_up(*_: object) -> tuple[object, list[object]]:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise kind("slave at position 2", "does not reach OP", advice="switch it off and on")
        return SimpleNamespace(run=lambda: None), []

    monkeypatch.setattr(master, "_bring_up", bring_up)
    monkeypatch.setattr(master.Segment, "open", lambda self: None)
    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    told = ErobBus(settings("lo"))._master_settings
    with near, far:
        if kind is Unsupported:  # a refusal stays one
            with pytest.raises(kind):
                master.serve(near, told)
            assert tries == 1
            return
        master.serve(near, told)
        note = receive(far)
    assert isinstance(note, Note)
    assert note.kind == "opened"
    assert "does not reach OP" in note.content["warnings"][0]
    assert "tried again" in note.content["warnings"][0]


FAULTS = {
    "overcurrent@1": (HardwareError.OVERLOAD, "0x23.., .*overcurrent"),
    "short_circuit@1": (HardwareError.ELECTRICAL_SHOCK, "short circuit"),
    "following_error@1": (HardwareError.OVERLOAD, "0x8611, following error"),
    "overvoltage@1": (HardwareError.INPUT_VOLTAGE, "DC link overvoltage"),
    "undervoltage@1": (HardwareError.INPUT_VOLTAGE, "DC link undervoltage"),
    "overheat@1": (HardwareError.OVERHEATING, "too hot"),
    "encoder@1": (HardwareError.ENCODER, "0x73.., "),
    "fault=0xFF42@1": (HardwareError.DRIVE, "0xFF42, error that only its vendor knows"),
}
LASTING = ("overvoltage@1", "undervoltage@1", "overheat@1", "encoder@1")


@pytest.mark.parametrize("word", FAULTS)
def test_a_drive_fault_is_named_and_stays_until_it_is_reset(pair: VirtualSegmentProcess, word: str) -> None:
    bit, message = FAULTS[word]
    with opened(pair) as bus:
        goal = hold(bus)
        pair.faults(word)
        sample = keep(bus, goal, lambda sample: any(sample.hardware_error))
        assert sample.hardware_error == (bit, 0)
        assert not sample.torque_enabled[0]
        (line,) = bus.describe_errors("a", sample.hardware_error[0])
        assert re.search(f"a: drive fault .*{message}", line), line
        bus.release()
        assert torque(pair) == [False, False]
        keep(bus, ServoGoal.released(2), lambda sample: sample.hardware_error == (bit, 0))
        if word in LASTING:
            with pytest.raises(Unavailable, match="still in fault"):
                bus.reboot("a")
        pair.faults()
        bus.reboot("a")
        sample = keep(bus, ServoGoal.released(2), lambda sample: sample.hardware_error == (0, 0))
        assert sample.torque_enabled == (False, False)
        hold(bus)


def test_a_fault_that_was_there_before_is_not_reset_by_opening(pair: VirtualSegmentProcess) -> None:
    pair.faults("overheat@1")
    with opened(pair) as bus:
        sample = keep(bus, ServoGoal.released(2), lambda sample: any(sample.hardware_error))
        assert sample.hardware_error == (HardwareError.OVERHEATING, 0)


def test_an_object_that_is_not_answered_is_an_error_and_costs_no_cycles(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        pair.faults("sdo_timeout@1")
        with pytest.raises(Unavailable, match=r"0x6076:0 .*no answer"):
            bus.read_object("a", Object.RATED_TORQUE)
        assert all(keep(bus, goal, lambda sample: True).torque_enabled)
        pair.faults()
        assert len(bus.read_object("a", Object.RATED_TORQUE)) == 4


def test_the_drives_stop_by_themselves_when_the_master_is_killed(pair: VirtualSegmentProcess) -> None:
    with opened(pair) as bus:
        goal = hold(bus)
        os.kill(bus.master_pid, signal.SIGKILL)
        wait_torque_off(pair)
        assert {slave["al_code"] for slave in pair.look()["slaves"]} == {0x1B}
        assert "exited unexpectedly (status -9)" in str(failure(bus, goal))
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
        assert "stood still for" in str(failure(bus, goal))
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


def test_wrong_wiring_is_told_in_one_line(pair: VirtualSegmentProcess) -> None:
    cases = [
        (
            settings(pair.interface, 3),
            Missing,
            r"slave at position 3 \(joint 'c'\): .*\(expected 3 slaves,"
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
        (line,) = bus.warnings
        assert "position 1 (joint 'a'): rated 56.7 N·m at 6 A, 9.44 N·m/A (expected about 4.92, as" in line


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
