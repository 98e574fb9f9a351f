# SPDX-License-Identifier: Apache-2.0
"""Whether the drivers of a robot are there, and a motion is one that this robot can play."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from bam_bench.msg import ServoConfiguration

from bam_core.errors import BamError, Conflict, Missing, OutOfRange, Unsupported
from bam_core.robot.motion import RobotMotion
from bam_core.servo.gains import gain_of
from bam_core.servo.model import load_servo, servo_names
from bam_ros.recorder import readiness
from bam_ros.recorder.awaited_driver import AwaitedDriver
from bam_ros.recorder.driver_client import TICK_PERIOD, DriverClient, Tick
from bam_ros.recorder.robot_link import RobotLink
from bam_ros.recorder.servo_check import refused_gains, unmodelled_law
from bam_ros.text.notice import Notice


def wait_for_robot(
    links: Sequence[RobotLink],
    drivers: Sequence[DriverClient],
    tick: Tick,
    show: Callable[[Notice], None] = lambda notice: None,
) -> None:
    """Return when every driver sends states, with torque off, and no other node commands it.

    Args:
        links: to the drivers; command torque off meanwhile.
        drivers: to be asked what is wrong, in the same order.
        tick: called about ten times a second; what it raises ends the wait.
        show: called once or twice about a driver that is not heard.

    Raises:
        BamError: not so in time, or a second node commands the servos.
    """
    start, waits = time.monotonic(), links[0].waits
    awaited = AwaitedDriver(waits.discovery, show)
    while True:
        waited = time.monotonic() - start
        late = [pair for pair in zip(links, drivers, strict=True) if not _is_ready(pair[0])]
        if not late:
            return
        link, client = late[0]
        awaited.show_due(link, client.driver, waited)
        rivals = [rival for link in links if (rival := readiness.rivals_of(link)) is not None]
        if rivals and waited > waits.stale:
            raise rivals[0]
        if not rivals and waited > waits.discovery:
            raise readiness.what_is_missing(*late[0], tick, waits.discovery)
        tick()
        time.sleep(TICK_PERIOD / 5.0)


def _is_ready(link: RobotLink) -> bool:
    if readiness.rivals_of(link) is not None or not link.connected or link.silence > link.waits.silence:
        return False
    states = link.newest
    if states is None or link.configuration is None:
        return False
    readiness.require_same_clock(link, states)
    link.release()
    names = list(states.name)
    return not any(states.torque_enabled[names.index(joint)] for joint in link.joints if joint in names)


def require_playable(
    motion: RobotMotion, links: Sequence[RobotLink], servos: Mapping[str, str] | None = None
) -> None:
    """Compare a motion with the drivers' configuration of their servos.

    Args:
        motion: to be played.
        links: that have heard their drivers' configuration.
        servos: joint -> servo that it has to be, where that is known.

    Raises:
        BamError: a joint is on no driver or on two, a goal is outside a joint's limits, a servo is another
            one, cannot hold its gains, or has a law that no model has.
    """
    for column, joint in enumerate(motion.joints):
        here = [link for link in links if joint in link.joints]
        if len(here) != 1:
            names = sorted({name for link in links for name in (link.configuration or _NONE).name})
            raise Conflict(
                f"joint '{joint}' of the motion",
                f"is on {len(here)} drivers",
                expected=f"one of {', '.join(names)}",
                advice="correct the driver's joint_names, or name all drivers with --driver",
            )
        configuration = here[0].configuration
        assert configuration is not None
        index = list(configuration.name).index(joint)
        _require_within(motion, column, configuration.position_min[index], configuration.position_max[index])
        _require_gains(motion, joint, configuration, index)
        if law := unmodelled_law(configuration, joint):
            raise BamError(f"{law}, then record").within(f"joint '{joint}'")
        wanted = (servos or {}).get(joint)
        if wanted is not None and _differ(wanted, configuration.servo[index]):
            raise Conflict(
                f"joint '{joint}'",
                f"has a {configuration.servo[index]}, as its driver found",
                expected=wanted,
                advice="correct --servos or joint_names of the driver",
            )


_NONE = ServoConfiguration()


def _require_gains(motion: RobotMotion, joint: str, configuration: ServoConfiguration, index: int) -> None:
    """Refuse gains that a servo's registers do not hold, or that its law does not have."""
    gains = {name: gain_of(getattr(motion, name), joint) or 0.0 for name in ("kp", "ki", "kd")}
    for name, gain in gains.items():
        register = f"position_{name[1]}_gain"
        bad, expected = refused_gains(configuration, index, [gain], register=register)
        if bad:
            raise OutOfRange(
                f"{name} of the motion, joint '{joint}'", gain, expected, advice=f"correct it or use --{name}"
            )
    if configuration.servo[index] in servo_names():
        firmware = load_servo(configuration.servo[index]).firmware
        try:
            firmware.integral_rate(gains["kp"], gains["ki"])
            firmware.rate_time(gains["kp"], gains["kd"])
        except Unsupported as error:
            raise error.within(f"joint '{joint}'") from None


def _require_within(motion: RobotMotion, column: int, low: float, high: float) -> None:
    goals = motion.goal_position[:, column]
    worst = float(goals[np.argmax(np.maximum(low - goals, goals - high))])
    if not low <= worst <= high:
        raise OutOfRange(
            f"goal of joint '{motion.joints[column]}' in the motion",
            worst,
            f"{low:.3f} to {high:.3f} rad, the limits that its driver has",
            printed=f"{worst:.3f} rad",
            advice="design a motion within them: correct the joint's range in the description",
        )


def _differ(wanted: str, reported: str) -> bool:
    if reported not in servo_names() or reported == wanted:
        return False
    return load_servo(wanted).name != reported


def postures(motion: RobotMotion, links: Sequence[RobotLink]) -> dict[str, float]:
    """Return where the joints of a motion are, rad; raises Missing for one that no state has."""
    positions: dict[str, float] = {}
    for link in links:
        states = link.newest
        if states is not None:
            positions.update(zip(states.name, map(float, states.position), strict=True))
    for joint in motion.joints:
        if not np.isfinite(positions.get(joint, np.nan)):
            raise Missing(
                f"position of joint '{joint}'", "in servo_states", advice="look at its driver's log"
            )
    return {joint: positions[joint] for joint in motion.joints}
