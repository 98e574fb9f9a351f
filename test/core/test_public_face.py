# SPDX-License-Identifier: Apache-2.0
"""`from bam_core import …`: names and paths are accepted wherever a servo or a file is."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import mujoco
import pytest

import bam_core
from bam_core.errors import UnknownName
from bam_core.mujoco import bench_spec
from bam_core.recordings import read_bag
from test.core.exchange_cases import XL330_M4
from test.core.refusals import refused

BENCH = bam_core.PendulumBench(mass=0.5, length=0.1)


@pytest.fixture(scope="module")
def recordings() -> list[bam_core.Recording]:
    return [bam_core.synthesize("mx106", BENCH, "sin_sin", kp) for kp in (8.0, 16.0, 32.0)]


def test_a_servo_is_identified_by_its_name_and_written(
    recordings: list[bam_core.Recording], tmp_path: Path, no_plots: None, no_intervals: None
) -> None:
    found = bam_core.identify(
        recordings, "mx106", bam_core.IdentifySettings(models="m1", trials=60, effects=[])
    )
    bam_core.write_identification(found, tmp_path / "found")
    assert bam_core.load_servo(tmp_path / "found" / "m1.yaml").friction_model == "m1"
    same = bam_core.identify(
        recordings,
        bam_core.load_servo("mx106"),
        bam_core.IdentifySettings(models=["m1"], trials=60, effects=[]),
    )
    assert same.fits["m1"].parameters == found.fits["m1"].parameters


def test_simulations_take_a_name_or_a_file(recordings: list[bam_core.Recording], tmp_path: Path) -> None:
    bam_core.load_servo("mx106").save(tmp_path / "mine.yaml")
    by_name = bam_core.simulate_recording("mx106", recordings[0])
    assert bam_core.simulate_recording(str(tmp_path / "mine.yaml"), recordings[0]) == pytest.approx(
        by_name, abs=1e-4
    )
    spec = bench_spec(BENCH)
    joint = spec.joints[0].name
    bam_core.equip(spec, {joint: "mx106"})
    model = bam_core.compile_robot(spec)
    bam_core.actuate(model, mujoco.MjData(model), {joint: tmp_path / "mine.yaml"}).step()
    assert bam_core.NativeServo(servo="mx106", kp=8.0).servo == bam_core.load_servo("mx106")


def test_validation_takes_a_name_or_a_file(recordings: list[bam_core.Recording], tmp_path: Path) -> None:
    bam_core.load_servo("mx106").save(tmp_path / "mine.yaml")
    found = bam_core.validate("mx106", recordings)
    assert bam_core.validate(str(tmp_path / "mine.yaml"), recordings).per_log == found.per_log
    assert found.mae == pytest.approx(sum(found.per_log.values()) / 3)
    assert set(found.per_log) == {recording.name for recording in recordings}
    with pytest.raises(bam_core.BamError, match="recordings"):
        bam_core.validate("mx106", [])


def test_a_name_is_accepted_wherever_a_servo_is() -> None:
    servo = bam_core.load_servo("mx106")
    assert bam_core.servo_mjcf("mx106") == bam_core.servo_mjcf(servo)
    assert bam_core.bam_parameters("mx106") == bam_core.bam_parameters(servo)
    assert (bam_core.parameter_vector("mx106") == bam_core.parameter_vector(servo)).all()


@pytest.mark.long
def test_intervals_of_all_models_are_asked_for_by_a_word(recordings: list[bam_core.Recording]) -> None:
    found = bam_core.identify(
        recordings,
        "mx106",
        bam_core.IdentifySettings(
            models=["m1", "m2"], trials=60, effects=[], uncertainty="all", test="kp=16"
        ),
    )
    assert all(fit.uncertainty is not None for fit in found.fits.values())
    assert found.not_done == ()


def test_files_may_be_given_as_text(tmp_path: Path) -> None:
    (tmp_path / "m4.json").write_text(json.dumps(XL330_M4))
    found = bam_core.read_bam_parameters(str(tmp_path / "m4.json"))
    assert found.servo.friction_model == "m4"
    run = bam_core.synthesize("mx106", BENCH, "sin_sin", 8.0)
    bam_core.write_bag(run, str(tmp_path / "run"))
    assert len(read_bag(str(tmp_path / "run"))) == len(bam_core.load_recordings(str(tmp_path))[0]) == len(run)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import sys, bam_core; print(*{'numba', 'mujoco', 'numpy', 'scipy', 'yaml'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_every_public_name_is_listed_once_and_is_there() -> None:
    stub = Path(bam_core.__file__).with_name("__init__.pyi").read_text()
    names = re.findall(r"^from \S+ import (\w+) as \1$", stub, re.MULTILINE)
    assert sorted(names) == sorted(bam_core.__all__) == sorted(set(names))
    assert set(names) <= set(dir(bam_core))
    for name in names:
        assert getattr(bam_core, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        bam_core.no_such_name  # type: ignore[attr-defined]  # noqa: B018


def test_an_unknown_name_is_one_line_with_the_likely_one() -> None:
    with refused(UnknownName, kind="servo", name="mx16"):
        bam_core.NativeServo(servo="mx16")
