# SPDX-License-Identifier: Apache-2.0
"""Recording sessions: scripts x gains x loads, one bag per run.

A user runs `ros2 launch bam_bench record.launch.py`, or `bam record --session my_session.yaml`.
"""

from __future__ import annotations

from bam_ros.recorder.errors import RecordingStopped
from bam_ros.recorder.session import PlannedRun, Session
from bam_ros.recorder.session_file import load_session

__all__ = ["PlannedRun", "RecordingStopped", "Session", "load_session"]
