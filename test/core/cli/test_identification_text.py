# SPDX-License-Identifier: Apache-2.0
"""An identification in words: what is needed, what is small and what nobody knows are told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bam_core.cli.identification_text import (
    models_table,
    small_parameters,
)
from test.core.identified_cases import estimate, found


def test_what_is_wide_beside_its_value_and_yet_identifiable_is_small() -> None:
    estimates = (
        estimate("viscous", 0.004, 0.0, 0.0086, told=True),
        estimate("coulomb", 0.0, 0.0, 0.001, told=True),
        estimate("resistance", 2.0, 1.9, 2.1, told=True),
        estimate("armature", 0.01, 0.0, 1.0, told=False),
        estimate("zero_offset", -0.019, -0.029, -0.009, told=True),  # its sign is known
        estimate("load", 0.01, -0.001, 0.03, told=True),
    )
    assert small_parameters(found(estimates)) == ["viscous", "coulomb", "load"]


@pytest.mark.parametrize(("logs", "has_interval"), [(3, False), (4, True)])
def test_an_interval_is_given_of_four_test_logs_on(logs: int, has_interval: bool) -> None:
    result = found(())
    test = {f"log {number}": 0.01 * (1 + number) for number in range(logs)}
    (name,) = result.fits
    result = replace(result, fits={name: replace(result.fits[name], test=test)})
    assert (f" {logs} logs: " in models_table(result)) is not has_interval
    assert result.test_error.has_interval is has_interval
