# SPDX-License-Identifier: Apache-2.0
"""Launch files run whole, by `launch_executed` where launch_ros is not installed: tools/real_ros.md."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bam_ros.dynamixel.port_errors import explain_port_error
from bam_ros.text.recorder_notices import RecordingEnded
from test.missing import skip_or_fail
from test.ros.launch_definitions import installed, recorded
from test.ros.one_run import RUN, SESSION
from test.ros.ros_helpers import EROB_LATE, LATE, LONGEST_COMMAND_TIMEOUT, PATIENCE, wait_for

ROOT = Path(__file__).parents[3]
LAUNCH = ROOT / "launch"
IS_REAL = importlib.util.find_spec("launch_ros") is not None
EROB_SESSION = """\
servo: erob80_100
supply_voltage: 48.0
loads: [{mass: 3.1, length: 0.5}]
gains: [50]
scripts: [sin_sin]
"""
EROB_RUN = "m3.10_l0.500_kp50_sin_sin"
RUNNER = """\
import sys
import os
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription, SetLaunchConfiguration
from launch.launch_description_sources import PythonLaunchDescriptionSource
source = PythonLaunchDescriptionSource(sys.argv[1])
arguments = [argument.split(":=") for argument in sys.argv[2:]]
service = LaunchService()
service.include_launch_description(
    LaunchDescription([
        SetLaunchConfiguration("sigterm_timeout", os.environ["SIGTERM_TIMEOUT"]),
        IncludeLaunchDescription(source, launch_arguments=arguments)]))
sys.exit(service.run())
"""


class Launch:
    """A launch file at work, in a process group of its own."""

    def __init__(self, file: str, *arguments: str, sigterm_timeout: float = 5.0) -> None:
        """Start it; nodes that have not ended after `sigterm_timeout` [s] get SIGTERM."""
        program = ["-c", RUNNER] if IS_REAL else ["-m", "test.ros.launch_executed"]
        self.process = subprocess.Popen(
            [sys.executable, *program, str(LAUNCH / file), *arguments],
            cwd=ROOT,
            env={**os.environ, "SIGTERM_TIMEOUT": str(sigterm_timeout)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def end(self) -> str:
        """Wait for its end and return what it said."""
        try:
            return self.process.communicate(timeout=3 * PATIENCE)[0]
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            raise


@pytest.fixture
def session(tmp_path: Path, ros_domain: int) -> list[str]:
    """Arguments of a short session on a virtual bench."""
    file = tmp_path / "session.yaml"
    file.write_text(SESSION)
    patient = tmp_path / "patient.yaml"
    parameters = {**LATE, "failures": 1000, "command_timeout": LONGEST_COMMAND_TIMEOUT, "rate": 100.0}
    patient.write_text(yaml.safe_dump({"/**/dynamixel": {"ros__parameters": parameters}}))
    bags, port = tmp_path / "bags", tmp_path / "bus"
    own = [f"port:={port}", f"session:={file}", f"output:={bags}", f"params_file:={patient}"]
    return ["virtual:=true", *own]


@pytest.mark.ros
def test_a_session_is_recorded_by_one_launch(session: list[str], tmp_path: Path) -> None:
    launch = Launch("record.launch.py", *session, sigterm_timeout=PATIENCE)
    said = launch.end()
    assert launch.process.returncode == 0, said
    assert "1 run recorded" in said
    assert (tmp_path / "bags" / RUN / "metadata.yaml").is_file()
    assert "has died" not in said
    assert "[ERROR]" not in said  # driver and virtual bench get their signal at once


@pytest.mark.long
@pytest.mark.ros
def test_a_session_of_a_virtual_erob_is_recorded_by_one_launch(tmp_path: Path, ros_domain: int) -> None:
    file = tmp_path / "session.yaml"
    file.write_text(EROB_SESSION)
    patient = tmp_path / "patient.yaml"
    parameters = {**EROB_LATE, "failures": 1000, "command_timeout": LONGEST_COMMAND_TIMEOUT}
    patient.write_text(yaml.safe_dump({"/**/erob": {"ros__parameters": parameters}}))
    arguments = ["driver:=erob", "virtual:=true", f"interface:=la{os.getpid()}", f"session:={file}"]
    arguments += [f"params_file:={patient}"]
    launch = Launch("record.launch.py", *arguments, f"output:={tmp_path / 'bags'}")
    said = launch.end()
    if "CAP_" in said:
        skip_or_fail(said)
    assert launch.process.returncode == 0, said
    assert "1 run recorded" in said
    assert (tmp_path / "bags" / EROB_RUN / "metadata.yaml").is_file()
    assert "has died" not in said


@pytest.mark.ros
def test_ctrl_c_ends_a_launch_with_the_bag_readable(session: list[str], tmp_path: Path) -> None:
    launch = Launch("record.launch.py", *session, sigterm_timeout=PATIENCE)
    bag = tmp_path / "bags" / RUN
    wait_for(lambda: sum(file.stat().st_size for file in bag.glob("*.mcap")) > 20_000, what="data")
    os.killpg(launch.process.pid, signal.SIGINT)  # as a terminal does
    said = launch.end()
    assert str(RecordingEnded(kind="node")) in said
    assert "Traceback" not in said
    assert "[ERROR]" not in said
    assert not (bag / "metadata.yaml").exists()


@pytest.mark.ros
def test_a_missing_port_ends_the_launch_with_its_cause(tmp_path: Path, ros_domain: int) -> None:
    words = (f"port:={tmp_path}/none", f"output:={tmp_path}", "wait_for_device:=0.0")
    said = Launch("record.launch.py", *words).end()
    assert str(explain_port_error(f"{tmp_path}/none", FileNotFoundError())) in said
    assert "Traceback" not in said


@pytest.mark.ros
@pytest.mark.parametrize(
    ("file", "argument", "ready"),
    [
        ("simulate.launch.py", "servo:=xl330", "simulation of bench"),
        ("identify.launch.py", "data_directory:=.", "ready"),
    ],
)
def test_nodes_start_and_end(file: str, argument: str, ready: str, ros_domain: int) -> None:
    launch = Launch(file, argument)
    assert launch.process.stdout is not None
    assert any(ready in line for line in iter(launch.process.stdout.readline, ""))
    os.kill(launch.process.pid, signal.SIGINT)
    assert "Traceback" not in launch.end()


@pytest.mark.ros
def test_the_demo_is_the_command_of_this_name(ros_domain: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "bam demo: " in Launch("demo.launch.py", f"output:={tmp_path / 'file'}").end()


@pytest.mark.skipif(not IS_REAL, reason="launch_ros is not installed (tools/real_ros.md)")
def test_the_definitions_are_those_of_the_installed_packages() -> None:
    assert installed() == recorded()
