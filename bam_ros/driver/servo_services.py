# SPDX-License-Identifier: Apache-2.0
"""Gains and reboots: `~/set_gains`, `~/get_gains`, `~/hold_gains`, `~/reboot`, `~/reboot_servos`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple
from typing import Any

from bam_bench.srv import GetGains, HoldGains, RebootServos, SetGains
from std_srvs.srv import Trigger

from bam_core.errors import BamError
from bam_ros.driver.gains_hold import GainsHold
from bam_ros.driver.servo_bus import Gains, ServoBus
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.driver.torque_services import places_of
from bam_ros.text.driver_notices import GainsAnswer, Rebooted

_REBOOT_TIME = 10.0  # s; of one servo


class ServoServices:
    """Answers to these services.

    Args:
        active: returns bus and loop; raises BamError where the node is not active.
        publish_configuration: of a bus whose registers may have changed.
        warn: logs a warning, with `throttle_duration_sec`.
        gains_hold: who holds the gains.
    """

    def __init__(
        self,
        active: Callable[[], tuple[ServoBus, ServoLoop]],
        publish_configuration: Callable[[ServoBus], None],
        warn: Callable[..., Any],
        gains_hold: GainsHold,
    ) -> None:
        self._active = active
        self.gains_hold = gains_hold
        self._publish_configuration = publish_configuration
        self._warn = warn

    def set_gains(self, request: SetGains.Request, response: SetGains.Response) -> SetGains.Response:
        """Write the gains of a servo, unless somebody holds them; waits for the bus."""
        wanted = Gains(kp=request.kp, ki=request.ki, kd=request.kd)
        try:
            bus, loop = self._active()
            held, holder = loop.call(lambda: self._write_gains(bus, request.name, wanted))
        except BamError as error:
            response.message = str(error)
            return response
        answer = GainsAnswer(
            joint=request.name,
            held=astuple(held),
            wanted=astuple(wanted),
            holder=holder,
            hold_time=self.gains_hold.duration,
        )
        response.success, response.message = answer.is_as_wanted, str(answer)
        if holder and not response.success:
            self._warn(f"set_gains: {answer}", throttle_duration_sec=1.0)
        return response

    def get_gains(self, request: GetGains.Request, response: GetGains.Response) -> GetGains.Response:
        """Read the gains of a servo; waits for the bus."""
        try:
            bus, loop = self._active()
            gains = loop.call(lambda: bus.read_gains(request.name))
        except BamError as error:
            response.message = str(error)
            return response
        held = response.kp, response.ki, response.kd = gains.kp, gains.ki, gains.kd
        response.success = True
        response.message = str(GainsAnswer(joint=request.name, held=held, wanted=held))
        return response

    def hold_gains(self, request: HoldGains.Request, response: HoldGains.Response) -> HoldGains.Response:
        """Let a client hold the gains, or end that."""
        try:
            if request.hold:
                self.gains_hold.begin(request.holder)
            else:
                self.gains_hold.end(request.holder)
        except BamError as error:
            response.message = str(error)
            return response
        response.success = True
        response.message = f"gains are held by {request.holder}" if request.hold else "gains may be set"
        return response

    def reboot(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        """Restart all servos; waits for the bus."""
        return self._reboot(None, response)

    def reboot_servos(
        self, request: RebootServos.Request, response: RebootServos.Response
    ) -> RebootServos.Response:
        """Restart some servos; waits for the bus."""
        return self._reboot(tuple(request.name), response)

    def _reboot(self, names: Sequence[str] | None, response: Any) -> Any:
        """Restart servos, None: all."""
        try:
            bus, loop = self._active()
            names = (
                bus.names if names is None else [bus.names[place] for place in places_of(names, bus.names)]
            )
            # All in one go: a fault that one still has must not be reported anew after the first.
            loop.interrupt(
                lambda: [bus.reboot(name) for name in names], "rebooted", _REBOOT_TIME * len(names)
            )
        except BamError as error:
            response.message = str(error)
            return response
        self._publish_configuration(bus)  # registers that a reboot resets may have limited a servo
        response.success = True
        response.message = str(Rebooted(joints=tuple(names)))
        return response

    def _write_gains(self, bus: ServoBus, name: str, wanted: Gains) -> tuple[Gains, str]:
        """Write gains, or read those that are held; return the servo's, and who holds them."""
        holder = self.gains_hold.holder
        return (bus.read_gains(name) if holder else bus.set_gains(name, wanted)), holder
