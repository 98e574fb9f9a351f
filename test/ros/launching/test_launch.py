# SPDX-License-Identifier: Apache-2.0
"""Launch files run whole, where launch_ros is installed; what they describe is in test_launch_files."""

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
from test.ros.one_run import RUN, SESSION
from test.ros.ros_helpers import LATE, LONGEST_COMMAND_TIMEOUT, PATIENCE, wait_for

ROOT = Path(__file__).parents[3]
LAUNCH = ROOT / "launch"
needs_launch = pytest.mark.skipif(
    importlib.util.find_spec("launch_ros") is None,
    reason="launch_ros is not installed (it is part of a full ROS 2, not of its wheels)",
)
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
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource
source = PythonLaunchDescriptionSource(sys.argv[1])
arguments = [argument.split(":=") for argument in sys.argv[2:]]
service = LaunchService()
service.include_launch_description(
    LaunchDescription([IncludeLaunchDescription(source, launch_arguments=arguments)]))
sys.exit(service.run())
"""


class Launch:
    """A launch file at work, in a process group of its own."""

    def __init__(self, file: str, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", RUNNER, str(LAUNCH / file), *arguments],
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


@needs_launch
@pytest.mark.ros
def test_a_session_is_recorded_by_one_launch(session: list[str], tmp_path: Path) -> None:
    launch = Launch("record.launch.py", *session)
    said = launch.end()
    assert launch.process.returncode == 0, said
    assert "1 run recorded" in said
    assert (tmp_path / "bags" / RUN / "metadata.yaml").is_file()
    assert "has died" not in said
    assert "[ERROR]" not in said  # driver and virtual bench get their signal at once


@needs_launch
@pytest.mark.ros
def test_a_session_of_a_virtual_erob_is_recorded_by_one_launch(tmp_path: Path, ros_domain: int) -> None:
    file = tmp_path / "session.yaml"
    file.write_text(EROB_SESSION)
    arguments = ["driver:=erob", "virtual:=true", f"interface:=la{os.getpid()}", f"session:={file}"]
    launch = Launch("record.launch.py", *arguments, f"output:={tmp_path / 'bags'}")
    said = launch.end()
    if "CAP_" in said:
        skip_or_fail(said)
    assert launch.process.returncode == 0, said
    assert "1 run recorded" in said
    assert (tmp_path / "bags" / EROB_RUN / "metadata.yaml").is_file()
    assert "has died" not in said


@needs_launch
@pytest.mark.ros
def test_ctrl_c_ends_a_launch_with_the_bag_readable(session: list[str], tmp_path: Path) -> None:
    launch = Launch("record.launch.py", *session)
    bag = tmp_path / "bags" / RUN
    wait_for(lambda: sum(file.stat().st_size for file in bag.glob("*.mcap")) > 20_000, what="data")
    os.killpg(launch.process.pid, signal.SIGINT)  # as a terminal does
    said = launch.end()
    assert str(RecordingEnded(kind="node")) in said
    assert "Traceback" not in said
    assert "[ERROR]" not in said
    assert not (bag / "metadata.yaml").exists()


@needs_launch
@pytest.mark.ros
def test_a_missing_port_ends_the_launch_with_its_cause(tmp_path: Path, ros_domain: int) -> None:
    words = (f"port:={tmp_path}/none", f"output:={tmp_path}", "wait_for_device:=0.0")
    said = Launch("record.launch.py", *words).end()
    assert str(explain_port_error(f"{tmp_path}/none", FileNotFoundError())) in said
    assert "Traceback" not in said


@needs_launch
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


@needs_launch
@pytest.mark.ros
def test_the_demo_is_the_command_of_this_name(ros_domain: int, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert "bam demo: " in Launch("demo.launch.py", f"output:={tmp_path / 'file'}").end()
