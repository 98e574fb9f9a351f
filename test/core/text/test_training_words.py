# SPDX-License-Identifier: Apache-2.0
"""Every target of an export has a next step that names what was written."""

from __future__ import annotations

import pytest

from bam_core.exchange.training import TARGETS
from bam_core.text.training_words import next_step


@pytest.mark.parametrize("target", TARGETS)
def test_every_target_has_a_next_step(target: str) -> None:
    suffix, _ = TARGETS[target]
    step = next_step(target, f"arm{suffix}", "sts3215")
    assert (f"arm{suffix}" if suffix == ".xml" else "from arm import ") in step
    assert "{" not in step.replace('{"servo"', "")
    assert ('class="sts3215"' in step) == (suffix == ".xml")
