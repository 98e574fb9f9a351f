# SPDX-License-Identifier: Apache-2.0
"""Whether the stamps of a topic go on in the order of writing: no reset, no loop, no second clock."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import BadData

_OVERTAKING = 0.1  # s by which messages of one publisher may overtake each other on the way to the recorder
_MOST_OVERTAKEN = 0.01  # share of messages; more are those of two publishers, with clocks that differ


def require_onward(path: Path, topic: str, stamps: Sequence[int]) -> None:
    """Refuse stamps that go back.

    Args:
        path: of the bag.
        topic: of the messages.
        stamps: ns, in the order of writing; those that repeat are no matter.

    Raises:
        BadData: they go back further than messages overtake each other, or again and again.
    """
    steps: Array = np.diff(np.asarray(stamps, dtype=np.int64)).astype(np.float64) * 1e-9
    back = np.flatnonzero(steps < 0.0)
    if not len(back):
        return
    furthest = int(np.argmin(steps))
    if steps[furthest] < -_OVERTAKING:
        raise BadData(
            f"{path}, the clock of {topic}",
            f"goes back by {-steps[furthest]:.3g} s at message {furthest + 1} (a reset or a loop?)",
            expected="one run, with stamps that go on",
            advice="cut the bag there, or record one bag per run",
        )
    if len(back) > max(_MOST_OVERTAKEN * len(stamps), 1.0):
        raise BadData(
            f"{path}, the clock of {topic}",
            f"goes back {len(back)} times in {len(stamps)} messages (two publishers?)",
            expected="one publisher for each joint",
            advice="record the topic of one of them",
        )
