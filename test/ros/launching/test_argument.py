# SPDX-License-Identifier: Apache-2.0
"""Arguments of a command line that a launch file does not have are refused."""

from __future__ import annotations

import pytest

from bam_core.errors import UnknownName
from bam_ros.launching.argument import refuse_unknown

COMMAND = ("ros2", "launch", "bam_bench", "record.launch.py")
NAMES = ("port", "session")


def test_an_unknown_argument_is_refused_with_the_one_that_was_meant() -> None:
    with pytest.raises(UnknownName) as caught:
        refuse_unknown([*COMMAND, "session:=none", "portt:=/dev/ttyUSB0"], "record.launch.py", NAMES)
    assert (caught.value.name, caught.value.valid) == ("portt", NAMES)


@pytest.mark.parametrize(
    "words",
    [
        [*COMMAND, "port:=/dev/ttyUSB0", "--show-args"],
        ["ros2", "launch", "robot", "all.launch.py", "arm:=left"],
        ["ros2", "launch", "/home/me/robot.launch.py", "record.launch.py", "arm:=left"],
        ["pytest", "-k", "portt:=1"],
    ],
)
def test_what_is_known_or_is_for_another_file_is_accepted(words: list[str]) -> None:
    refuse_unknown(words, "record.launch.py", NAMES)
