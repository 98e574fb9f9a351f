# SPDX-License-Identifier: Apache-2.0
"""What servo nodes without hardware say about themselves, in tests."""

from __future__ import annotations

from bam_ros.driver.servo_about import (
    DEVICE_PARAMETERS,
    POSITION_INTERFACES,
    POSITION_PARAMETERS,
    SERVO_INTERFACES,
    SERVO_PARAMETERS,
    reconfigurable,
)
from bam_ros.node.node_about import NodeAbout

FAKE_ABOUT = NodeAbout(
    name="servos",
    module="nowhere",
    purpose="Drives servos that do not exist.",
    parameters=reconfigurable(*DEVICE_PARAMETERS, *SERVO_PARAMETERS, *POSITION_PARAMETERS),
    interfaces=(*SERVO_INTERFACES, *POSITION_INTERFACES),
    example=(),
)
