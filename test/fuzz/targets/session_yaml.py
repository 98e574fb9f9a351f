# SPDX-License-Identifier: Apache-2.0
"""Session files: a session whose runs can be listed, or one line."""

from __future__ import annotations

from pathlib import Path

from bam_ros.recorder.session_file import load_session
from test.fuzz.target import FILES, Target, attempt, file

_SESSIONS = Path(__file__).parents[3] / "config" / "sessions"


def check(data: bytes) -> None:
    session = attempt(lambda: load_session(file("session.yaml", data)))
    if session is not None:
        assert session.runs()


def seeds() -> list[bytes]:
    """Return the sessions that come along, without comments."""
    found = []
    for path in sorted(_SESSIONS.glob("*.yaml")):
        lines = [line.split("  #")[0].rstrip() for line in path.read_text().splitlines()]
        found.append("\n".join(line for line in lines if not line.startswith("#")).encode())
    found.append(
        b"servo: mx106\nsupply_voltage: 15\nloads: [{mass: 1, length: 0.1}]\ngains: [8]\n"
        b"repetitions: 999999999\n"
    )
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=("bam_ros.recorder.session_file", "bam_ros.recorder.session", "bam_core.files.yaml_file"),
    longest=1200,
    runs=FILES,
)
