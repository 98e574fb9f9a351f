# SPDX-License-Identifier: Apache-2.0
"""Registers of servos by their names in the control table: `~/read_register`, `~/write_register`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from bam_bench.srv import ReadRegister, WriteRegister

from bam_core.errors import BamError
from bam_ros.driver.servo_bus import ServoBus
from bam_ros.driver.servo_loop import ServoLoop
from bam_ros.text.driver_notices import RegisterAnswer


class RegisterServices:
    """Answers to these services; both wait for the bus.

    Args:
        active: returns bus and loop; raises BamError where the node is not active.
    """

    def __init__(self, active: Callable[[], tuple[ServoBus, ServoLoop]]) -> None:
        self._active = active

    def read(self, request: ReadRegister.Request, response: ReadRegister.Response) -> ReadRegister.Response:
        """Read a register."""
        try:
            bus, loop = self._active()
            held = loop.call(lambda: bus.read_register(request.name, request.register_name))
        except BamError as error:
            response.message = str(error)
            return response
        response.success = True
        response.count, response.value, response.unit = held.count, held.value, held.unit
        answer = RegisterAnswer(joint=request.name, register=request.register_name, **asdict(held))
        response.message = str(answer)
        return response

    def write(
        self, request: WriteRegister.Request, response: WriteRegister.Response
    ) -> WriteRegister.Response:
        """Write a register that decides neither about safety nor about the control law."""
        try:
            bus, loop = self._active()
            wanted, held = loop.call(
                lambda: bus.write_register(request.name, request.register_name, request.value, request.unit)
            )
        except BamError as error:
            response.message = str(error)
            return response
        answer = RegisterAnswer(
            joint=request.name, register=request.register_name, wanted=wanted, **asdict(held)
        )
        response.success, response.message, response.count = answer.is_as_wanted, str(answer), held.count
        return response
