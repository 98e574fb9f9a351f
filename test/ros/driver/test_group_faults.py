# SPDX-License-Identifier: Apache-2.0
"""A fault of one group of joints stops that group alone, where the policy says so; the bus' faults stop all.

Tests step the loop themselves, on the clock of the bus.
"""

from __future__ import annotations

import pytest

from bam_core.errors import BamError, Missing, Unavailable, WrongValue
from bam_ros.driver.fault_errors import FaultPersists, StillAsked
from bam_ros.driver.hardware_errors import HardwareError
from bam_ros.driver.joint_groups import STOP_ALL, STOP_GROUP, stop_alone
from bam_ros.driver.servo_bus import BusGone, BusTimeout
from bam_ros.text.torque_reasons import GroupStopped, JointNotFollowing
from test.ros.stepped_bus import SteppedBus, SteppedLoop

JOINTS = ("hip", "knee", "finger", "thumb", "camera")
NAMES = {"arm": ("hip", "knee"), "gripper": ("finger", "thumb")}
ALL = dict.fromkeys(JOINTS, 0.0)
ARM, FINGER = {"hip": 0.0, "knee": 0.0, "camera": 0.0}, JOINTS.index("finger")
ON = [True] * 5
WITHOUT_GRIPPER = [True, True, False, False, True]


def running(policy: str = STOP_GROUP, **settings: object) -> SteppedLoop:
    """Return a loop whose five joints have torque; the camera is of no group."""
    groups = stop_alone(policy, NAMES, JOINTS)
    stepped = SteppedLoop(SteppedBus(*JOINTS), groups=groups, retry_period=0.0, **settings)
    stepped.run(0.02, **ALL)
    assert stepped.bus.torque == ON
    return stepped


def overload(stepped: SteppedLoop, joint: str) -> None:
    stepped.bus.errors[JOINTS.index(joint)] = HardwareError.OVERLOAD
    stepped.loop.step()


@pytest.mark.parametrize(
    ("policy", "joint", "torque"),
    [
        (STOP_ALL, "finger", [False] * 5),
        (STOP_GROUP, "finger", WITHOUT_GRIPPER),
        (STOP_GROUP, "knee", [False, False, True, True, True]),
        (STOP_GROUP, "camera", [False] * 5),
    ],
)
def test_a_hardware_error_releases_what_the_policy_says(policy: str, joint: str, torque: list[bool]) -> None:
    stepped = running(policy)
    overload(stepped, joint)
    stepped.run(0.002, **ALL)  # the next exchange
    assert stepped.bus.torque == torque
    stepped.run(1.0, **ALL)
    assert stepped.bus.torque == torque
    assert len(stepped.events) == 1
    assert stepped.loop.latched is (True not in torque)
    released = {name for name, on in zip(JOINTS, torque, strict=True) if not on}
    assert stepped.loop.withheld.keys() == released


def test_a_joint_that_does_not_follow_stops_its_group_and_is_reported_once() -> None:
    stepped = running(following_error=0.2, speed_limit=1.0, torque_on_speed=1.0)
    stepped.bus.stuck.add("finger")
    stepped.run(2.0, **{**ALL, "finger": 1.0})
    assert stepped.bus.torque == WITHOUT_GRIPPER
    reason = stepped.loop.stopped[FINGER]
    assert isinstance(reason, GroupStopped)
    assert isinstance(reason.reason, JointNotFollowing)
    assert (reason.group, reason.reason.joint) == ("gripper", "finger")
    assert stepped.loop.stopped.keys() == {2, 3}
    assert len(stepped.events) == 1


def test_a_loop_with_a_period_releases_a_group_without_waiting_for_it() -> None:
    stepped = running()
    assert not stepped.loop._at_once
    overload(stepped, "finger")
    assert stepped.loop._at_once
    for _ in range(3):  # the error persists: the loop keeps its period
        stepped.loop.step()
        assert not stepped.loop._at_once


@pytest.mark.parametrize("failure", [BusGone, BusTimeout, Unavailable])
def test_faults_of_the_bus_release_all_joints(failure: type[Unavailable]) -> None:
    stepped = running(failures=2)
    stepped.bus.failure = failure("port", "failed", advice="check it")
    stepped.run(0.01, **ALL)
    assert stepped.bus.torque == [False] * 5
    assert stepped.loop.latched


