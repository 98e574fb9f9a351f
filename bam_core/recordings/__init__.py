# SPDX-License-Identifier: Apache-2.0
"""Recordings from disk: BAM's JSON logs and our rosbag2/MCAP bags."""

from __future__ import annotations

from bam_core.recordings.bag import read_bag
from bam_core.recordings.discovery import find_sources
from bam_core.recordings.json_log import read_json_log
from bam_core.recordings.load import load_recordings

__all__ = ["find_sources", "load_recordings", "read_bag", "read_json_log"]
