# SPDX-License-Identifier: Apache-2.0
"""Every command line that README and site print: how it is run without hardware, or why it is not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from test.documented import blocks

SHELL = ("", "bash", "sh", "text")
_PROGRAM = re.compile(
    r"(bam|pip|uv|make|source|sudo|ros2|colcon|xacro|export|for|share=\S*|\.venv/bin/\w+|install/\S+|python3|mjlab/\S+|CHECKOUT/\S+)(\s|$)"
)

NOT_RUN = (
    (r"pip install \.$", "made this environment"),
    (r"ros2 |xacro |share=|export ROS_|for policy|colcon build", "needs a sourced ROS 2"),
    (r"sudo ", "changes the system's settings"),
    (r"source ", "needs `make setup`"),
    (r"make (setup|check|docs|test|test-long)\b", "a step of .ci/run"),
    (r"make demo\b", "needs `make setup`; test/ros/demo and `make test-long` run its parts"),
    (r"make ", "takes an hour, or searches without an end"),
    (r"install/|\.venv/bin/python ", "needs `make setup`; the tests of test/ros start the nodes"),
    (r"bam simulate .*--view", "needs a screen; test/core/cli/test_simulate_robot runs it"),
    (
        r"(\.venv/bin/)?bam (record|robot record|demo) ",
        "needs ROS 2 and a running driver; test/ros/recorder runs it",
    ),
    (r"python3 -m venv mjlab|mjlab/|CHECKOUT/", "needs mjlab, 7 GB in an environment of its own"),
    (r"bam build-plugin --mujoco", "needs another MuJoCo; tools/mujoco_versions.py builds for such"),
    (r"bam conform --against my_port", "needs a port of the law; test/core/cli/test_conform.py runs one"),
    (r"bam servos (add|bundle|check) ", "needs an identified servo to pass on; test/core/exchange has such"),
    (r"bam fleet identified_units/ ", "needs results of units, as docs/how-to/fleet.md makes them"),
    (
        r"bam identify new_unit/ ",
        "needs the servo file of a type; test_prior.py makes one",
    ),
    (
        r"bam (identify sessions/|fleet identified_sessions) ",
        "needs dated sessions; test_drift.py makes such",
    ),
    (
        r"bam (identify .*|fleet identified --model m1 .*|validate .*)(REPEATS|compared|THIRD_UNIT)",
        "needs recordings of two real units; test/core/cli/test_identify.py runs such commands",
    ),
    (
        r"bam check-randomisation ",
        "needs a file of `bam export`; test/core/exchange/training/test_randomisation.py makes such",
    ),
    (r"bam .*tcp://", "needs a Dask scheduler"),
    (r"bam .*(sigmaban|so101)", "needs recordings of a real robot"),
    (r"bam robot identify .* bags ", "needs bags of `bam robot record`; test/ros/recorder records such"),
    (
        r"bam robot .*arm\.urdf",
        "needs runs of an arm with XL330; test/core/cli/test_robot.py runs such commands",
    ),
    (r"bam .*no_load\.txt", "needs recordings in Dynaban's form; test/core/recordings reads such"),
)
"""Beginning of a command, as a pattern -> why it is not run. The first that fits counts."""

PAGES_NOT_RUN = {"docs/robot_arm.md": "needs `make setup` and the virtual arm; test/ros/recorder records it"}

PACKAGES = {"--cluster": "distributed"}
"""Option -> package that has to be installed, as its page states."""

SHORTER = (
    (r"(bam identify .*)", r"\1 --trials 60"),
    (r"(bam robot identify .*)", r"\1 --models m1"),
    (r"(bam robot design .*--seconds) \d+", r"\1 10 --pieces 20"),
    (r"(bam gear .*)", r"\1 --trials 200"),
)
"""What makes a command short, where an option exists."""


@dataclass(frozen=True)
class Command:
    """A command as a page prints it.

    Attributes:
        page: where.
        line: of the block that it is in.
        text: in one line, without its comment.
    """

    page: str
    line: int
    text: str

    @property
    def reason(self) -> str:
        """Why it is not run; empty for one that is."""
        of_command = next((reason for start, reason in NOT_RUN if re.match(start, self.text)), "")
        return of_command or PAGES_NOT_RUN.get(self.page, "")

    @property
    def package(self) -> str:
        """What it needs beside bam_bench; empty for most."""
        return next((name for option, name in PACKAGES.items() if option in self.text), "")

    @property
    def typed(self) -> str:
        """The command as it is run: `bam` of the clean environment, with a short budget."""
        text = re.sub(r"\.venv/bin/bam\b", "bam", self.text)
        for long, short in SHORTER:
            text = re.sub(f"^{long}", short, text)
        return text


def commands(pages: dict[str, str]) -> Iterator[Command]:
    """Commands of all blocks for a shell; other text in such blocks is output or a picture."""
    for block in blocks(pages):
        if block.language in SHELL:
            for text in _lines(block.code):
                if _PROGRAM.match(text):
                    yield Command(block.page, block.line, text)
                # Pages made from docstrings have sentences between their commands.
                elif block.language == "bash" and text and not block.page.startswith("reference/"):
                    raise ValueError(f"{block}: '{text}' begins with no program that is known here")


def _lines(code: str) -> Iterable[str]:
    for line in code.replace("\\\n", " ").splitlines():
        yield " ".join(re.sub(r"(^|\s)#.*$", "", line).split())
