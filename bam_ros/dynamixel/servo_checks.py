# SPDX-License-Identifier: Apache-2.0
"""What must hold of the servos on a bus before anything is written to them."""

from __future__ import annotations

from collections.abc import Sequence

from bam_core.errors import Conflict
from bam_ros.driver.servo_bus import OtherServos
from bam_ros.dynamixel.discovery import FoundServos
from bam_ros.dynamixel.servo import NO_SECONDARY, DynamixelServo
from bam_ros.dynamixel.settings import DynamixelSettings


def require_own_ids(servos: Sequence[DynamixelServo]) -> None:
    """Raise Conflict where servos also accept packets for another servo."""
    for servo in servos:
        protocol = servo.table.protocol  # it ignores packets of the other one
        joints = {same.id: same.name for same in servos if same.table.protocol == protocol}
        secondary = servo.secondary_id()
        if secondary is None:
            continue
        if secondary not in joints and not servo.link.ping(secondary):
            continue  # nobody talks to it
        neighbour = joints.get(secondary, f"another servo with id {secondary}")
        raise Conflict(
            servo.name,
            f"also accepts what is sent to {neighbour} (its secondary id is {secondary})",
            expected=f"secondary id {NO_SECONDARY}: none",
            advice=f"write {NO_SECONDARY} to its register {servo.table['secondary_id'].address}; two"
            " servos on one joint have a name and goals each",
        )


def require_same_servos(settings: DynamixelSettings, known: FoundServos, present: FoundServos) -> None:
    """Raise OtherServos where models are not those that were found before."""
    before, now = known.tables, present.tables
    changed = [
        f"{name}: {now[servo].title}, before {before[servo].title}"
        for name, servo in zip(settings.joints, settings.ids, strict=True)
        if now[servo].name != before[servo].name
    ]
    if changed:
        raise OtherServos(
            "bus",
            f"came back with other servos ({'; '.join(changed)}), torque stays off",
            advice="put the former ones back, or clean the node up and configure it anew",
        )
