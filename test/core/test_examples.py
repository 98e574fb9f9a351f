# SPDX-License-Identifier: Apache-2.0
"""Every example runs as it is typed, and shows what it says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def said(name: str) -> str:
    """What an example prints, typed from the directory that its first lines name."""
    done = subprocess.run(
        [sys.executable, f"examples/{name}.py"],
        cwd=EXAMPLES.parent,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_every_example_is_tested_and_says_how_to_run_it() -> None:
    names = {file.stem for file in EXAMPLES.glob("*.py")}
    # Those that speak to nodes are tested with these: test/ros.
    with_nodes = {"command_servos", "send_trajectory"}
    assert names == {"floating_base", "plain_mjcf", "rollout_on_all_cores"} | with_nodes
    for name in names:
        assert f".venv/bin/python examples/{name}.py\n" in (EXAMPLES / f"{name}.py").read_text()


def test_friction_keeps_a_robot_on_its_feet() -> None:
    heights = [
        [float(h) for h in re.findall(r"([\d.]+) cm", line)] for line in said("floating_base").splitlines()
    ]
    (before, held), (_, slumped) = heights
    assert abs(before - held) < 0.1
    assert slumped < before - 5.0


def test_rollouts_on_one_core_and_on_all_are_the_same() -> None:
    lines = said("rollout_on_all_cores").splitlines()
    assert lines[0].startswith("1 threads: ")
    assert lines[1].startswith(f"{os.cpu_count()} threads: ")
    swings = [line.split("largest swing")[1] for line in lines]
    assert swings[0] == swings[1]
    assert 1.0 < float(swings[0].split()[0]) < 1.6


def test_plain_mujoco_reaches_the_goal_and_is_told_what_it_lacks() -> None:
    lines = said("plain_mjcf").splitlines()
    reached = re.fullmatch(r"goal 1.000 rad, reached ([\d.]+) rad", lines[0])
    assert reached
    assert float(reached[1]) == pytest.approx(1.0, abs=0.1)
    assert lines[1].startswith("- friction: MuJoCo has Coulomb and viscous friction only")
