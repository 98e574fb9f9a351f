# SPDX-License-Identifier: Apache-2.0
"""What `mujoco.sysid` fits of an arm lowers its error towards zero where its model is the true one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from studies.robot_arm.peer import PeerSettings
from studies.so101.described import DescribedArm
from studies.so101.peer import PeerArm, PeerFit, fit
from test.core.whole_robot_cases import JOINTS, goals
from test.studies.so101.test_so101 import _described


@pytest.mark.long
def test_an_arm_of_its_own_kind_is_fitted() -> None:
    """An arm with actuators of 60 N·m/rad, from the 17.8 where the fit begins."""
    run = goals(3.0)
    run = replace(run, position=DescribedArm(spec=_described(), kp=60.0).simulate(run))
    arm = PeerArm(spec=_described(), joints=JOINTS, settings=PeerSettings(own=True, masses=False))
    parameters, transform = arm.parameters()
    start = PeerFit(arm=arm, parameters=parameters, transform=transform)
    fitted = fit(arm, [run])
    assert fitted.errors([run]).shape == (1, len(JOINTS))
    assert np.mean(fitted.errors([run])) < 0.2 * np.mean(start.errors([run]))
