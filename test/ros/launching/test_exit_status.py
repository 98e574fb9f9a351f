# SPDX-License-Identifier: Apache-2.0
"""A launch whose required node has failed ends with that node's status."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import Any

import pytest

from bam_ros.launching.exit_status import exit_status, fail_launch

PROGRAM = """\
import asyncio, sys
from bam_ros.launching.exit_status import fail_launch

async def run():
    fail_launch("the driver", 2)
    fail_launch("the recorder", 5)  # which ended because of the first

sys.argv = sys.argv[1:]
asyncio.run(run())
print("written", end="")
sys.exit(1)
"""


@pytest.mark.parametrize(("returncode", "status"), [(0, 0), (2, 2), (-9, 137), (-11, 139)])
def test_the_status_is_that_of_a_shell(returncode: int, status: int) -> None:
    assert exit_status(returncode) == status


def test_any_launch_hears_of_the_failure() -> None:
    heard: list[dict[str, Any]] = []

    async def run() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))
        fail_launch("the driver has ended", 2)

    asyncio.run(run())
    assert heard == [{"message": "the driver has ended"}]


@pytest.mark.parametrize(
    ("argv", "status"), [(["/opt/ros/bin/ros2", "launch", "bam_bench"], 2), (["pytest", "launch"], 1)]
)
def test_ros2_launch_ends_with_the_status_of_the_first_and_no_other_program_does(
    argv: list[str], status: int
) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *argv], capture_output=True, text=True, check=False)
    assert (done.returncode, bool(done.stdout)) == (status, True)
