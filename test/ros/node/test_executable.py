# SPDX-License-Identifier: Apache-2.0
"""Executables of `ros2 run`: a missing Python module is one line with the cure."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from bam_ros.text.missing_module import missing_module

ROOT = Path(__file__).parents[3]


@pytest.fixture
def executable(tmp_path: Path) -> Path:
    """An executable as CMake writes it, of a module beside it."""
    text = (ROOT / "resource" / "node.in").read_text()
    values = {"Python3_EXECUTABLE": sys.executable, "name": "recorder", "node_module": "given"}
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    file = tmp_path / "recorder"
    file.write_text(text.replace("bam_ros.given", "given"))
    file.chmod(0o755)
    return file


def ran(executable: Path, module: str) -> subprocess.CompletedProcess[str]:
    """Run the executable of a module of this text."""
    (executable.parent / "given.py").write_text(module)
    return subprocess.run([executable], cwd=executable.parent, capture_output=True, text=True)


@pytest.mark.parametrize("where", ["import no_such_module\n", "def main():\n    import no_such_module\n"])
def test_a_missing_module_is_one_line_with_the_cure(executable: Path, where: str) -> None:
    ended = ran(executable, where)
    assert ended.returncode == 2
    assert ended.stderr == missing_module("recorder", "no_such_module") + "\n"


@pytest.mark.parametrize("module", ["serial", "rclpy", "sensor_msgs", "bam_bench"])
def test_a_part_of_a_missing_module_is_named_by_the_module(executable: Path, module: str) -> None:
    ended = ran(executable, f"import sys\nsys.modules[{module!r}] = None\nimport {module}.part\n")
    assert ended.returncode == 2
    assert ended.stderr == missing_module("recorder", module) + "\n"


def test_a_mistake_of_ours_keeps_its_traceback(executable: Path) -> None:
    ended = ran(executable, "import bam_ros.no_such_module\n")
    assert ended.returncode == 1
    assert "Traceback" in ended.stderr


@pytest.mark.parametrize(("returned", "status"), [("0", 0), ("3", 3), ("None", 0)])
def test_the_status_is_that_of_the_module(executable: Path, returned: str, status: int) -> None:
    assert ran(executable, f"def main():\n    return {returned}\n").returncode == status


@pytest.fixture
def usual_ctrl_c() -> Iterator[None]:
    """As in a terminal: what a script runs in the background ignores SIGINT, and so do its children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("usual_ctrl_c")
def test_ctrl_c_ends_it_while_modules_are_imported_that_catch_everything(executable: Path) -> None:
    """Python would raise KeyboardInterrupt, which such a module drops."""
    ended = ran(
        executable,
        """\
import os, signal, time
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1.0)
except BaseException:
    pass

def main():
    return 7
""",
    )
    assert ended.returncode == -signal.SIGINT
    assert ended.stderr == ""


@pytest.mark.usefixtures("usual_ctrl_c")
def test_ctrl_c_is_as_usual_once_all_is_imported(executable: Path) -> None:
    usual = "signal.getsignal(signal.SIGINT) is signal.default_int_handler"
    usual = f"import signal\ndef main():\n    return {usual}"
    assert ran(executable, usual).returncode == 1


def test_without_the_sourced_package_it_says_what_to_source(executable: Path) -> None:
    file = executable.parent / "run.py"
    file.write_text(f"import sys\nsys.modules['bam_ros'] = None\n{executable.read_text()}")
    ended = subprocess.run([sys.executable, file], capture_output=True, text=True)
    assert ended.returncode == 1
    (line,) = ended.stderr.splitlines()
    assert line.startswith("recorder: ")
    assert "source install/setup.bash" in line
