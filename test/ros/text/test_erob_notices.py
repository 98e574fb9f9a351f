# SPDX-License-Identifier: Apache-2.0
"""What the driver of eRobs reports, in words."""

from __future__ import annotations

from bam_core.errors import Unavailable
from bam_ros.text.erob_notices import CameUpLater, CycleLoss, DriveFault, OtherRatings


def test_a_fault_of_a_drive_has_code_name_and_cure() -> None:
    fault = DriveFault(joint="elbow", code=0x4310, name="motor too hot", cure="let it cool down")
    assert str(fault) == "elbow: drive fault 0x4310, motor too hot; let it cool down, then reboot"


def test_ratings_of_another_gear_stand_beside_those_of_the_servo() -> None:
    other = OtherRatings(
        joint="a", position=1, current=6.0, torque=29.4, servo="erob80_100", torque_constant=9.44
    )
    assert str(other) == (
        "slave at position 1 (joint 'a'): rated 29.4 N·m at 6 A, 4.9 N·m/A (expected about 9.44, as"
        " erob80_100 has); set the parameter servos to the drive that is there"
    )


def test_lost_cycles_have_their_share_and_a_cure() -> None:
    assert str(CycleLoss(interface="eth1", share=0.021)) == (
        "interface eth1: 2.1% of the newest cycles lost (expected none); check cables and plugs, and that the"
        " master gets a processor"
    )


def test_an_attempt_that_failed_before_one_that_did_not_is_told() -> None:
    failure = Unavailable("slave at position 2", "does not reach OP", advice="switch it off and on")
    assert str(CameUpLater(failure=failure)) == (
        "slave at position 2: does not reach OP; switch it off and on (it came up when that was tried again)"
    )
