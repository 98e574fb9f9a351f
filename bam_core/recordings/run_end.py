# SPDX-License-Identifier: Apache-2.0
"""Whether a bag that nobody finished (no ``metadata.yaml``) counts all the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bam_core.errors import BamError
from bam_core.recordings.bag_files import read_messages

_RUN, _STATES = "bam_bench/msg/BenchRun", "bam_bench/msg/ServoStates"
_SLACK = 0.2  # s before the planned end in which no state need come: the longest sampling period
_SET_ASIDE = re.compile(r"\.(interrupted|stalled|changed|released)-\d+$")


def is_set_aside(bag: Path) -> bool:
    """Return whether the recorder has renamed a bag because its run does not count, and is recorded again."""
    return _SET_ASIDE.search(bag.name) is not None


def reaches_its_end(files: Sequence[Path]) -> bool:
    """Return whether states come up to the planned end of the run; without a plan, of the file.

    Args:
        files: of one bag.
    """
    try:
        contents = [read_messages(file, {_RUN, _STATES}) for file in files]
    except BamError:
        return False
    messages = [message for content in contents for message in content.messages]
    runs = [message.value for message in messages if message.type == _RUN]
    stamps = [seconds_of(message.value.header.stamp) for message in messages if message.type == _STATES]
    if not runs:  # of another recorder, which has finished it
        return bool(contents) and all(content.complete for content in contents)
    if not stamps:
        return False
    planned = seconds_of(runs[-1].duration)
    if not planned > 0.0:
        return all(content.complete for content in contents)
    return max(stamps) - seconds_of(runs[-1].header.stamp) >= planned - _SLACK


def seconds_of(time: Any) -> float:
    """Return a builtin_interfaces Time or Duration in s, as exactly as a float can."""
    return float(time.sec) + 1e-9 * float(time.nanosec)
