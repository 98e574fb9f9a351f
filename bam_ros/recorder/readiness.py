# SPDX-License-Identifier: Apache-2.0
"""Waiting until one driver publishes states, receives our commands, and has released the servo."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from bam_bench.msg import ServoStates
from rclpy.time import Time

from bam_core.errors import Conflict, Unavailable, UnknownName
from bam_ros.node.node_about import node_command
from bam_ros.recorder.awaited_driver import AwaitedDriver, running_drivers
from bam_ros.recorder.bench_link import BenchLink
from bam_ros.recorder.driver_client import TICK_PERIOD, DriverClient, Tick
from bam_ros.recorder.servo_check import require_gains, require_modelled_law, require_same_servo
from bam_ros.recorder.servo_link import ServoLink
from bam_ros.recorder.session import Session
from bam_ros.text.notice import Notice

_CLOCK_DIFFERENCE = 5.0  # s; more than any delay


def wait_for_bench(
    link: BenchLink,
    session: Session,
    driver: DriverClient,
    show: Callable[[str], None],
    tick: Tick,
    timeout: float | None = None,
    notify: Callable[[Notice], None] = lambda notice: None,
) -> None:
    """Return when one driver sends states of the session's servo, torque off, and no other node commands it.

    Args:
        link: to the bench; commands torque off meanwhile.
        session: what the driver's servo has to be.
        driver: to be asked what is wrong.
        show: called with what is waited for, in words.
        tick: called about ten times a second; what it raises ends the wait.
        timeout: s until a driver that is not heard is not there; None: `Waits.discovery`. From
            `Waits.startup` on, the time in which a driver waits for its device does not count.
        notify: called once or twice about a driver that is not heard.

    Raises:
        BamError: not so in time, another servo is on the bench, or it cannot hold one of the gains.
    """
    timeout = link.waits.discovery if timeout is None else timeout
    show("waiting for the driver")
    start, awaited = time.monotonic(), AwaitedDriver(timeout, notify)
    while True:
        waited = time.monotonic() - start
        rivals = rivals_of(link)
        if rivals and waited > link.waits.stale:
            raise rivals
        if rivals:
            show(f"waiting: {rivals.thing}, {rivals.problem}")
        elif link.connected and link.silence < link.waits.silence:
            link.release()
            if _released(link) and link.configuration is not None:
                require_same_servo(session, link.configuration)
                require_gains(session, link.configuration)
                require_modelled_law(session, link.configuration)
                return
        awaited.show_due(link, driver.driver, waited)
        if not rivals and waited > timeout:
            if timeout < link.waits.startup or driver.state(tick) != "unconfigured":
                raise what_is_missing(link, driver, tick, timeout)
            show("waiting: the driver waits for its device; see its log")
            start = time.monotonic()
        tick()
        time.sleep(TICK_PERIOD / 5.0)


def _released(link: BenchLink) -> bool:
    """Whether the joint is released; raises BamError where it cannot be known."""
    states = link.newest
    if states is None:
        return False
    if link.joint not in states.name:
        raise UnknownName("joint", link.joint, states.name).within("session")
    require_same_clock(link, states)
    return not states.torque_enabled[list(states.name).index(link.joint)]


def require_same_clock(link: ServoLink[Any], states: ServoStates) -> None:
    """Raise Conflict where the driver's clock is another one than the recorder's."""
    if link.now() == 0:
        raise Conflict(
            "clock",
            "stands at 0",
            expected="a /clock, because use_sim_time is true",
            advice="start a simulator with publish_clock:=true, or leave use_sim_time out",
        )
    offset = (link.now() - Time.from_msg(states.header.stamp).nanoseconds) * 1e-9
    if abs(offset) > _CLOCK_DIFFERENCE:
        raise Conflict(
            "clock",
            f"driver and recorder differ by {offset:.1f} s",
            expected="the same time",
            advice="set use_sim_time alike for both, or synchronise the machines' clocks",
        )


def rivals_of(link: ServoLink[Any]) -> Conflict | None:
    """Name who else sends states or commands; None where that is nobody."""
    for topic in (link.topics.states, link.topics.commands):
        senders = link.node.get_publishers_info_by_topic(topic)
        if len(senders) > 1:
            names = [f"{sender.node_namespace.rstrip('/')}/{sender.node_name}" for sender in senders]
            own = f"{link.node.get_namespace().rstrip('/')}/{link.node.get_name()}"
            if own in names:  # once: another recorder may have a node of the same name
                names.remove(own)
                names.append(f"{own} (this one)")
            return Conflict(
                topic,
                f"{len(senders)} nodes publish it: {', '.join(sorted(names))}",
                expected="one",
                advice="stop the others and record again",
            )
    return None


def what_is_missing(link: ServoLink[Any], driver: DriverClient, tick: Tick, timeout: float) -> Unavailable:
    """Return what keeps a driver from being used that was waited for so long, s."""
    name, topics, log = f"driver {driver.driver!r}", link.topics, "look at its log"
    if link.silence < link.waits.silence and not link.connected:
        return Unavailable(name, f"takes no commands on {topics.commands}", advice=log)
    if link.silence < link.waits.silence and link.configuration is None:
        return Unavailable(
            name,
            "does not report which servo it drives",
            expected=f"on {topics.configuration}",
            advice="use a driver of this version",
        )
    if link.silence < link.waits.silence:
        return Unavailable(
            name, "torque stays on though off is commanded", advice="see its log and /diagnostics"
        )
    state = driver.state(tick)
    if state == "active":
        return Unavailable(name, f"is active but sends nothing on {topics.states}", advice=log)
    if state:
        return Unavailable(
            name,
            f"is {state}",
            expected="active",
            advice=f"{log}, then configure and activate it, or restart it",
        )
    running = running_drivers(link)
    return Unavailable(
        name,
        f"no states on {topics.states} for {timeout:g} s",
        expected=f"one of those that run: {', '.join(running)}" if running else "",
        advice=f"start one, e.g. {_start_command(driver.driver)}",
    )


def _start_command(driver: str) -> str:
    """Return a command that starts a driver of this name, in the namespace that the name has."""
    namespace = driver.strip("/").rpartition("/")[0]
    command = node_command("bam_ros.dynamixel.node", ["port:=/dev/ttyUSB0"])
    return f"{command} -r __ns:=/{namespace}" if namespace else command
