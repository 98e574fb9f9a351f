# SPDX-License-Identifier: Apache-2.0
"""Runs show ranges that are too narrow, and links that no servo could hold."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest

from bam_core.robot.description_evidence import description_findings
from bam_core.robot.joints import joint_warnings, servos_by_joint
from bam_core.robot.run import RobotRun
from bam_core.robot.simulation import RobotBench
from bam_core.text.robot_evidence_findings import BeyondRange, TooHeavy
from test.core.whole_robot_cases import ARM, JOINTS, bench, goals, recorded, servos

GRIPPER = """<body pos="0 0 -0.15"><joint name="slide" type="slide"/><geom size="0.01" mass="0.01"/></body>
<body pos="0 0 -0.15"><joint name="finger"/><geom size="0.01" mass="0.01"/></body></body></body></worldbody>
<equality><joint joint1="finger" joint2="elbow"/></equality>"""


def held() -> RobotRun:
    """A run that rests aside."""
    run = goals(2.0)
    return replace(run, position=np.full_like(run.position, 0.8))


def test_readings_beyond_a_range_are_named() -> None:
    narrow = mujoco.MjSpec.from_string(ARM.replace('name="elbow"', 'name="elbow" range="-0.3 0.6"'))
    (found,) = description_findings(narrow, [held()], JOINTS, servos())
    assert isinstance(found, BeyondRange)
    assert (found.joint, found.limits) == ("elbow", (-0.3, 0.6))
    assert found.measured == pytest.approx((0.8, 0.8))


def test_links_that_no_servo_could_hold_are_named() -> None:
    heavy = mujoco.MjSpec.from_string(ARM.replace('mass="0.6"', 'mass="600"'))
    found = list(description_findings(heavy, [held()], JOINTS, servos()))
    assert [(type(finding), finding.joint) for finding in found] == [(TooHeavy, joint) for joint in JOINTS]
    assert not list(description_findings(bench().spec, [held(), recorded(servos())], JOINTS, servos()))


def test_patterns_pass_over_slides_and_joints_that_another_one_moves() -> None:
    spec = mujoco.MjSpec.from_string(ARM.replace("</body>\n    </body>\n  </worldbody>", GRIPPER))
    assert set(servos_by_joint(spec, ["*=mx106"])) == {"shoulder", "elbow"}
    assert set(servos_by_joint(spec, ["*=mx106", "finger=mx64", "slide=mx64"])) == {
        "shoulder",
        "elbow",
        "finger",
        "slide",
    }
    (undriven,) = joint_warnings(spec, {"shoulder": "mx106", "elbow": "mx106"}, JOINTS)
    assert undriven.joints == ("slide",)


def test_numerical_methods_of_a_description_do_not_matter() -> None:
    spec = mujoco.MjSpec.from_string(
        ARM.replace("<default>", '<option integrator="RK4" solver="PGS" timestep="0.01"/><default>', 1)
    )
    run = goals(1.0)
    usual = bench().simulate(run, servos())
    np.testing.assert_array_equal(RobotBench.make(spec, "fixed").simulate(run, servos()), usual)
