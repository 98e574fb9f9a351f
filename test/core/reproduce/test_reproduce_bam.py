# SPDX-License-Identifier: Apache-2.0
"""BAM redone: which claims hold, and how errors of the arms come about."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from bam_core.arms import PATHS, ArmTrack, find_arm
from bam_core.reproduce import bam
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo


def errors(**of_model: float) -> dict[str, float]:
    """MAE of M1 to M6, falling by a third from model to model unless said otherwise, rad."""
    return {**{model: 0.03 * 0.67**n for n, model in enumerate(FRICTION_MODELS)}, **of_model}


def test_falling_errors_are_what_the_paper_says_of_all_servos() -> None:
    claims = bam.pendulum_claims(dict.fromkeys(bam.FACTORS, errors()))
    assert len(claims) == 8
    assert all(claim.holds for claim in claims)
    assert [claim.paper for claim in claims[:4]] == [2.93, 2.02, 2.34, 1.51]
    assert claims[0].ours == pytest.approx(0.67**-5)


def test_a_factor_below_that_of_the_paper_and_a_wrong_order_do_not_hold() -> None:
    flat = dict.fromkeys(FRICTION_MODELS, 0.03)
    assert not any(claim.holds for claim in bam.pendulum_claims(dict.fromkeys(bam.FACTORS, flat))[:4])
    wrong = {
        "mx64": errors(m5=0.02),
        "mx106": errors(m4=0.04),
        "erob80_100": errors(m6=0.02),
        "erob80_50": errors(m3=0.04),
    }
    assert not any(claim.holds for claim in bam.pendulum_claims(wrong)[4:])


def test_an_arm_s_claim_needs_m1_more_than_twice_as_far_on_every_path_with_every_gain() -> None:
    far = {(path, gain): {"m1": 0.021, "m4": 0.01} for path in PATHS for gain in ("LG", "HG")}
    near = {**far, ("square", "HG"): {"m1": 0.019, "m4": 0.01}}
    assert [claim.holds for claim in bam.arm_claims(find_arm("dynamixel_2r"), "m4", far)] == [True] * 8
    claims = bam.arm_claims(find_arm("dynamixel_2r"), "m4", near)
    assert [claim.claim.split(", ")[2:] for claim in claims if not claim.holds] == [
        ["square", "HG: MAE of M1 over that of M4"]
    ]


def test_errors_of_an_arm_are_those_of_each_model_s_joints(monkeypatch: pytest.MonkeyPatch) -> None:
    arm = find_arm("dynamixel_2r")
    off = {"m1": 0.05, "m4": 0.01}

    def track(_: object, servos: list[ServoModel], path: str, kp: float) -> ArmTrack:
        time = np.linspace(0.0, 1.0, 11)
        position = np.full((11, 2), 0.5) + off.get(servos[0].title, 0.0)
        return ArmTrack(time=time, goal_position=np.full((11, 2), 0.5), position=position)

    monkeypatch.setattr(bam, "track", track)
    truths = [load_servo(name) for name in arm.servos]
    found = [
        bam.Identified(servos={model: _titled(truth, model) for model in FRICTION_MODELS}, test_mae=errors())
        for truth in truths
    ]
    mae, picture = bam.arm_errors(arm, [_titled(truth, "truth") for truth in truths], found, "m4")
    assert set(mae) == {(path, gain) for path in PATHS for gain in ("LG", "HG")}
    for of_model in mae.values():
        assert of_model == pytest.approx({**dict.fromkeys(FRICTION_MODELS, 0.0), **off})
    assert len(picture.axes) == 2


def _titled(servo: ServoModel, title: str) -> ServoModel:
    return dataclasses.replace(servo, title=title)
