# SPDX-License-Identifier: Apache-2.0
"""The tables of the study, and that a replay can be written as JSON."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from bam_core.arrays import Array
from studies.transfer.bootstrap import mean_interval
from studies.transfer.replay import Replayed
from studies.transfer.simulations import DRAWS, HAND_SET_M1, HAND_SET_PD
from studies.transfer.table import replay_table, transfer_table, verdicts
from studies.transfer.trial import Tried

ERRORS = np.random.default_rng(1).uniform(1e-3, 1.2e-3, (3, 20))


def tried(error: Array) -> Tried:
    return Tried(policies=np.zeros((3, 9)), promised=error.mean(axis=1), error=error, success=0.0 * error)


def test_the_ratio_to_each_hand_set_randomisation_is_given() -> None:
    results = {HAND_SET_PD: tried(4.0 * ERRORS), HAND_SET_M1: tried(ERRORS), DRAWS: tried(ERRORS)}
    published, m1 = verdicts(results)
    assert "0.25 (0.25 to 0.25)" in published
    assert "1.00 (1.00 to 1.00)" in m1
    assert len(transfer_table(results).splitlines()) == 2 + len(results)


def test_a_replay_without_spread_has_no_band() -> None:
    one = mean_interval(ERRORS)
    rows = {"M1": Replayed(error=one, crps=one, held=None), DRAWS: Replayed(error=one, crps=one, held=one)}
    assert replay_table(rows).splitlines()[2].split()[-1] == "-"
    assert json.loads(json.dumps(asdict(rows["M1"])))["error"]["value"] == one.value
