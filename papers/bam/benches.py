# SPDX-License-Identifier: Apache-2.0
"""Recordings of real servos on pendulum benches, divided into training and test logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bam_core.errors import Missing
from bam_core.recordings import load_recordings
from bam_core.recordings.recording import Recording
from bam_core.recordings.trajectories import SCRIPTS

STS3215_ARM_MASS = {0.1: 0.036, 0.15: 0.05}
"""Length, m -> mass of the arm, kg: said by those who recorded, missing in their files."""

_STS3215_SUPPLY = 12.0  # V; the files say 15 V, which is a default of the recorder; readings are about 12 V
_TRAIN, _TEST = (0, 2), (4,)  # of every five numbers

Division = tuple[list[Recording], list[Recording]]
"""Training and test logs."""


def xl330_divisions(folder: Path) -> list[Division]:
    """Return four divisions of the XL330's logs into three quarters and a quarter; each log is tested once.

    A test set has one log of each gain, each of another script: gain i and script j are in set (i + j) mod 4.
    """
    logs = load_recordings(folder)
    gains, scripts = sorted({log.kp for log in logs}), list(SCRIPTS)
    groups = [(gains.index(log.kp) + scripts.index(log.script)) % 4 for log in logs]
    return [
        (
            [log for log, group in zip(logs, groups, strict=True) if group != test],
            [log for log, group in zip(logs, groups, strict=True) if group == test],
        )
        for test in range(4)
    ]


def sts3215_division(folder: Path) -> Division:
    """Return about sixty training and thirty test logs of the STS3215: paper's scripts, first repetitions.

    A log's number is the sum of its places among the masses, lengths, gains and scripts that there are. Of
    every five numbers two are training logs and one is a test log: each mass, length, gain and script is in
    both sets, no condition is in both.
    """
    paths = [
        path
        for path in sorted(folder.glob("*_0.json"))
        if any(path.stem.removesuffix("_0").endswith(f"_{script}") for script in SCRIPTS)
    ]
    if not paths:
        raise Missing(str(folder), "logs such as m0.535_l0.100_kp04_sin_sin_0.json", advice="give them")
    conditions = [_condition(path) for path in paths]
    values = [sorted(set(column)) for column in zip(*conditions, strict=True)]
    numbers = [
        sum(of.index(value) for of, value in zip(values, condition, strict=True)) for condition in conditions
    ]
    train = [path for path, number in zip(paths, numbers, strict=True) if number % 5 in _TRAIN]
    test = [path for path, number in zip(paths, numbers, strict=True) if number % 5 in _TEST]
    return _load_sts3215(train), _load_sts3215(test)


def _condition(path: Path) -> tuple[str, str, str, str]:
    """Return mass, length, gain and script of a name such as m0.535_l0.100_kp04_sin_sin_0."""
    mass, length, gain, script = path.stem.removesuffix("_0").split("_", 3)
    return mass, length, gain, script


def _load_sts3215(paths: Sequence[Path]) -> list[Recording]:
    logs = load_recordings(paths, set_fields={"vin": _STS3215_SUPPLY})
    return [
        replace(log, bench=replace(log.bench, arm_mass=STS3215_ARM_MASS[log.bench.length])) for log in logs
    ]
