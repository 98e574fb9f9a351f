# SPDX-License-Identifier: Apache-2.0
"""Golden cases stay what they are, and hold every branch of the law."""

from __future__ import annotations

import hashlib

import numpy as np

from bam_core.exchange.conformance.cases import VERSION, golden_cases
from bam_core.servo.friction import FRICTION_MODELS

DIGESTS = {1: "693a2392fa550a55", 2: "4d0841254416ce4d", 3: "4d5f7ef3d7f0d9e9"}
"""Of all expected torques to nine digits, by version: a new law is a new version."""


def test_expected_torques_change_only_with_the_version() -> None:
    rows = np.concatenate([case.expected for case in golden_cases()])
    text = "\n".join(f"{motor:.9e} {friction:.9e}" for motor, friction in rows + 0.0)
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS[VERSION]


def test_every_friction_model_has_states_and_a_run() -> None:
    names = [case.name for case in golden_cases()]
    assert len(set(names)) == len(names)
    for model in FRICTION_MODELS:
        assert sum(name.startswith(f"friction {model}: ") for name in names) == 2


def test_runs_stick_and_slip() -> None:
    for case in golden_cases():
        if case.name.startswith("friction"):
            net = case.expected.sum(axis=1) + [step.external_torque for step in case.steps]
            stops = np.abs(net * [step.dt / step.inertia for step in case.steps] + _velocities(case.steps))
            assert 0.01 < (stops < 1e-12).mean() < 0.98, case.name


def _velocities(steps: tuple[object, ...]) -> np.ndarray:
    return np.array([step.velocity for step in steps])  # type: ignore[attr-defined]
