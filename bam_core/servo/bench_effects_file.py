# SPDX-License-Identifier: Apache-2.0
"""The file of the bench effects that were identified together with a servo: beside the servo's, not in it.

``out/m4.yaml`` is the servo, ``out/bench_effects/m4.yaml`` the bench of its recordings, which is left behind
where the servo is passed on.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from bam_core.errors import NotWritable
from bam_core.files.atomic_file import write_text
from bam_core.servo.effects import BenchEffects
from bam_core.servo.model import servo_path
from bam_core.servo.parameters import BENCH_EFFECTS, PARAMETER_UNITS
from bam_core.servo.servo_file import read_bench_effects
from bam_core.servo.yaml_text import yaml_text

FOLDER = "bench_effects"

BenchEffectsLike: TypeAlias = BenchEffects | str | os.PathLike[str]
"""What functions accept as bench effects: `BenchEffects`, or what `load_bench_effects` reads."""


def bench_effects_path(servo: str | os.PathLike[str]) -> Path:
    """Return where the bench effects are that belong to a servo's file."""
    path = Path(servo)
    return path.parent / FOLDER / path.name


def load_bench_effects(source: BenchEffectsLike) -> BenchEffects:
    """Read bench effects.

    Args:
        source: a file of bench effects; or a servo, by library name or path of its file. Then the bench is
            the one on which it was recorded: that of `bench_effects_path`, and without effects where that
            file is not there. `BenchEffects` are returned as they are.

    Raises:
        BamError: no such servo or file; or a file has an unknown or wrong field, which it names.
    """
    if isinstance(source, BenchEffects):
        return source
    path = servo_path(source)
    effects = read_bench_effects(path)
    if effects is None:
        path = bench_effects_path(path)
        effects = read_bench_effects(path) if path.exists() else None
    return effects or BenchEffects()


def save_bench_effects(
    servo: str | os.PathLike[str],
    bench_effects: BenchEffects,
    uncertainty: Mapping[str, float] | None = None,
) -> None:
    """Write the bench effects that belong to a servo's file; where all are zero, remove that file.

    Args:
        servo: path of the servo's file.
        bench_effects: of its recordings.
        uncertainty: one standard deviation by parameter; those that are no bench effects are left out.

    Raises:
        NotWritable: the file cannot be written or removed.
    """
    path = bench_effects_path(servo)
    if bench_effects == BenchEffects():
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise NotWritable(path, error) from None
        return
    fields = {
        "bench_effects": {name: value for name, value in vars(bench_effects).items() if value},
        "uncertainty": {name: error for name, error in (uncertainty or {}).items() if name in BENCH_EFFECTS},
    }
    title = f"# The bench of the recordings from which ../{path.name} was identified; no part of the servo.\n"
    write_text(path, title + yaml_text(fields, PARAMETER_UNITS))
