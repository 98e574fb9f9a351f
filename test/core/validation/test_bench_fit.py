# SPDX-License-Identifier: Apache-2.0
"""Zero offset and delay of another bench than the servo's are found: they are no errors of the servo."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from bam_core.cli import main
from bam_core.recordings.recording import Recording
from bam_core.servo.effects import IDEAL_BENCH, BenchEffects
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench
from bam_core.simulation.synthetic import SynthesisSettings, synthesize
from bam_core.validation.bench_fit import fit_bench
from bam_core.validation.validation import errors_of
from test.core.identification_cases import write_log

SERVO = load_servo("mx106")
BENCH = PendulumBench(mass=1.0, length=0.15)
TRUTH = BenchEffects(zero_offset=0.0217, command_delay=0.0188)


def recordings(effects: BenchEffects, kp: tuple[float, ...] = (8.0, 32.0)) -> list[Recording]:
    scripts = ("sin_sin", "sin_time_square")
    return [
        replace(
            synthesize(
                SERVO, BENCH, script, gain, SynthesisSettings(bench_effects=effects, supply_voltage=15.0)
            ),
            name=f"{script}_{gain:g}",
        )
        for script in scripts
        for gain in kp
    ]


@pytest.mark.parametrize(
    "truth",
    [
        IDEAL_BENCH,
        TRUTH,
        BenchEffects(zero_offset=-0.061, command_delay=0.002),
        BenchEffects(command_delay=0.05),
    ],
)
def test_the_bench_of_recordings_is_found(truth: BenchEffects) -> None:
    logs = recordings(truth)
    fit = fit_bench(SERVO, logs)
    assert fit.recordings == len(logs)
    assert fit.bench_effects.zero_offset == pytest.approx(truth.zero_offset, abs=1e-3)
    assert fit.bench_effects.command_delay == pytest.approx(truth.command_delay, abs=5e-4)
    assert errors_of(SERVO, logs, fit.bench_effects).mae < 1e-3


def test_what_is_given_is_never_made_worse_and_its_other_effects_stay() -> None:
    given = replace(TRUTH, zero_offset=0.3, arm_mass=0.01)
    logs = recordings(given, kp=(32.0,))
    fit = fit_bench(SERVO, logs, given)
    assert fit.bench_effects == given


def test_of_many_recordings_some_are_used() -> None:
    fit = fit_bench(SERVO, recordings(TRUTH)[:3], most=2)
    assert fit.recordings == 2
    assert fit.bench_effects.command_delay == pytest.approx(TRUTH.command_delay, abs=5e-4)


def test_validate_fits_the_bench_unless_it_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for each in recordings(TRUTH):
        write_log(each, tmp_path / f"{each.name}.json")
    out = tmp_path / "errors.txt"

    def validated(*words: str) -> dict[str, object]:
        assert main(["validate", str(tmp_path), "--params", "mx106", "--json", str(out), *words]) == 0
        return dict(json.loads(out.read_text())["mx106"])

    default = validated()
    printed = capsys.readouterr().out
    fitted = default.pop("bench_fitted")
    assert set(fitted) == {
        *("zero_offset", "command_delay", "fitted_recordings"),
        *("mae", "per_log", "mae_short", "mae_short_1s"),
        *("kind", "sentence"),
    }
    assert fitted["command_delay"] == pytest.approx(TRUTH.command_delay, abs=1e-3)
    assert fitted["mae"] < 0.2 * default["mae"]
    for error in (default["mae"], fitted["mae"]):
        assert f"{1e3 * error:.2f}" in printed
    assert validated("--bench-effects", "none") == default  # as without a fit
