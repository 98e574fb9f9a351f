# SPDX-License-Identifier: Apache-2.0
"""Every driver tells which control law its servos have."""

from __future__ import annotations

import math

from bam_core.servo.model import load_servo
from bam_ros.driver.servo_bus import LawSettings
from bam_ros.erob.bus import ErobBus
from bam_ros.erob.settings import ErobSettings
from bam_ros.simulator.bus import MujocoBus
from bam_ros.simulator.settings import SimulationSettings
from test.ros.ros_helpers import FakeBus


def test_the_simulator_tells_what_the_firmware_of_each_servo_allows() -> None:
    robot = "config/robots/dynamixel_2r.xml"
    servos = {"shoulder": load_servo("mx106"), "elbow": load_servo("mx64_2")}
    bus = MujocoBus(SimulationSettings(servos=servos, model=robot))
    assert bus.law_settings == (LawSettings(demand_limit=0.9625), LawSettings(demand_limit=1.0))


def test_an_erob_tells_the_current_limit_of_the_law_in_its_master() -> None:
    settings = ErobSettings(interface="nowhere", joints=("a", "b"), positions=(1, 2), servos=("erob80_100",))
    assert ErobBus(settings).law_settings == (LawSettings(demand_limit=12.0),) * 2


def test_a_driver_that_cannot_tell_says_so() -> None:
    bus = FakeBus(names=("a", "b"))
    assert bus.law_settings == (LawSettings(demand_limit=math.inf, unmodelled=""),) * 2
