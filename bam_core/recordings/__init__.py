# SPDX-License-Identifier: Apache-2.0
"""Recordings from disk: rosbag2/MCAP bags, BAM's JSON logs, and runs in open loop as text.

A user passes files or directories to a command, or calls `load_recordings("recordings")`.
"""

from __future__ import annotations

from bam_core.recordings.bag import read_bag
from bam_core.recordings.discovery import find_sources
from bam_core.recordings.json_log import read_json_log
from bam_core.recordings.load import load_recordings, load_usable
from bam_core.recordings.open_loop_text import read_open_loop_text

__all__ = [
    "find_sources",
    "load_recordings",
    "load_usable",
    "read_bag",
    "read_json_log",
    "read_open_loop_text",
]
