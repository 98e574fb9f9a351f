# SPDX-License-Identifier: Apache-2.0
"""Files that a launch gives its nodes to read: they are gone when the process that launches has gone."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


def memory_file(text: str) -> Path:
    """Return the path of a new file in memory that only this user can read, while this process lives.

    A directory in /tmp would stay after SIGTERM, at which `ros2 launch` ends without executing anything more,
    and after SIGKILL. Nobody can write to the file, since that would be lost: RViz's "Save Config" asks for
    another file then.
    """
    # Nobody closes it, and programs that are started lack it.
    descriptor = os.memfd_create("bam_bench", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    path = Path(f"/proc/{os.getpid()}/fd/{descriptor}")
    path.write_text(text, encoding="utf-8")
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)
    return path
