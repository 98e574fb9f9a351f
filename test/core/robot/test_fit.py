# SPDX-License-Identifier: Apache-2.0
"""Fits of friction models one after the other: the second one takes over what the first one found."""

from __future__ import annotations

import numpy as np

from bam_core.robot.benches import SearchBenches
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.fit import RobotFit, fit_robot
from bam_core.robot.noise import assumed_noise
from bam_core.robot.tolerances import RobotTolerances
from bam_core.robot.unknowns import Unknowns, with_friction_model
from bam_core.servo.model import load_servo
from test.core.whole_robot_cases import JOINTS, bench, recorded, servos

DELAY = 0.009
WIDE = RobotTolerances(
    zero=0.0, strength=0.0, back_emf=0.0, friction=0.0, load_friction=0.0, mass=0.0, centre=0.0
)
TYPES = dict(zip(JOINTS, ("mx106", "mx64"), strict=True))


def unknowns(model: str) -> Unknowns:
    return Unknowns(
        servos={name: with_friction_model(load_servo(name), model) for name in TYPES.values()},
        joints=TYPES,
        tolerances=WIDE,
        bodies=(),
    )


def test_a_later_fit_begins_at_what_the_one_before_found() -> None:
    """Without a first descent and with fewer rounds."""
    run = recorded(servos("m1"), deviations=RobotDeviations(delay=DELAY), duration=0.7)
    known = unknowns("m1")
    point = np.zeros(len(known.names))
    point[known.names.index("delay")] = (DELAY - WIDE.expected_delay) / WIDE.delay
    before = RobotFit(
        unknowns=known,
        point=point,
        covariance=1e-4 * np.eye(len(point)),
        standard_errors=np.full(len(point), 0.01),
        noise=assumed_noise(len(JOINTS)),
    )
    benches = SearchBenches(search=bench().coarser(4e-3, settling=0.1, lead=0.1), quick=None)
    said: list[str] = []
    found = fit_robot(benches, [run], JOINTS, unknowns("m3"), before=before, progress=said.append)
    assert not any("first descent" in words for words in said)
    assert sum("round" in words for words in said) == 6
    delay = found.unknowns.deviations_at(found.point).delay
    assert abs(delay - DELAY) < 2e-3
    assert np.all(np.linalg.eigvalsh(found.covariance) > 0.0)