def test_commands_with_torque_off_end_a_fault_of_their_group_alone() -> None:
    stepped = running()
    overload(stepped, "finger")
    stepped.run(0.02, **ALL)
    stepped.bus.errors[FINGER] = 0
    stepped.run(0.1, **ALL)  # torque is still asked for
    stepped.command(0.0, on=False, joint=0)
    stepped.run(0.1, **ALL)  # that was of the other group
    stepped.command(0.0, on=False, joint=FINGER)
    stepped.run(0.1, **ARM, thumb=0.0)  # another joint of the group still asks
    assert stepped.bus.torque == WITHOUT_GRIPPER
    stepped.command(0.0, on=False, joint=FINGER + 1)
    stepped.run(0.1, **ARM)
    assert not stepped.loop.stopped
    stepped.run(0.02, **ALL)
    assert stepped.bus.torque == ON


def test_a_command_of_before_the_fault_does_not_acknowledge_it() -> None:
    stepped = running()
    for joint in (FINGER, FINGER + 1):
        stepped.command(0.0, on=False, joint=joint)
    overload(stepped, "finger")
    stepped.bus.errors[FINGER] = 0
    stepped.run(1.0, **ARM)
    assert stepped.loop.stopped


def test_a_reset_waits_for_cause_and_commands_of_the_group_and_not_for_the_arm() -> None:
    stepped = running()
    overload(stepped, "finger")
    stepped.run(0.02, **ALL)
    with pytest.raises(StillAsked) as asked:
        stepped.loop.end_fault()
    assert asked.value.joints == ("finger", "thumb")
    stepped.run(1.0, **ARM)
    with pytest.raises(FaultPersists):
        stepped.loop.end_fault()
    stepped.bus.errors[FINGER] = 0
    stepped.run(0.02, **ARM)
    assert stepped.loop.end_fault({0, 1}) == ""  # nothing of the arm
    assert stepped.loop.end_fault()
    assert not stepped.loop.stopped
    stepped.run(0.02, **ALL)
    assert stepped.bus.torque == ON
    assert stepped.loop.fault is None


def test_a_reset_ends_what_has_passed_and_names_what_persists() -> None:
    stepped = running()
    overload(stepped, "finger")
    overload(stepped, "knee")
    stepped.bus.errors[JOINTS.index("knee")] = 0
    stepped.run(1.0, camera=0.0)
    with pytest.raises(FaultPersists):
        stepped.loop.end_fault()
    assert stepped.loop.stopped.keys() == {2, 3}


def test_a_lost_bus_can_be_acknowledged_though_a_servo_of_a_stopped_group_has_an_error() -> None:
    stepped = running(failures=2)
    overload(stepped, "finger")
    stepped.run(0.02, **ALL)
    stepped.bus.failure = BusTimeout("id 1", "no answer", advice="check it")
    stepped.run(0.01)
    stepped.bus.failure = None
    stepped.run(1.0)  # the bus is back, and nobody asks for torque
    with pytest.raises(FaultPersists):
        stepped.loop.end_fault()
    assert not stepped.loop.latched
    stepped.run(0.02, **ALL)
    assert stepped.bus.torque == WITHOUT_GRIPPER


def test_a_reboot_forgets_faults_of_groups() -> None:
    stepped = running()
    overload(stepped, "finger")
    stepped.run(1.0)
    stepped.loop._interruption(lambda: stepped.bus.errors.__setitem__(FINGER, 0), "rebooted")()
    assert not stepped.loop.stopped
    stepped.run(0.05, **ALL)
    assert stepped.bus.torque == ON


def test_groups_that_stop_alone_are_places_on_the_bus() -> None:
    assert stop_alone(STOP_GROUP, NAMES, JOINTS) == {"arm": {0, 1}, "gripper": {2, 3}}
    assert stop_alone(STOP_ALL, NAMES, JOINTS) == {}


@pytest.mark.parametrize(
    ("policy", "groups", "kind"), [("stop", NAMES, WrongValue), (STOP_GROUP, {}, Missing)]
)
def test_policies_that_mean_nothing_are_refused(
    policy: str, groups: dict[str, tuple[str, ...]], kind: type[BamError]
) -> None:
    with pytest.raises(kind):
        stop_alone(policy, groups, JOINTS)
