# SPDX-License-Identifier: Apache-2.0
"""Servo files of strangers: a servo that survives being written and read again, or one line."""

from __future__ import annotations

from pathlib import Path

import bam_core
from bam_core.servo.model import load_servo
from test.fuzz.target import FILES, Target, attempt, file

_SERVOS = Path(bam_core.__file__).parent / "servos"


def check(data: bytes) -> None:
    servo = attempt(lambda: load_servo(file("servo.yaml", data)))
    if servo is not None and len(data) % 8 == 0:  # writing takes as long as eight inputs
        again = load_servo(file("again.yaml", servo.to_yaml().encode()))
        assert again == servo, "written and read again it is another servo"


def seeds() -> list[bytes]:
    """Return servos of the library, without comments and what repeats."""
    found = []
    for name in ("mx106", "xl330", "erob80_100", "published/xl320"):
        lines = (_SERVOS / f"{name}.yaml").read_text().splitlines()
        short = [line.split("  #")[0].rstrip() for line in lines if not line.startswith("#")]
        short = [line for line in short if "sha" not in line and len(line) < 90]
        found.append("\n".join(short).encode())
    found += [b"&a [*a]", b"a: &a [1]\nb: [*a, *a]", b"name: !!timestamp x", b"name: 1:1:1", b"{" * 60]
    found.append(b"bench_effects: {zero_offset: 0.1}")
    return found


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_core.servo.servo_file",
        "bam_core.files.typed",
        "bam_core.servo.model",
        "bam_core.files.yaml_file",
        "bam_core.servo.firmware",
        "yaml",
    ),
    runs=FILES,
)
