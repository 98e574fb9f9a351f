# SPDX-License-Identifier: Apache-2.0
"""Which servo is on which joint of a robot, and which joints count."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

import mujoco
import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData, Conflict, Missing, OutOfRange, UnknownName, WrongType
from bam_core.mujoco.couplings import followers
from bam_core.mujoco.robot import compile_robot
from bam_core.recordings.map_file import map_names, recording_map_for
from bam_core.robot.run import RobotRun
from bam_core.servo.model import ServoModel
from bam_core.text.robot_evidence_findings import JointsFinding

_MAX_ZERO_ERROR = 1.0  # rad beyond the end of a joint's range: no zero of an encoder is off by as much
_SPEED_OVER = 0.04  # s; over less, counts of the encoder look like speed
_FEWEST_SPEEDS = 20
_USUAL = 98.0  # percentile of the speeds, as a link that falls may be faster for a moment
_FASTER = 3.0  # than without load
_SUPPLIES = 0.3, 2.5  # of the nominal supply; a servo for 12 V may run at 5 V, one for 5 V at 12 V
_ONE_DOF = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)


def servos_by_joint(spec: mujoco.MjSpec, words: Sequence[str]) -> dict[str, str]:
    """Return joint -> servo, in the robot's order of joints.

    Args:
        spec: the robot.
        words: such as "mx106=mx106" or "left_*=my_servo.yaml": a default class of joints, a joint, or a
            pattern of names with `*` and `?`, and the servo. A joint's own name overrides a pattern, which
            overrides a class. Patterns pass over slides, and joints that another one moves.

    Raises:
        BamError: a word is no assignment, or names nothing in the robot.
    """
    joints = [joint for joint in spec.joints if joint.name and joint.type in _ONE_DOF]
    if words and not joints:
        raise Missing(
            f"joints of model '{spec.modelname}'",
            "a hinge with a name",
            advice="name its joints, or give the description of another robot",
        )
    coupled = followers(spec)
    turning = [joint.name for joint in joints if joint.type == _ONE_DOF[0] and joint.name not in coupled]
    chosen: list[dict[str, str]] = [{}, {}, {}]  # by class, by pattern, by name
    for word in words:
        what, equals, servo = (part.strip() for part in word.partition("="))
        if not equals or not what or not servo:
            raise WrongType("--servos", word, "CLASS_OR_JOINT=SERVO, as in mx106=mx106,left_*=mx64")
        by_class = [joint.name for joint in joints if joint.classname.name == what]
        by_name = [joint.name for joint in joints if fnmatchcase(joint.name, what)]
        if not by_class and not by_name:
            classes = {joint.classname.name for joint in joints}
            raise UnknownName("class or joint", what, {*classes, *(joint.name for joint in joints)})
        rank = 2 if what in by_name else 1 if by_name else 0
        for name in [what] if rank == 2 else [name for name in by_name if name in turning] or by_class:
            chosen[rank][name] = servo
    merged = {**chosen[0], **chosen[1], **chosen[2]}
    return {joint.name: merged[joint.name] for joint in joints if joint.name in merged}


def chosen_joints(available: Sequence[str], patterns: Sequence[str]) -> tuple[str, ...]:
    """Return those joints that count.

    Args:
        available: joints that have a servo and were recorded.
        patterns: names or patterns; one that begins with `!` leaves joints out. Empty: all.

    Raises:
        BamError: a pattern names none of them, or none is left.
    """
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    unwanted = [pattern[1:] for pattern in patterns if pattern.startswith("!")]
    for pattern in (*wanted, *unwanted):
        if not any(fnmatchcase(name, pattern) for name in available):
            raise UnknownName("joint", pattern, available)
    chosen = tuple(
        name
        for name in available
        if (not wanted or any(fnmatchcase(name, pattern) for pattern in wanted))
        and not any(fnmatchcase(name, pattern) for pattern in unwanted)
    )
    if not chosen:
        raise Missing("joints", "at least one that counts", advice="leave fewer out")
    return chosen


def require_recorded(servos: Mapping[str, str], recorded: Sequence[str]) -> None:
    """Raise BamError where no joint has both a servo and a recording."""
    if not set(servos) & set(recorded):
        raise Conflict(
            "joints",
            f"none with a servo ({', '.join(servos)}) was recorded",
            expected=f"some of {', '.join(recorded)}",
            advice=_map_advice(servos, recorded),
        )


def _map_advice(servos: Collection[str], recorded: Sequence[str]) -> str:
    """Return which map of the suite has these joints, or how to write one."""
    for name in map_names():
        of_map = recording_map_for(Path(name), (name,))
        if {of_map.joint_name(joint) for joint in recorded} & set(servos):
            return f"use --map {name}, which has these joints"
    return "correct --servos, or name joints with --map, as in --map 'main_*=*'"


def joint_warnings(
    spec: mujoco.MjSpec, servos: Mapping[str, str], recorded: Sequence[str]
) -> list[JointsFinding]:
    """Return a finding about joints that nothing drives, and one about those that a recording lacks.

    Args:
        spec: the robot.
        servos: joint -> servo.
        recorded: joints of which a recording has goals and positions.
    """
    names = [joint.name for joint in spec.joints if joint.name and joint.type in _ONE_DOF]
    coupled = followers(spec)
    idle = [name for name in names if name not in servos and name not in coupled]
    held = [name for name in servos if name not in recorded]
    kinds = {"undriven": idle, "held": held}
    return [JointsFinding(kind=kind, joints=tuple(some)) for kind, some in kinds.items() if some]


def require_possible_speed(name: str, run: RobotRun, servos: Mapping[str, ServoModel]) -> None:
    """Refuse positions that change faster than servos can turn: degrees, or times in another unit.

    Args:
        name: of the run.
        run: to check.
        servos: by joint.

    Raises:
        BadData: naming the first joint, with both speeds.
    """
    every = max(round(_SPEED_OVER / float(np.median(np.diff(run.time)))), 1)
    for joint, servo in servos.items():
        if joint not in run.joints:
            continue
        column = run.column(joint)
        sound = run.is_sound[:, column] & run.counts
        time, position = run.time[sound][::every], run.position[sound, column][::every]
        if len(time) < _FEWEST_SPEEDS:
            continue
        seen = float(np.percentile(np.abs(np.diff(position)) / np.diff(time), _USUAL))
        fastest = (run.supply_voltage or servo.nominal_voltage) / servo.motor.torque_constant
        if seen > _FASTER * fastest:
            raise BadData(
                f"{name}, positions of '{joint}'",
                f"change by {seen:.3g} rad/s",
                expected=f"{fastest:.2g} rad/s at most, the speed of a {servo.name} without load",
                advice="correct the unit of positions (--unit deg) or times, or the frame rate",
            )


def require_possible_supply(run: RobotRun, servos: Mapping[str, ServoModel]) -> None:
    """Refuse a supply voltage that no servo has: another unit, or a slip.

    Args:
        run: to check.
        servos: that are driven, by joint.

    Raises:
        OutOfRange: naming the supply, and that of the first servo that does not have it.
    """
    supply = run.supply_voltage
    for servo in servos.values():
        low, high = (share * servo.nominal_voltage for share in _SUPPLIES)
        if supply is not None and not low <= supply <= high:
            raise OutOfRange(
                f"{run.name}, supply",
                supply,
                f"about {servo.nominal_voltage:g} V, that of a {servo.name}",
                printed=f"{supply:g} V",
                advice="correct --vin, or vin in a bench.yaml",
            )


def require_in_range(spec: mujoco.MjSpec, name: str, joints: Sequence[str], position: Array) -> None:
    """Refuse positions that a joint cannot have: degrees, most of all.

    Args:
        spec: the robot.
        name: of the run.
        joints: of the columns.
        position: (n, joints), rad.

    Raises:
        BamError: a reading is far beyond the range of its joint.
    """
    model = compile_robot(spec.copy())
    for column, joint in enumerate(joints):
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, joint)
        if number < 0 or not model.jnt_limited[number] or model.jnt_type[number] != _ONE_DOF[0]:
            continue
        low, high = model.jnt_range[number]
        least, most = float(np.min(position[:, column])), float(np.max(position[:, column]))
        if least < low - _MAX_ZERO_ERROR or most > high + _MAX_ZERO_ERROR:
            raise BadData(
                f"{name}, position of '{joint}'",
                f"goes from {least:.3g} to {most:.3g}",
                expected=f"{low:.3g} to {high:.3g} rad, its range in the description; in rad, not degrees",
                advice="convert it, or correct the range",
            )
