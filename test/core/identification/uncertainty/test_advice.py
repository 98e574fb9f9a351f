# SPDX-License-Identifier: Apache-2.0
"""Which recording helps has its factor, or there is none."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.uncertainty.advice import _advice
from bam_core.identification.uncertainty.candidate_runs import CandidateRun
from bam_core.identification.uncertainty.design import Knowledge, Prospect
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.simulation.rollout import PARAMETERS
from test.core.identification_cases import BENCH

RUN = CandidateRun(script=SCRIPTS["lift_and_drop"], kp=8.0, bench=BENCH, supply_voltage=15.0)


@pytest.mark.parametrize(
    ("information", "advice"),
    [
        (15.0, ("record", RUN.label, 4.0)),
        (0.7, ("record", RUN.label, 1.3)),
        (0.5, ("no_run", "", 1.0)),
        (120.0, ("record", RUN.label, 11.0)),
    ],
)
def test_a_run_is_advised_for_its_factor(information: float, advice: tuple[str, str, float]) -> None:
    known = Knowledge(vector=np.zeros(len(PARAMETERS)), covariance=np.diag([9.0, 1.0]))
    found = [Prospect(run=RUN, information=np.diag([0.0, information]))]
    made = _advice(1, found, known)
    assert (made.kind, made.run, made.factor) == (*advice[:2], pytest.approx(advice[2], rel=0.01))
