# SPDX-License-Identifier: Apache-2.0
"""The engine plugin of a copied tree, compiled beside its Python code as in the wheel."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

LIBRARY = Path("bam_core", "mujoco", "native", "libbam_servo.so")
"""Relative to the tree; it is looked for there before anywhere else."""

_COMPILE = """
import runpy, sys, setuptools
from pathlib import Path
setuptools.setup = lambda **_: None  # setup.py says how to compile; nothing is to be installed
runpy.run_path("setup.py")["compile_plugin"](Path(sys.argv[1]))
"""


def build_engine(tree: Path) -> bool:
    """Compile the plugin of a tree; return whether that worked."""
    command = [sys.executable, "-c", _COMPILE, str(LIBRARY)]
    environment = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    return (
        subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False).returncode == 0
    )
