# SPDX-License-Identifier: Apache-2.0
"""Buses whose gains can be set, without the devices behind them."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any

from bam_core.errors import UnknownName
from bam_core.servo.model import load_servo
from bam_ros.driver.servo_bus import Gains
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.dynamixel.servo import DynamixelServo
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.settings import ErobSettings
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.settings import SimulationSettings


class _Servo(DynamixelServo):
    """A servo whose registers are a dictionary."""

    def __init__(self, table: Any) -> None:
        self.table, self.name, self.id = table, "a", 1
        self._registers: dict[str, int] = {}
        self._borrowed = SimpleNamespace(set=self._set)

    def _set(self, servo: object, name: str, count: int) -> None:
        self.table[name].encode(count)
        self._registers[name] = count

    def read(self, name: str) -> int:
        return self._registers.get(name, 0)


class _DynamixelBus:
    def __init__(self, name: str) -> None:
        self._servo = _Servo(CONTROL_TABLES[name])
        self.names = ("a",)

    def set_gains(self, name: str, gains: Gains) -> Gains:
        if name not in self.names:
            raise UnknownName("joint", name, self.names)
        return self._servo.set_gains(gains)


class _SimulatedBus(MujocoBus):
    def __init__(self) -> None:
        # One with the register of its driver, and one without.
        self._settings = SimulationSettings(servos={"a": load_servo("mx106"), "b": load_servo("sts3215")})
        self._kp, self._kd, self._ki = [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]
        self._model = SimpleNamespace(kp=[0.0, 0.0], kd=[0.0, 0.0], ki=[0.0, 0.0])

    @property
    def names(self) -> tuple[str, ...]:
        return ("a", "b")

    def _index(self, name: str) -> int:
        if name not in self.names:
            raise UnknownName("joint", name, self.names)
        return self.names.index(name)

    def _simulation(self) -> Any:
        return self._model


@cache
def gain_buses() -> tuple[Any, ...]:
    """Return one of each kind."""
    erob = ErobBus(ErobSettings(interface="lo", joints=("a", "b"), positions=(1, 2)))
    return (_DynamixelBus("mx106"), _DynamixelBus("xl330"), erob, _SimulatedBus())
