# SPDX-License-Identifier: Apache-2.0
"""Packages come from where pip is told to get them, whoever installs them."""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

ROOT = Path(__file__).parents[2]
FAKE_UV = """\
import json, os, sys
if os.environ.get("FAKE_UV_FAILS"):
    sys.exit("error: no route to the index")
print("uv", *sys.argv[1:])
"""


@pytest.fixture
def tool() -> SimpleNamespace:
    return SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "install_packages.py")))


def test_settings_of_pip_reach_uv(tool: SimpleNamespace) -> None:
    listed = (
        ":env:.find-links='/one /two'\n"
        "global.extra-index-url='\\nhttps://a/simple\\nhttps://b/simple'\n"
        "global.index-url='https://mirror/simple'\n"
        "global.find-links='/overridden'\n"
        "global.trusted-host='mirror'\n"
        "install.timeout='7'\n"
        "download.index-url='https://elsewhere/simple'\n"
        "a line of another kind\n"
    )
    environment = tool.uv_environment(tool.pip_settings(listed), {"PATH": "/bin"})
    assert environment["UV_DEFAULT_INDEX"] == "https://mirror/simple"
    assert environment["UV_EXTRA_INDEX_URL"] == "https://a/simple https://b/simple"
    assert environment["UV_FIND_LINKS"] == "/one,/two"
    assert environment["UV_INSECURE_HOST"] == "mirror"
    assert environment["UV_HTTP_TIMEOUT"] == "7"
    assert environment["PATH"] == "/bin"


def test_a_command_of_pip_counts_more_than_all_commands_and_the_environment_most(
    tool: SimpleNamespace,
) -> None:
    listed = "install.timeout='2'\nglobal.timeout='1'\n"
    assert tool.pip_settings(listed) == {"timeout": ["2"]}
    assert tool.pip_settings(":env:.timeout='3'\n" + listed) == {"timeout": ["3"]}


def test_what_is_said_to_uv_itself_counts_more(tool: SimpleNamespace) -> None:
    settings = {"index-url": ["https://mirror/simple"]}
    assert tool.uv_environment(settings, {"UV_DEFAULT_INDEX": "mine"})["UV_DEFAULT_INDEX"] == "mine"


def test_certificates_that_pip_would_use_are_used(tool: SimpleNamespace) -> None:
    bundle = {"REQUESTS_CA_BUNDLE": "/bundle"}
    assert tool.uv_environment({}, bundle)["SSL_CERT_FILE"] == "/bundle"
    assert tool.uv_environment({"cert": ["/own"]}, bundle)["SSL_CERT_FILE"] == "/own"


@pytest.mark.parametrize("name", ["only-binary", "require-hashes", "no-index", "target"])
def test_a_setting_that_uv_would_not_heed_leaves_the_work_to_pip(name: str, tool: SimpleNamespace) -> None:
    with pytest.raises(tool.NotForUvError):
        tool.uv_environment({name: [":all:"]}, {})


@pytest.mark.parametrize(("value", "seen"), [("true", True), ("false", False)])
def test_packages_of_the_system_are_seen_by_pip_alone(
    value: str, seen: bool, tool: SimpleNamespace, tmp_path: Path
) -> None:
    (tmp_path / "pyvenv.cfg").write_text(f"home = /usr/bin\ninclude-system-site-packages = {value}\n")
    assert tool.sees_system_packages(tmp_path) is seen


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with an environment in which uv is a program that prints its arguments, and pip is none."""
    root = tmp_path / "checkout"
    for name in ("tools/install_packages.py", "requirements/lock.txt"):
        (root / name).parent.mkdir(parents=True)
        (root / name).write_text((ROOT / name).read_text())
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root / ".venv"], check=True)
    (packages,) = (root / ".venv" / "lib").glob("python3*/site-packages")
    (packages / "uv.py").write_text(FAKE_UV)
    (packages / "pip.py").write_text("import sys\nprint('pip', *sys.argv[1:])\n")
    return root


def install(checkout: Path, **variables: str) -> tuple[subprocess.CompletedProcess[str], str]:
    """Install what a file names; return the ended process, and its log."""
    command = [checkout / ".venv" / "bin" / "python", "tools/install_packages.py", "requirements/core.in"]
    environment = {**os.environ, **variables}
    ended = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True)
    return ended, (checkout / "log" / "setup.txt").read_text()


def test_uv_installs_within_the_lock_and_says_nothing(checkout: Path) -> None:
    ended, log = install(checkout)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    (line,) = log.splitlines()
    assert line.split()[:3] == ["uv", "pip", "install"]
    assert line.endswith(f"-r requirements/core.in -c {checkout}/requirements/lock.txt")


def test_pip_installs_the_same_where_uv_fails(checkout: Path) -> None:
    ended, log = install(checkout, FAKE_UV_FAILS="1")
    assert ended.returncode == 0
    (said,) = ended.stderr.splitlines()
    assert "route" in said
    line = log.splitlines()[-1]
    assert line.startswith("pip")
    assert line.endswith(f"-r requirements/core.in -c {checkout}/requirements/lock.txt")


def test_numpy_of_a_sourced_ros_stays(checkout: Path) -> None:
    (checkout / ".venv" / "constraints.txt").write_text("numpy==1.26.4\n")
    assert install(checkout)[1].rstrip().endswith(f"-c {checkout}/.venv/constraints.txt")


def test_files_of_wheels_are_replaced_not_written_through_their_links(tmp_path: Path) -> None:
    """uv links files of its cache into the environment."""
    root = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", root], check=True)
    cached = tmp_path / "cached.cmake"
    text = 'set(includes "/opt/python/cp311-cp311/include/python3.11")\n'
    cached.write_text(text)
    linked = root / "share" / "package" / "export.cmake"
    linked.parent.mkdir(parents=True)
    os.link(cached, linked)
    (packages,) = (root / "lib").glob("python3*/site-packages")
    (packages / "numpy.py").write_text("def get_include():\n    return '/numpy'\n")
    subprocess.run([root / "bin" / "python", ROOT / "tools" / "ros_wheels.py"], check=True)
    assert "/opt/python" not in linked.read_text()
    assert cached.read_text() == text
