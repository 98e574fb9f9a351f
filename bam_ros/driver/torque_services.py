# SPDX-License-Identifier: Apache-2.0
"""Services of every driver for torque and faults: `~/set_torque`, `~/set_joint_torque`, `~/reset_fault`."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from bam_bench.srv import SetTorque
from std_srvs.srv import SetBool, Trigger

from bam_core.errors import BamError, Missing, Unavailable, UnknownName, Unsupported
from bam_ros.driver.command_inputs import CommandInput, CommandInputs
from bam_ros.driver.goal_shaper import JointCommand
from bam_ros.driver.servo_bus import ServoBus
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.trajectory_follower import TrajectoryFollower
from bam_ros.text.driver_notices import FaultEnded, TorqueSwitched

_TORQUE_TIME = 1.0  # s; every driver has switched torque after this


class TorqueServices:
    """Answers to these services; all wait for the bus.

    Torque off ends trajectories of the joints, and acknowledges faults whose cause has passed, as
    `servo_commands` with torque off do. Torque on holds joints where they are, as after a trajectory.

    Args:
        active: returns bus and loop; raises BamError where the node is not active.
        inputs: returns those of the loop; None while the node is not active.
        follower: returns the one in use; None where joints are not commanded by position.
    """

    def __init__(
        self,
        active: Callable[[], tuple[ServoBus, ServoLoop]],
        inputs: Callable[[], CommandInputs | None],
        follower: Callable[[], TrajectoryFollower | None],
    ) -> None:
        self._active, self._inputs, self._follower = active, inputs, follower

    def set_torque(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        """Switch the torque of all joints."""
        return self._answer(response, lambda: self._switch(None, on=request.data))

    def set_joint_torque(
        self, request: SetTorque.Request, response: SetTorque.Response
    ) -> SetTorque.Response:
        """Switch the torque of some joints."""
        return self._answer(response, lambda: self._switch(tuple(request.name), on=request.torque_enabled))

    def reset_fault(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """End a fault whose cause has passed; torque stays off until it is asked for."""
        return self._answer(response, lambda: FaultEnded(fault=self._active()[1].acknowledge()))

    def _answer(self, response: Any, work: Callable[[], object]) -> Any:
        try:
            response.message = str(work())
            response.success = True
        except BamError as error:
            response.message = str(error)
        return response

    def _switch(self, names: Sequence[str] | None, *, on: bool) -> TorqueSwitched:
        """Switch joints (None: all) and return once they have reported it; raises BamError."""
        bus, loop = self._active()
        inputs, follower = self._inputs(), self._follower()
        if inputs is None:
            raise Unavailable("node", "not active", advice="activate it and ask again")
        if names is None:
            names = bus.names
        places = places_of(names, bus.names)
        if on:
            if follower is None:
                raise Unsupported(
                    "torque on",
                    "is not for joints that are commanded by duty",
                    expected="servo_commands with torque on",
                    advice="send them",
                )
            inputs.let_go(CommandInput.SET_TORQUE, places)
            follower.hold(places)
        else:
            if follower is None:  # servos that are commanded by duty go off together
                places = tuple(range(len(bus.names)))
            else:
                follower.release(places, "torque was switched off by ~/set_torque")
            inputs.take(CommandInput.SET_TORQUE, dict.fromkeys(places, JointCommand()))
        _await_torque(bus, loop, places, on=on)
        return TorqueSwitched(joints=tuple(bus.names[place] for place in places), on=on)


def places_of(names: Sequence[str], valid: Sequence[str]) -> tuple[int, ...]:
    """Return the places of joints on the bus.

    Args:
        names: as a request has them.
        valid: of the joints on the bus.

    Raises:
        Missing: there is none.
        UnknownName: a joint is not on the bus.
    """
    if not names:
        raise Missing("name", "at least one joint", advice="name them")
    for name in names:
        if name not in valid:
            raise UnknownName("joint", name, valid)
    return tuple(dict.fromkeys(valid.index(name) for name in names))


def _await_torque(bus: ServoBus, loop: ServoLoop, places: Sequence[int], *, on: bool) -> None:
    """Return once joints report their torque; raises Unavailable where they do not, with the reason."""
    deadline = time.monotonic() + _TORQUE_TIME
    waiting = list(places)
    for _ in range(2):  # the first exchange may have begun before the command
        loop.call(lambda: None)
    while waiting:
        sample = loop.sample
        if sample is not None and not loop.bus_lost:
            waiting = [place for place in places if sample.torque_enabled[place] is not on]
        if not waiting:
            return
        names = [bus.names[place] for place in waiting]
        withheld = [str(loop.withheld[name]) for name in names if name in loop.withheld]
        if time.monotonic() > deadline or loop.bus_lost or (on and (loop.latched or withheld)):
            reason = loop.fault if loop.latched else "; ".join(dict.fromkeys(withheld)) or "not reported"
            raise Unavailable(
                f"torque {'on' if on else 'off'} of {', '.join(names)}",
                str(reason),
                advice="see /diagnostics, then ask again",
            )
        loop.call(lambda: None)
