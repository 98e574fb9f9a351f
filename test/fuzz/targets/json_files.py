# SPDX-License-Identifier: Apache-2.0
"""JSON of others: logs and parameters of BAM, intervals, calibrations, datasets, predictions."""

from __future__ import annotations

import json

import numpy as np

from bam_core.exchange.bam_parameters import read_bam_parameters
from bam_core.identification.uncertainty.prediction_file import load_prediction, prediction_path
from bam_core.recordings.json_log import read_json_log
from bam_core.report.summary_file import Summary, read_summary
from bam_core.robot.lerobot_dataset import _info
from bam_core.robot.lerobot_units import load_calibration
from bam_core.robot.load import _intervals
from test.fuzz.target import FILES, Target, attempt, file, folder

_SERVO_FILE = "predicted.yaml"


def check(data: bytes) -> None:
    kind, content = (data[0] if data else 0) % 8, data[1:]
    match kind:
        case 0 | 1 | 2:
            recording = attempt(lambda: read_json_log(file("log.json", content)))
            if recording is not None:
                assert np.all(np.isfinite(recording.position))
                assert np.all(np.diff(recording.time) > 0.0)
        case 3:
            attempt(lambda: read_bam_parameters(file("parameters.json", content)))
        case 4:
            for first, last in (attempt(lambda: _intervals(file("intervals.json", content))) or {}).values():
                assert first < last
        case 5:
            attempt(lambda: load_calibration(file("calibration.json", content)))
        case 6:
            (folder() / "meta").mkdir(exist_ok=True)
            file("meta/info.json", content)
            attempt(lambda: _info(folder()))
        case _:
            place = prediction_path(folder() / _SERVO_FILE)
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(content)
            attempt(lambda: load_prediction(folder() / _SERVO_FILE))
            file("summary.json", content)
            attempt(lambda: read_summary(folder(), Summary))


def seeds() -> list[bytes]:
    """Return one of each kind."""
    entries = [
        {
            "position": 0.1 * i,
            "speed": 1.0,
            "load": 3,
            "input_volts": 15.0,
            "temp": 30,
            "timestamp": 0.01 * i,
            "goal_position": 0.1 * i,
            "torque_enable": True,
        }
        for i in range(4)
    ]
    log = {"mass": 0.5, "arm_mass": 0.01, "length": 0.1, "kp": 32, "vin": 15.0, "motor": "mx106"}
    log |= {"trajectory": "sin_sin", "entries": entries}
    parameters = {"model": "m1", "actuator": "mx106", "kt": 1.0, "R": 2.0, "armature": 0.01, "q_offset": 0.0}
    parameters |= {"friction_base": 0.1, "friction_viscous": 0.1}
    prediction = {"ranges": {"kt": [0.0, 1.0]}, "factor": [[1.0]], "inflation": 1.0, "residual": 0.1}
    summary = {"models": {"m1": {"train_mae": 0.1, "trials": 3}}, "chosen": "m1", "servo": "mx106"}
    contents: list[tuple[int, object]] = [
        (0, log),
        (0, {**log, "entries": entries[:1]}),
        (0, {**log, "motor": "erob80_100", "damping": 2.0}),
        (3, parameters),
        (4, {"squat.csv": [1.5, 5.0]}),
        (5, {"a": {"range_min": 10, "range_max": 400, "drive_mode": 1}}),
        (6, {"codebase_version": "v3.0", "features": {}}),
        (7, {**prediction, "residual_alone": 0.2}),
        (7, summary),
    ]
    odd = [
        b"[" * 3000,
        b'{"a": ' + b"9" * 5000 + b"}",
        b'{"a": 1e999}',
        b'{"a": NaN}',
        b"\xff\xfe",
        b"9" * 400,
    ]
    return [bytes((kind,)) + json.dumps(each).encode() for kind, each in contents] + [
        bytes((kind,)) + each for kind in range(8) for each in odd
    ]


TARGET = Target(
    check=check,
    seeds=seeds,
    modules=(
        "bam_core.recordings.json_log",
        "bam_core.recordings.recording",
        "bam_core.recordings.bad_readings",
        "bam_core.exchange.bam_parameters",
        "bam_core.robot.lerobot_dataset",
        "bam_core.robot.lerobot_units",
        "bam_core.robot.load",
        "bam_core.identification.uncertainty.prediction_file",
        "bam_core.report.summary_file",
        "bam_core.files.typed",
        "json",
    ),
    longest=3000,
    runs=FILES,
)
