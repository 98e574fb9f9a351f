# SPDX-License-Identifier: Apache-2.0
"""The eRob bus on emulated drives: bring-up, the law, gains, objects and samples."""

from __future__ import annotations

import math
import time

import pytest

from bam_core.errors import OutOfRange, Unavailable, UnknownName, Unsupported
from bam_core.servo.model import load_servo
from bam_ros.driver.servo_bus import Gains, ServoGoal, ServoSample
from bam_ros.emulators.erob.process import VirtualSegmentProcess
from bam_ros.erob.objects import Object
from test.ros.erob_cases import (
    GOAL,
    Make,
    exchange,
    hold,
    keep,
    opened,
    torque,
)
from test.ros.ros_helpers import PATIENCE


@pytest.mark.parametrize("slaves", [2, *(pytest.param(slaves, marks=pytest.mark.long) for slaves in (1, 6))])
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


@pytest.mark.long
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
