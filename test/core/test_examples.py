# SPDX-License-Identifier: Apache-2.0
"""Every example runs from any directory, shows what it says, and is short."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import mujoco
import pytest

from bam_core.servo.model import load_servo
from bam_core.text.data_findings import NoVoltage

EXAMPLES = Path(__file__).parents[2] / "examples"
CLIENTS = {"send_trajectory", "command_servos", "teleoperate"}
"""They need a node to talk to, and are tested with it."""
LONGER = {*CLIENTS, "floating_base"}


def said(name: str, directory: Path, warning: str = "") -> str:
    """What an example prints, started in a directory of its own; it warns of this and of nothing else."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py"],
        cwd=directory,
        env={**os.environ, "PYTHONPATH": str(EXAMPLES.parent)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, warning)
    return done.stdout


def test_every_example_is_tested_listed_and_says_how_to_run_it() -> None:
    names = {file.stem for file in EXAMPLES.glob("*.py")}
    tested = set(re.findall(r'said\("(\w+)"', Path(__file__).read_text()))
    assert names - CLIENTS == tested
    listed = (EXAMPLES / "README.md").read_text()
    for name in names:
        assert f"[{name}.py]({name}.py)" in listed
        assert f".venv/bin/python examples/{name}.py\n" in (EXAMPLES / f"{name}.py").read_text()


def test_a_verb_takes_less_than_25_lines_and_public_names_alone() -> None:
    for file in EXAMPLES.glob("*.py"):
        text = file.read_text()
        if file.stem not in LONGER:
            assert len(text.splitlines()) < 25, file.name
        assert "from bam_core." not in text, file.name


@pytest.mark.long
def test_a_servo_is_identified_and_written(tmp_path: Path) -> None:
    no_voltage = f"{NoVoltage(logs=(), is_all=True, supplies=(15.0,))}\n"
    lines = said("identify", tmp_path, no_voltage).splitlines()
    errors = [float(each) for each in re.findall(r"off by ([\d.]+) mrad", "\n".join(lines))]
    assert len(errors) == 2
    assert errors[1] < errors[0]
    assert lines[2].startswith("chosen: m4 ")
    assert load_servo(tmp_path / "identified" / "m4.yaml").friction_model == "m4"


@pytest.mark.long
def test_models_are_compared_and_plotted(tmp_path: Path) -> None:
    own, other = (float(line.split()[3]) for line in said("validate_and_plot", tmp_path).splitlines())
    assert own < 1.0 < other
    assert (tmp_path / "fit.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.long
def test_a_robot_moves_alike_from_python_and_in_the_engine(tmp_path: Path) -> None:
    python, plugin = said("simulate_robot", tmp_path), said("simulate_robot_plugin", tmp_path)
    for said_by in (python, plugin):
        reached = [float(each) for each in re.findall(r"-?\d\.\d{3}", said_by)]
        assert reached == pytest.approx([0.5, -1.0], abs=0.1)
    assert python == plugin


@pytest.mark.long
def test_a_bag_is_read(tmp_path: Path) -> None:
    lines = said("read_bag", tmp_path).splitlines()
    assert lines[0].startswith("run: mx106 with ")
    assert lines[0].endswith("kp 32, script lift_and_drop")
    assert "2.00 s" in lines[2]


@pytest.mark.long
def test_a_servo_is_exported_and_what_is_lost_is_told(tmp_path: Path) -> None:
    lost = said("export", tmp_path)
    assert "friction: " in lost
    assert mujoco.MjModel.from_xml_path(str(tmp_path / "mx106.xml"))
    assert '"actuator": "mx106"' in (tmp_path / "mx106.json").read_text()


@pytest.mark.long
def test_friction_keeps_a_robot_on_its_feet(tmp_path: Path) -> None:
    lines = said("floating_base", tmp_path).splitlines()
    (before, held), (_, slumped) = (
        [float(each) for each in re.findall(r"([\d.]+) cm", line)] for line in lines
    )
    assert abs(before - held) < 0.1
    assert slumped < before - 5.0


def test_every_episode_has_another_servo_that_follows_its_policy(tmp_path: Path) -> None:
    lines = said("random_servos", tmp_path).splitlines()
    constants, errors = zip(*(map(float, re.findall(r"\d\.\d+", line)) for line in lines), strict=True)
    assert len(set(constants)) == len(lines) == 5
    assert all(0.0 < error < 0.5 for error in errors)


@pytest.mark.long
def test_many_simulations_run_at_once(tmp_path: Path) -> None:
    steps, swing = re.findall(r"[\d.]+", said("rollout_on_all_cores", tmp_path))
    assert int(steps) == 64 * 2000
    assert 1.0 < float(swing) < 1.6
