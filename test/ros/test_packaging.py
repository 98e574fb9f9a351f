# SPDX-License-Identifier: Apache-2.0
"""package.xml, CMakeLists.txt and requirements say the same of what this package needs, and its tests."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bam_core.mujoco.native import plugin_path

ROOT = Path(__file__).parents[2]
KEYS = {
    "jinja2": "python3-jinja2",
    "matplotlib": "python3-matplotlib",
    "mujoco": "python3-mujoco-pip",
    "numba": "python3-numba",
    "numpy": "python3-numpy",
    "packaging": "python3-packaging",
    "rosbags": "python3-rosbags-pip",
    "scipy": "python3-scipy",
    "serial": "python3-serial",
    "tqdm": "python3-tqdm",
    "yaml": "python3-yaml",
}
"""Python module -> rosdep key, where the name of the package is another."""
NAMES = {"PyYAML": "yaml", "pyserial": "serial"}
"""Package of the Python index -> module."""
PACKAGES = {"scservo_sdk": "ftservo-python-sdk"}
"""Modules whose package has another name."""
WITH_OTHERS = {"PIL", "lz4", "markupsafe", "sqlalchemy", "zstandard"}
"""Modules that come with matplotlib, mcap, jinja2 and optuna."""
OF_EXTRAS = {
    "bam_core/exchange/training/mjlab_actuator.py": {"mjlab", "torch", "warp"},
    "bam_core/exchange/training/warp_port.py": {"warp"},
    "bam_core/mujoco/warp/functions.py": {"warp"},
    "bam_core/mujoco/warp/kernels.py": {"warp"},
    "bam_core/mujoco/warp/servos.py": {"warp"},
}
"""Modules of files that only programs with an extra import."""


@pytest.fixture
def manifest() -> ElementTree.Element:
    return ElementTree.parse(ROOT / "package.xml").getroot()


def test_the_manifest_is_what_bloom_reads(manifest: ElementTree.Element) -> None:
    assert manifest.get("format") == "3"
    for licence in manifest.iter("license"):
        assert licence.text == "Apache-2.0"
        assert (ROOT / (licence.get("file") or "")).is_file()


def needed(manifest: ElementTree.Element) -> set[str]:
    """Keys of what has to be there when nodes run."""
    return {each.text or "" for tag in ("depend", "exec_depend") for each in manifest.iter(tag)}


def required(*files: str) -> set[str]:
    """Modules of the packages that files of requirements name."""
    lines = [line for file in files for line in (ROOT / "requirements" / file).read_text().splitlines()]
    names = {re.split(r"[<>=\[ #]", line)[0] for line in lines} - {""}
    return {NAMES.get(name, name) for name in names}


def without_key() -> set[str]:
    """Modules of which package.xml says that they have no key."""
    (names,) = re.findall(r"No rosdep key exists for (.*?):", (ROOT / "package.xml").read_text(), re.DOTALL)
    return set(re.split(r",\s*|\s+and\s+", " ".join(names.split())))


def imported() -> set[str]:
    """Modules of others that ours import when they are imported; what they import later may be an extra."""
    found = set()
    for package in ("bam_core", "bam_ros", "launch"):
        for file in (ROOT / package).rglob("*.py"):
            modules = set()
            for node in ast.parse(file.read_text()).body:
                if isinstance(node, ast.Import):
                    modules |= {each.name.split(".")[0] for each in node.names}
                elif isinstance(node, ast.ImportFrom):
                    modules.add(str(node.module).split(".")[0])
            found |= modules - OF_EXTRAS.get(str(file.relative_to(ROOT)), set())
    return found - set(sys.stdlib_module_names) - {"bam_core", "bam_ros", "bam_bench", "__future__"}


def test_every_required_package_has_its_key_or_is_said_to_have_none(manifest: ElementTree.Element) -> None:
    modules = required("core.in", "ros.in")
    assert without_key() <= modules
    assert {KEYS.get(module, module) for module in modules - without_key()} <= needed(manifest)


def test_every_imported_module_is_declared(manifest: ElementTree.Element) -> None:
    modules = {PACKAGES.get(module, module) for module in imported()} - without_key() - WITH_OTHERS
    assert {KEYS.get(module, module) for module in modules} <= needed(manifest)


def test_what_launch_files_start_is_declared(manifest: ElementTree.Element) -> None:
    started = {
        package
        for file in (ROOT / "launch").glob("*.launch.py")
        for package in re.findall(r'package="(\w+)"', file.read_text())
    }
    assert {"robot_state_publisher", "rviz2", "tf2_ros"} <= started <= needed(manifest)


def test_colcon_test_runs_what_make_test_runs() -> None:
    def commands(text: str) -> set[str]:
        """Words of pytest or of our runner, without how many processes and where the results go."""
        runs = re.findall(r"(?:pytest|tools/test_ros\.py)[^\n]*(?:\n\s+--junit[^\n]*)?", text)
        return {
            re.sub(r"\s*(-n 2 --dist loadfile --no-loadscope-reorder|--junit-xml=\S+)", "", run).strip()
            for run in runs
        }

    makefile = (ROOT / "Makefile").read_text()
    (target,) = re.findall(r"^test: .*\n((?:\t.*\n)+)", makefile, re.MULTILINE)
    (tests_of_core,) = re.findall(r"^CORE_TESTS := (.*)$", makefile, re.MULTILINE)
    target = target.replace("$(CORE_TESTS)", tests_of_core)
    cmake = (ROOT / "CMakeLists.txt").read_text().partition("if(BUILD_TESTING)")[2]
    tests = re.findall(r"COMMAND \$\{Python3_EXECUTABLE\} (.*?)\n\s+WORKING_DIRECTORY", cmake, re.DOTALL)
    assert commands("\n".join(tests)) == commands(target) != set()


def test_ros2_run_lists_nodes_alone() -> None:
    from ament_index_python.packages import get_package_prefix

    directory = Path(get_package_prefix("bam_bench"), "lib", "bam_bench")
    listed = {each.name for each in directory.rglob("*") if each.is_file() and os.access(each, os.X_OK)}
    named = re.findall(r"^add_executable_node\((\w+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert listed == set(named)


def test_the_index_names_the_directory_of_the_engine_plugin() -> None:
    from ament_index_python.resources import get_resource

    content, prefix = get_resource("mujoco_plugins", "bam_bench")
    (library,) = Path(prefix, content).glob("*.so")
    assert library == plugin_path()
    assert f"install/bam_bench/{content}/{library.name}" in (ROOT / "docs/how-to/mujoco.md").read_text()
