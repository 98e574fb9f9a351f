# SPDX-License-Identifier: Apache-2.0
"""Which recording helps is said with its factor, or that none does."""

from __future__ import annotations

import numpy as np
import pytest

from bam_core.identification.uncertainty.advice import _clause
from bam_core.identification.uncertainty.candidate_runs import CandidateRun
from bam_core.identification.uncertainty.design import Knowledge, Prospect
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.simulation.rollout import PARAMETERS
from test.core.identification_cases import BENCH

RUN = CandidateRun(script=SCRIPTS["lift_and_drop"], kp=8.0, bench=BENCH, supply_voltage=15.0)


@pytest.mark.parametrize(
    ("information", "words"),
    [
        (15.0, f"record {RUN.label}, which brings its standard error down by a factor of 4.0"),
        (0.7, f"record {RUN.label}, which brings its standard error down by a factor of 1.3"),
        (0.5, "no single run near these set-ups would help much"),
        (120.0, f"record {RUN.label}, which brings its standard error down more than tenfold"),
    ],
)
def test_a_run_is_advised_for_its_factor(information: float, words: str) -> None:
    known = Knowledge(vector=np.zeros(len(PARAMETERS)), covariance=np.diag([9.0, 1.0]))
    found = [Prospect(run=RUN, information=np.diag([0.0, information]))]
    assert _clause(1, found, known) == words
