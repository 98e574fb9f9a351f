# SPDX-License-Identifier: Apache-2.0
"""Provenance of a fit: what ran, on what, and what was set from outside."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, replace
from importlib.metadata import version
from pathlib import Path

import cmaes
import pytest

from bam_core._version import __version__
from bam_core.identification.identify import identify
from bam_core.identification.result import Identification
from bam_core.identification.search.methods import CMA_ES, METHODS
from bam_core.identification.settings import IdentifySettings
from bam_core.identification.uncertainty.tolerances import DEFAULT
from bam_core.recordings import load_recordings
from bam_core.servo.model import load_servo
from test.core.identification_cases import leave_out_intervals, mx106, record, write_log

TOLERANCES = replace(DEFAULT, mass=0.03)
RUNS = (("sin_sin", 8.0), ("sin_time_square", 16.0), ("up_and_down", 32.0))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    directory = tmp_path_factory.mktemp("logs")
    (directory / "bench.yaml").write_text("set: {length: 0.151}\n")
    paths = [directory / f"{script}_{kp:g}.json" for script, kp in RUNS]
    return {
        path.stem: write_log(record(mx106("m1"), *run), path) for path, run in zip(paths, RUNS, strict=True)
    }


def identified(files: dict[str, Path], method: str) -> tuple[Identification, int]:
    """Return a brief identification, and how often an optimiser of the package cmaes was made."""
    made = 0

    class Counted(cmaes.CMA):  # type: ignore[misc]
        def __init__(self, *arguments: object, **options: object) -> None:
            nonlocal made
            made += 1
            super().__init__(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        leave_out_intervals(patch)
        patch.setattr(cmaes, "CMA", Counted)
        found = identify(
            load_recordings(list(files.values())),
            "mx106",
            IdentifySettings(
                models=["m1", "m2"],
                search=method,
                trials=150,
                seed=3,
                test="kp=32",
                effects=["zero_offset"],
                tolerances=TOLERANCES,
            ),
        )
    return found, made


@pytest.mark.parametrize("method", METHODS)
def test_it_names_what_ran(method: str, files: dict[str, Path], tmp_path: Path) -> None:
    found, made = identified(files, method)
    assert (made > 0) is (method == CMA_ES)
    for model, fit in found.fits.items():
        fit.servo.save(tmp_path / f"{model}.yaml")
        origin = load_servo(tmp_path / f"{model}.yaml").provenance
        assert origin == fit.servo.provenance
        assert origin.method == fit.method == method
        for part in ("2", METHODS[method], "seed 3", "test kp=32"):
            assert part in origin.source
        assert origin.seed == 3
        assert origin.trials is not None
        assert origin.trials_used is not None
        assert 0 < origin.trials_used <= origin.trials
        assert origin.software.startswith(f"bam_bench {__version__}")
        assert origin.packages == {name: version(name) for name in ("numpy", "numba", "scipy", "cmaes")}
        assert origin.tolerances == asdict(TOLERANCES)
        data = {**origin.train_data, **origin.test_data}
        assert data == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
        told = "length 0.151 (header: 0.15; set by bench.yaml)"
        assert origin.corrections == dict.fromkeys(sorted(files), told)
    summary = found.summary()
    assert summary["tolerances"] == asdict(TOLERANCES)
    assert summary["packages"]["numpy"] == version("numpy")
    assert {fit["method"] for fit in summary["models"].values()} == {method}
