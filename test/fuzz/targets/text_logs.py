# SPDX-License-Identifier: Apache-2.0
"""Runs of robots as CSV, runs in open loop as text: samples that are finite and in order, or one line."""

from __future__ import annotations

import numpy as np

from bam_core.recordings.header_corrections import Rule
from bam_core.recordings.open_loop_text import read_open_loop_text
from bam_core.robot.csv_run import read_csv_run
from bam_core.robot.run import RobotRun
from bam_core.robot.sage_run import read_sage_run
from test.fuzz.target import FILES, Target, attempt, file, folder

_LOAD = (Rule(set={"inertia": 0.004}, source="--set"),)


def check(data: bytes) -> None:
    if data[:1] <= b"\x80":
        if data[:1] <= b"\x60":
            run = attempt(lambda: read_csv_run(file("run.csv", data[1:])))
        else:
            run = attempt(lambda: _sage_run(data[1:]))
        if run is not None:
            assert np.all(np.isfinite(run.position))
            assert np.all(np.isfinite(run.goal_position))
            assert np.all(np.diff(run.time) > 0.0)
            assert np.all(np.isfinite(run.time))
    else:
        for run in attempt(lambda: read_open_loop_text(file("run.txt", data[1:]), rules=_LOAD)) or ():
            assert np.all(np.isfinite(run.position))
            assert np.all(np.diff(run.time) > 0.0)


def _sage_run(content: bytes) -> RobotRun:
    """Read a run of SAGE whose three files are one after another."""
    names = (b"control.csv", b"state_motor.csv", b"joint_list.txt")
    for name, part in zip(names, (*content.split(b"\0", 2), b"", b""), strict=False):
        file(name.decode(), part)
    return read_sage_run(folder())


def seeds() -> list[bytes]:
    """Return small runs of both kinds."""
    csv = b"time,goal:a,read:a,kp,vin\n0.0,0.1,0.0,32,12\n0.01,0.2,0.1,32,12\n0.02,0.2,0.2,32,12\n"
    text = b"StartOfNewTest 0\nTime Command Position Speed\n" + b"".join(
        b"%d %d %d %d\n" % (10 * i, 300, 100 + 3 * i, 300) for i in range(12)
    )
    goals = b"type,timestamp,positions\n" + b"".join(
        b'CONTROL,%d,"[0.1, %f]"\n' % (20000 * i, 0.01 * i) for i in range(6)
    )
    return [
        b"\x70" + goals + b"\0" + goals + b"\0a\nb\n",
        b"\0# by hand\n" + csv.replace(b",", b";"),
        b"\0" + csv,
        b"\0" + csv.replace(b",kp,vin", b""),
        b'\0"a""\n',
        b"\xff" + text,
        b"\xff" + text + text,
    ]


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_core.robot.csv_columns",
        "bam_core.robot.run",
        "bam_core.robot.sage_run",
        "bam_core.recordings.open_loop_text",
        "bam_core.recordings.bad_readings",
        "bam_core.recordings.recording",
    ),
    longest=1500,
    runs=FILES,
)
