# SPDX-License-Identifier: Apache-2.0
import pytest

from studies.bench.composition import composition_load


@pytest.mark.long
def test_delays_of_both_arrangements_are_measured() -> None:
    loads = composition_load((True, False))

    assert set(loads) == {"three processes", "one process"}
    for load in loads.values():
        assert 0.0 < load.delay_p50 <= load.delay_p99 < 1.0
        assert load.processor > 0.0
        assert load.memory > 0.0
