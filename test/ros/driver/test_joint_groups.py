# SPDX-License-Identifier: Apache-2.0
"""Groups of joints are names of ROS 2 with joints of the bus, each in one group."""

from __future__ import annotations

import pytest

from bam_core.errors import BamError, Conflict, Missing, UnknownName, WrongValue
from bam_ros.driver.joint_groups import check_joints, check_names

GROUPS = {"arm": ("hip", "knee"), "gripper": ("finger",)}


def test_groups_of_joints_of_the_bus_are_accepted() -> None:
    check_names(GROUPS)
    check_joints(GROUPS, ("finger", "hip", "knee", "foot"))


@pytest.mark.parametrize(
    ("groups", "kind"),
    [
        ({"my arm": ("hip",)}, WrongValue),
        ({"arm.left": ("hip",)}, WrongValue),
        ({"arm": ("",)}, Missing),
        ({"arm": ("hip",), "leg": ("knee", "hip")}, Conflict),
        ({"arm": ("hip", "hip")}, Conflict),
    ],
)
def test_groups_that_no_action_can_have_are_refused(
    groups: dict[str, tuple[str, ...]], kind: type[BamError]
) -> None:
    with pytest.raises(kind):
        check_names(groups)


def test_a_joint_that_is_not_on_the_bus_is_refused_with_those_that_are() -> None:
    with pytest.raises(UnknownName) as caught:
        check_joints(GROUPS, ("hip", "knee"))
    assert (caught.value.name, caught.value.valid) == ("finger", ("hip", "knee"))
