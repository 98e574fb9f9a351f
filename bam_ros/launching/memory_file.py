# SPDX-License-Identifier: Apache-2.0
"""Files that a launch gives its nodes to read: they are gone when the process that launches has gone."""

from __future__ import annotations

import os
from pathlib import Path


def memory_file(text: str) -> Path:
    """Return the path of a new file in memory that only this user can read, while this process lives.

    A directory in /tmp would stay after SIGTERM, at which `ros2 launch` ends without executing anything more,
    and after SIGKILL.
    """
    descriptor = os.memfd_create("bam_bench")  # nobody closes it, and programs that are started lack it
    path = Path(f"/proc/{os.getpid()}/fd/{descriptor}")
    path.write_text(text, encoding="utf-8")
    return path
