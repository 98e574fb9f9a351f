# SPDX-License-Identifier: Apache-2.0
"""Which servos a bus can have: control tables, what is hidden in a servo, and the class that emulates it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from bam_core.errors import UnknownName
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTable
from bam_ros.emulators.dynamixel.hidden_servo import draw_hidden_servo
from bam_ros.emulators.dynamixel.servo import VirtualServo
from bam_ros.emulators.dynamixel.servo_protocol1 import Protocol1Servo
from bam_ros.emulators.dynamixel.servo_protocol2 import Protocol2Servo
from bam_ros.emulators.hidden_servo import HiddenServo


@dataclass(frozen=True, kw_only=True)
class Catalog:
    """The servos of one manufacturer.

    Attributes:
        brand: of them.
        driver: module of the node that drives them.
        tables: control table by name.
        draw: name and seed -> what is hidden in one servo.
        kinds: protocol -> class that emulates a servo of it.
    """

    brand: str
    driver: str
    tables: Mapping[str, ControlTable] = field(repr=False)
    draw: Callable[[str, int], HiddenServo] = field(repr=False)
    kinds: Mapping[int, type[VirtualServo]] = field(repr=False)

    def table(self, name: str) -> ControlTable:
        """Return the control table of a servo; raises UnknownName where there is none."""
        try:
            return self.tables[name]
        except KeyError:
            raise UnknownName("servo", name, self.tables) from None


DYNAMIXEL = Catalog(
    brand="Dynamixel",
    driver="bam_ros.dynamixel.node",
    tables=CONTROL_TABLES,
    draw=draw_hidden_servo,
    kinds={1: Protocol1Servo, 2: Protocol2Servo},
)
