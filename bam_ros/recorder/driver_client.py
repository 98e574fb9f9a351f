# SPDX-License-Identifier: Apache-2.0
"""What the recorder asks of other nodes: gains and life cycle of the driver, loads of a virtual bench."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from bam_bench.srv import HoldGains, SetGains, SetLoad
from lifecycle_msgs.srv import GetState
from rclpy.clock import Clock
from rclpy.clock_type import ClockType
from rclpy.node import Node

from bam_core.errors import BamError, Conflict, Unavailable
from bam_core.servo.pendulum import PendulumBench
from bam_ros.driver.servo_bus import Gains
from bam_ros.recorder.waits import DEFAULT_WAITS, Waits

Tick = Callable[[], None]
"""Called about ten times a second while waiting; raises to end it."""

TICK_PERIOD = 0.1
_ANSWER_TIMEOUT = 15.0  # s; on a busy machine, finding each other alone takes nodes seconds
_HOLD_ATTEMPTS = 5  # that somebody else sets gains just before they are held, every time, is no chance


class DriverClient:
    """Blocking calls of services; the node's executor must spin in another thread.

    Args:
        node: that owns the clients.
        driver: name of the driver node, resolved in the namespace of `node`.
        virtual_bench: name of a virtual bench that hangs loads itself; empty: an operator does.
        waits: for answers.
    """

    def __init__(
        self, node: Node, driver: str, virtual_bench: str = "", waits: Waits = DEFAULT_WAITS
    ) -> None:
        self.driver = driver
        self._waits = waits
        # Two recorders may have nodes of the same name.
        self._holder = f"{node.get_fully_qualified_name()} {uuid.uuid4().hex[:8]}"
        self._holds_gains = False
        self._hold_lock = threading.Lock()  # no renewal is sent after the end of a hold
        # On a clock that goes on where a simulation is paused.
        node.create_timer(waits.renewal, self._renew, clock=Clock(clock_type=ClockType.STEADY_TIME))
        self._gains = node.create_client(SetGains, f"{driver}/set_gains")
        self._hold = node.create_client(HoldGains, f"{driver}/hold_gains")
        self._state = node.create_client(GetState, f"{driver}/get_state")
        self._load = node.create_client(SetLoad, f"{virtual_bench}/set_load") if virtual_bench else None

    @property
    def can_set_load(self) -> bool:
        """Whether a virtual bench takes the operator's place."""
        return self._load is not None

    def hold_gains(self, gains: Mapping[str, Gains], tick: Tick) -> None:
        """Set gains, and keep everybody from setting gains until `free_gains`.

        The driver ends that, too, a while after this process has ended.

        Args:
            gains: joint -> its gains.
            tick: called about ten times a second; what it raises ends the wait.

        Raises:
            BamError: no answer, another client holds gains, or a servo does not hold its gain.
        """
        for _ in range(_HOLD_ATTEMPTS):
            self._wait_until_free(tick)
            for joint, wanted in gains.items():
                answer = self._set_gains(wanted, joint, tick)
                if not answer.success:
                    raise BamError(answer.message).within(f"gains of {joint!r} at kp {wanted.kp:g}")
            problem = self.gains_problem(gains, tick)
            if not problem:
                return
        raise Conflict(
            f"service {self._gains.srv_name}",
            f"is called by another client, too ({problem})",
            expected="by the recorder alone",
            advice="end that client and record again",
        )

    def _wait_until_free(self, tick: Tick) -> None:
        """Wait until nobody else holds gains: a recorder that was killed does for some seconds."""
        deadline = time.monotonic() + self._waits.free
        while not (answer := self._call(self._hold, self._request(hold=False), tick)).success:
            if time.monotonic() > deadline:
                raise BamError(answer.message).within(f"driver {self.driver}")
            tick()
            time.sleep(TICK_PERIOD)

    def gains_problem(self, gains: Mapping[str, Gains], tick: Tick) -> str:
        """Return which servo does not hold its gain, as read from it, in words; empty: all do.

        They are held from then on, so that nothing is written here.

        Args:
            gains: joint -> its gains.
            tick: called about ten times a second; what it raises ends the wait.

        Raises:
            Unavailable: no answer.
        """
        answer = self._call(self._hold, self._request(hold=True), tick)
        if not answer.success:
            return str(answer.message)
        self._holds_gains = True
        for joint, wanted in gains.items():
            answer = self._set_gains(wanted, joint, tick)  # which only reads what is held
            if not answer.success:
                return str(answer.message)
        return ""

    def free_gains(self) -> None:
        """Let others set gains again; waits for nothing, for the driver may have gone."""
        with self._hold_lock:
            self._holds_gains = False
            if self._hold.service_is_ready():
                self._hold.call_async(self._request(hold=False))

    def set_load(self, load: PendulumBench, tick: Tick) -> None:
        """Have the virtual bench hang a load.

        Raises:
            BamError: no answer, or it cannot.
        """
        request = SetLoad.Request(mass=load.mass, arm_mass=load.arm_mass, length=load.length)
        answer = self._call(self._load, request, tick)
        if not answer.success:
            raise BamError(answer.message).within("virtual bench")

    def state(self, tick: Tick) -> str:
        """Return the driver's life-cycle state, such as "active"; empty where it does not answer."""
        if not self._state.service_is_ready():
            return ""
        try:
            return str(self._call(self._state, GetState.Request(), tick).current_state.label)
        except Unavailable:
            return ""

    def _request(self, *, hold: bool) -> HoldGains.Request:
        return HoldGains.Request(holder=self._holder, hold=hold)

    def _renew(self) -> None:
        """Go on holding gains; the next check finds what became of them where the driver takes no renewal."""
        with self._hold_lock:
            if self._holds_gains and self._hold.service_is_ready():
                self._hold.call_async(self._request(hold=True))

    def _set_gains(self, gains: Gains, joint: str, tick: Tick) -> SetGains.Response:
        kp, ki, kd = (float(gain) for gain in (gains.kp, gains.ki, gains.kd))
        return self._call(self._gains, SetGains.Request(name=joint, kp=kp, ki=ki, kd=kd), tick)

    def _call(self, client: Any, request: Any, tick: Tick) -> Any:
        service = f"service {client.srv_name}"
        deadline = time.monotonic() + _ANSWER_TIMEOUT
        while not client.service_is_ready():
            if time.monotonic() > deadline:
                raise Unavailable(
                    service,
                    f"nobody offers it (waited {_ANSWER_TIMEOUT:g} s)",
                    advice="start that node, or correct its name (parameters driver and virtual_bench)",
                )
            tick()
            time.sleep(TICK_PERIOD / 5.0)
        while (future := self._answered(client, request, tick)) is None:
            if time.monotonic() > deadline:
                raise Unavailable(
                    service, f"no answer within {_ANSWER_TIMEOUT:g} s", advice="see that node's log"
                )
        try:
            return future.result()
        except Exception as error:
            raise Unavailable(service, f"failed ({error})", advice="see that node's log") from error

    def _answered(self, client: Any, request: Any, tick: Tick) -> Any:
        """Ask once, and return the future with the answer; None: there was none for a while.

        Every request here may be asked again: it has the same effect twice as once.
        """
        answered = threading.Event()
        future = client.call_async(request)
        future.add_done_callback(lambda _: answered.set())
        end = time.monotonic() + self._waits.ask_again
        while not answered.wait(TICK_PERIOD):
            if time.monotonic() > end:
                client.remove_pending_request(future)
                return None
            tick()
        return future
