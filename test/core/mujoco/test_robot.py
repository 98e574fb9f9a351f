# SPDX-License-Identifier: Apache-2.0
"""What descriptions have on joints that get servos."""

from __future__ import annotations

import mujoco
import pytest

from bam_core.errors import Conflict
from bam_core.mujoco import robot
from bam_core.mujoco.native import equip_native
from test.core.refusals import refused

ARM = """\
<mujoco>
<worldbody><body><joint name="j" axis="0 1 0"/><geom size=".02" pos=".1 0 0" mass=".1"/></body></worldbody>
<actuator>{actuators}</actuator></mujoco>"""
MIRRORED = '<position name="a" joint="j" kp="5"/><position name="b" joint="j" kp="5" gear="-1"/>'
VIEWS = '<position name="a" joint="j" kp="5"/><velocity name="b" joint="j" kv="1"/>'


@pytest.mark.parametrize(("actuators", "lines"), [(MIRRORED, 3), (VIEWS, 0)])
def test_two_equal_motors_on_a_joint_are_warned_of_and_two_views_of_one_are_not(
    actuators: str, lines: int, caplog: pytest.LogCaptureFixture
) -> None:
    robot._warn_once.cache_clear()
    spec = mujoco.MjSpec.from_string(ARM.format(actuators=actuators))
    equip_native(spec, {"j": "sts3215"})
    assert len(caplog.messages) == lines
    assert spec.compile().nu == 1


@pytest.mark.parametrize(
    "option",
    [
        '<option actuatorgroupdisable="0"/>',
        '<option><flag actuation="disable"/></option>',
        '<option><flag constraint="disable"/></option>',
    ],
)
def test_a_description_that_switches_actuators_off_is_refused(option: str) -> None:
    spec = mujoco.MjSpec.from_string(ARM.format(actuators="").replace("<worldbody>", option + "<worldbody>"))
    with refused(Conflict, thing="model 'MuJoCo Model', option"):
        equip_native(spec, {"j": "sts3215"})
