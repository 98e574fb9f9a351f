# SPDX-License-Identifier: Apache-2.0
"""The command that films a run of a robot, with what an identification keeps of what it was given."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable
from dataclasses import dataclass

from bam_core.report.robot_results import RobotModel, RobotResults


@dataclass(frozen=True, kw_only=True)
class FilmCommand:
    """A command for a shell: `start`, the run, `end`.

    Attributes:
        start: up to the name of the run.
        run: its name, for a shell.
        end: what follows.
        remark: what is in capitals in it, and must be put in.
    """

    start: str
    run: str
    end: str
    remark: str


def film_command(results: RobotResults, model: RobotModel, run: str) -> FilmCommand:
    """Return the command of a run, simulated with a model.

    A result has neither the path of the robot nor those of its recordings, and servos only of joints that
    count: a joint that was left out (`--joints '!head*'`) may have one, and would hang loose without it.
    """
    servos = _servos(results, model)
    unknown = ["ROBOT", *([] if servos else ["SERVOS"]), "LOGS"]
    files = [str(results.directory / f"{servo.name}_{model.name}.yaml") for servo in model.servos.values()]
    words = [
        *("bam", "robot", "validate", "--robot", "ROBOT", "--servos", servos or "SERVOS"),
        *(("--root", results.root) if results.root else ()),
        *_same("--vin", (_text(run.supply.used) for run in results.runs.values())),
        *_same("--kp", (run.kp for run in results.runs.values())),
        *_same("--kd", (_unless_zero(run.kd) for run in results.runs.values())),
        *_same("--ki", (_unless_zero(run.ki) for run in results.runs.values())),
        *("--params", *dict.fromkeys(files), "--film", "film.gif", "--run"),
    ]
    return FilmCommand(
        start=shlex.join(words),
        run=shlex.quote(run),
        end="LOGS",
        remark=f"For {', '.join(unknown[:-1])} and {unknown[-1]} put what bam robot identify was given, "
        "and add its options about runs (--interval, --map, --unit), if any: results do not keep them.",
    )


def _servos(results: RobotResults, model: RobotModel) -> str:
    """Return what --servos takes; empty where joints beside those that count have servos."""
    driven = {name.removeprefix("zero ") for name in model.deviations if name.startswith("zero ")}
    if driven != set(results.joints):
        return ""
    return ",".join(f"{joint}={servo}" for joint, servo in results.joints.items())


def _same(option: str, values: Iterable[str]) -> tuple[str, ...]:
    """Return an option that is the same for all runs; where it differs, recordings have it."""
    distinct = set(values)
    value = distinct.pop()
    return () if distinct or not value else (option, value)


def _unless_zero(gain: str) -> str:
    """Return a gain as an option has it; empty where it is the default."""
    return "" if gain == "0" else gain


def _text(value: float) -> str:
    return "" if math.isnan(value) else f"{value:g}"
