# SPDX-License-Identifier: Apache-2.0
"""``bam robot record``: plays a motion on a whole robot and records it."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from tqdm import tqdm

from bam_core.cli.map_words import add_map, map_words
from bam_core.cli.quantities import quantity_in
from bam_core.cli.robot.case import add_description, servo_words
from bam_core.errors import Conflict, Unavailable
from bam_core.text.comma_list import comma_list
from bam_core.text.quantity import ANGLE, LENGTH, SPEED, TIME
from bam_ros.cli.spinning_node import spinning_node
from bam_ros.cli.stop_signals import stop_signals

if TYPE_CHECKING:
    from bam_core.robot.contacts import ContactCheck
    from bam_core.robot.mapped_motion import MappedMotion
    from bam_core.robot.motion import RobotMotion
    from bam_core.servo.gains import Gain
    from bam_ros.recorder.robot_recorder import RobotLinks, RobotRecorder
    from bam_ros.text.notice import Notice

EXAMPLE = "bam robot record --robot arm.urdf --motion motion.csv --output bags"

FIRST_SCREEN = ("--robot", "--motion", "--driver", "--servos", "--floor", "--yes", "--output")

_INTERRUPTED = 130


def add_arguments(group: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_description(group, has_joints=False)
    add_map(group)
    group.add_argument(
        "--motion",
        required=True,
        metavar="FILE",
        help="CSV with the columns time, goal:JOINT and kp, such as one of 'bam robot design'",
    )
    for option, title in (("kp", "position"), ("kd", "derivative"), ("ki", "integral")):
        group.add_argument(
            f"--{option}",
            metavar="GAIN|JOINT=GAIN,...",
            help=f"{title} gain of all servos, or of joints by names or patterns "
            f"(default: columns {option} and {option}:JOINT of the motion)",
        )
    group.add_argument("--output", required=True, metavar="DIR", help="directory for the bags")
    group.add_argument(
        "--driver",
        default="dynamixel",
        metavar="NAME,...",
        help="driver nodes of all joints, as in left/dynamixel,right/dynamixel; a driver's topics are in its "
        "namespace (default: %(default)s)",
    )
    group.add_argument(
        "--yes", action="store_true", help="take the robot's surroundings as clear, without asking"
    )
    group.add_argument(
        "--approach-speed",
        type=quantity_in(SPEED),
        default=0.3,
        metavar="RAD/S",
        help="on the way to the motion's start and back (default: %(default)g)",
    )
    group.add_argument(
        "--error",
        type=quantity_in(ANGLE),
        default=0.35,
        metavar="RAD",
        help="torque goes off where a joint is further from its goal (default: %(default)g)",
    )
    group.add_argument(
        "--state-timeout",
        type=quantity_in(TIME),
        default=0.3,
        metavar="SECONDS",
        help="torque goes off where a joint's newest state is older: it moves unobserved for so long, "
        "at 1 rad/s nearly as far as --error (default: %(default)g)",
    )
    group.add_argument(
        "--clearance",
        type=quantity_in(LENGTH),
        default=0.01,
        metavar="M",
        help="least distance of parts from each other and from all around (default: %(default)g)",
    )
    group.add_argument(
        "--floor", type=quantity_in(LENGTH), metavar="M", help="height of a floor that the description lacks"
    )


def run(arguments: argparse.Namespace) -> int:
    """Play the motion once and leave its bag."""
    from bam_core.mujoco.robot_file import load_robot
    from bam_core.recordings.map_file import recording_map_for
    from bam_core.recordings.recording_map import NO_MAP
    from bam_core.robot.contacts import ContactCheck
    from bam_core.robot.joints import servos_by_joint
    from bam_core.robot.mapped_motion import mapped_motion
    from bam_core.robot.motion import read_motion
    from bam_core.robot.motion_limits import require_reachable
    from bam_core.servo.gains import gain_from_text
    from bam_ros.recorder.errors import RecordingStopped
    from bam_ros.recorder.robot_playback import PlaybackLimits
    from bam_ros.recorder.robot_ready import require_playable, wait_for_robot
    from bam_ros.recorder.robot_recorder import RobotLinks, RobotRecorder

    options = {"kp": arguments.kp, "kd": arguments.kd, "ki": arguments.ki}
    gains = {
        name: None if text is None else gain_from_text(f"--{name}", text) for name, text in options.items()
    }
    motion = read_motion(arguments.motion).with_gains(gains)
    limits = PlaybackLimits(
        approach_speed=arguments.approach_speed,
        error=arguments.error,
        state_timeout=arguments.state_timeout,
    )
    spec = load_robot(arguments.robot)
    require_reachable(motion, spec)
    words = map_words(arguments)  # no bench.yaml beside the motion: nothing moves by a file that nobody named
    mapped = mapped_motion(motion, recording_map_for(Path(arguments.motion), words) if words else NO_MAP)
    described, motion = motion, mapped.motion
    types = servos_by_joint(spec, servo_words(arguments.servos)) if arguments.servos else {}
    servos = {name: types[to.name] for name, to in mapped.joints.items() if to.name in types}
    contacts = ContactCheck(spec, arguments.root, clearance=arguments.clearance, floor=arguments.floor)
    bag = bag_directory(Path(arguments.output), Path(arguments.motion).stem, motion.kp)
    operator = RobotOperator()
    with (
        stop_signals(operator.on_signal),
        spinning_node() as node,
        RobotLinks(node, comma_list(arguments.driver), motion.joints) as robot,
    ):
        try:
            wait_for_robot(robot.links, robot.clients, operator.tick, operator.show)
            require_playable(motion, robot.links, servos)
            require_clear(mapped, robot, contacts)
            if not arguments.yes:
                operator.ask(motion)
                wait_for_robot(robot.links, robot.clients, operator.tick)
                require_clear(mapped, robot, contacts)
            robot.hold_gains(motion, operator.tick)
            recorder = RobotRecorder(
                robot.links, motion, limits, lambda: robot.gains_problem(motion, operator.tick)
            )
            with operator.watching(recorder, motion):
                report = recorder.record(bag, operator.tick, operator.show)
        except RecordingStopped:
            kept = f"what was recorded is kept in {bag}" if bag.exists() else "nothing was recorded"
            print(f"bam robot record: interrupted, the servos are released; {kept}", file=sys.stderr)
            return _INTERRUPTED
    lost = f", {report.dropped} lost" if report.dropped else ""
    print(
        f"{report.bag}: {report.states} states{lost}; "
        f"fit it with: bam robot identify --robot {arguments.robot} {recorded_with(described, words)}..."
    )
    if report.problem is not None:
        print(f"bam robot record: {report.problem}; record it again where you can", file=sys.stderr)
    return 0


def recorded_with(motion: RobotMotion, words: Sequence[str]) -> str:
    """Return the options of an identification that the bag does not show.

    Args:
        motion: with joints of the description.
        words: of the map.
    """
    from bam_core.servo.gains import gain_text

    options = {
        "--kp": gain_text(motion.kp) if isinstance(motion.kp, Mapping) else "",
        "--kd": gain_text(motion.kd) if motion.kd else "",
        "--ki": gain_text(motion.ki) if motion.ki else "",
        "--map": f"'{','.join(words)}'" if words else "",
    }
    return "".join(f"{option} {value} " for option, value in options.items() if value)


def bag_directory(output: Path, stem: str, kp: Gain) -> Path:
    """Return a name for a bag that is not taken.

    It contains the gain, as `bam robot identify` reads it, where that is one for all joints.
    """
    number, ending = 1, "" if isinstance(kp, Mapping) else f"_kp{kp:g}"
    while (path := output.absolute() / f"{stem}_{number}{ending}").exists():
        number += 1
    return path


def require_clear(mapped: MappedMotion, robot: RobotLinks, contacts: ContactCheck) -> None:
    """Check by the description that nothing touches on the way to the motion's start, and in the motion.

    What touches where the robot is now, or at the motion's start, is taken as how it lies or stands.

    Raises:
        Conflict: something would come too near.
    """
    import numpy as np

    from bam_ros.recorder.robot_ready import postures

    motion = mapped.motion
    joints = [mapped.joints[name].name for name in motion.joints]
    described = [
        mapped.described(dict(zip(motion.joints, goal, strict=True))) for goal in motion.goal_position
    ]
    begin = described[0]
    now = mapped.described(postures(motion, robot.links))
    for posture in (now, begin):
        contacts.allow(joints, posture)
    if problem := contacts.problem(contacts.way(joints, now, begin)):
        raise Conflict(
            "the straight way to the motion's start",
            problem,
            advice="move the robot by hand nearer to the start, torque is off, and record again",
        )
    goals = np.stack([contacts.state(joints, goal) for goal in described])
    if problem := contacts.problem(goals):
        raise Conflict("the motion", problem, advice="design one for this robot")


class RobotOperator:
    """Shows progress, asks before anything moves, and takes signals as the wish to end.

    The first Ctrl-C makes the robot hold, the next one, or SIGTERM, releases it.
    """

    def __init__(self) -> None:
        self._signals = 0  # that came, and were reported by `tick`
        self._reported = 0
        self._asking = False
        self._bar: tqdm | None = None
        self._recorder: RobotRecorder | None = None

    def show(self, notice: Notice) -> None:
        """Print it above the bar."""
        tqdm.write(f"bam robot record: {notice}", file=sys.stderr)

    def tick(self) -> None:
        """Move the bar; raises RecordingStopped once for every signal."""
        from bam_ros.recorder.errors import RecordingStopped

        if self._signals > self._reported:
            self._reported += 1
            raise RecordingStopped("interrupted")
        if self._bar is not None and self._recorder is not None:
            self._bar.n = round(self._recorder.elapsed, 1) or self._bar.n
            self._bar.set_description_str(self._recorder.stage.value, refresh=True)

    def ask(self, motion: RobotMotion) -> None:
        """Ask for a clear space and wait for Enter; raises RecordingStopped after Ctrl-C."""
        from bam_ros.recorder.errors import RecordingStopped

        print(
            f"The robot will move slowly to the start of the motion, then for {motion.duration:.0f} s at up "
            f"to {motion.speed.max():.1f} rad/s. Clear the space around it, keep a hand at the switch of its "
            "supply, then press Enter.",
            file=sys.stderr,
        )
        self._asking = True
        try:
            if not sys.stdin.readline():
                raise Unavailable(
                    "standard input",
                    "is closed",
                    expected="Enter once the space is clear",
                    advice="run it in a terminal, or use --yes where it is clear already",
                )
        except KeyboardInterrupt:
            raise RecordingStopped("interrupted") from None
        finally:
            self._asking = False

    @contextmanager
    def watching(self, recorder: RobotRecorder, motion: RobotMotion) -> Iterator[None]:
        """Show how far the motion is."""
        self._recorder = recorder
        form = "{percentage:3.0f}%|{bar:20}| {n:.0f}/{total:.0f} s {desc}"
        with tqdm(total=motion.duration, bar_format=form, dynamic_ncols=True, disable=None) as self._bar:
            yield
        self._bar = None

    def on_signal(self, number: int, frame: FrameType | None) -> None:
        """Note the wish to end; a question ends at once."""
        self._signals += 2 if number == signal.SIGTERM else 1  # SIGTERM: hold and release at once
        if self._asking:
            raise KeyboardInterrupt
