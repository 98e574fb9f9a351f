# SPDX-License-Identifier: Apache-2.0
"""Make the CMake files of the ROS 2 wheels name this machine's directories.

The wheels were built elsewhere and their exported targets carry that machine's include directories of Python
and numpy, which CMake rejects as missing. Run inside the virtual environment that holds the wheels.
"""

from __future__ import annotations

import re
import sys
import sysconfig
from pathlib import Path

import numpy

PYTHON_INCLUDE = re.compile(r"/opt/python/cp\d+-cp\d+t?/include/python3\.\d+t?")
NUMPY_INCLUDE = re.compile(r"/opt/python/cp\d+-cp\d+t?/lib/python3\.\d+t?/site-packages/numpy/_?core/include")


def main() -> int:
    """Rewrite every CMake file below the environment's prefix; running it again changes nothing."""
    python_include = sysconfig.get_path("include")
    for path in (Path(sys.prefix) / "share").rglob("*.cmake"):
        before = path.read_text(errors="surrogateescape")
        after = NUMPY_INCLUDE.sub(lambda _: numpy.get_include(), before)
        after = PYTHON_INCLUDE.sub(lambda _: python_include, after)
        if after != before:
            path.unlink()  # it may be one with the file in uv's cache, which other environments get
            path.write_text(after, errors="surrogateescape")
    return 0


if __name__ == "__main__":
    sys.exit(main())
