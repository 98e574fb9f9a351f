# SPDX-License-Identifier: Apache-2.0
"""`bam robot validate --film`: the measured robot against the simulated one."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image

from bam_core.cli import main
from bam_core.errors import Unsupported
from bam_core.robot.deviations import RobotDeviations
from bam_core.robot.film import Postures, _camera, postures_of, scene
from bam_core.robot.simulation import RobotBench
from test.core.refusals import refused
from test.core.whole_robot_cases import ARM, JOINTS, SERVOS, bench, recorded, servos, write_csv
from test.missing import skip_or_fail

DEVIATIONS = RobotDeviations(delay=0.02, zero={"elbow": 0.1})


def test_robot_and_ghost_are_where_they_were_simulated_and_measured() -> None:
    run = replace(recorded(servos(), duration=1.0), interval=(0.3, 0.8))
    robot = bench(2e-3)
    shown = postures_of(robot, scene(robot), run, servos("m1"), DEVIATIONS)
    simulated = robot.simulate(run, servos("m1"), DEVIATIONS)[run.counts]
    zero = np.array([DEVIATIONS.zero.get(joint, 0.0) for joint in JOINTS])
    assert (shown.time[0], shown.time[-1]) == pytest.approx((0.3, 0.8))
    np.testing.assert_allclose(shown.simulated, simulated - zero)
    np.testing.assert_allclose(shown.measured, run.position[run.counts] - zero)
    assert np.abs(shown.simulated - shown.measured).max() > 0.01


def test_a_robot_without_shapes_has_no_film() -> None:
    inertia = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>"
    text = f"<mujoco><worldbody><body><joint/>{inertia}</body></worldbody></mujoco>"
    still = np.zeros((2, 1))
    shown = Postures(time=np.array([0.0, 1.0]), simulated=still, measured=still)
    with refused(Unsupported, thing="film"):
        _camera(mujoco.MjModel.from_xml_string(text), shown)


def test_the_ghost_stands_on_the_simulated_base() -> None:
    spec = mujoco.MjSpec.from_string(
        ARM.replace(
            "<worldbody>", '<worldbody><body name="base"><freejoint/><geom size="0.05" mass="3"/>'
        ).replace("</worldbody>", "</body></worldbody>")
    )
    robot = RobotBench.make(spec, "free", step=2e-3)
    run = recorded(servos(), duration=0.4)
    shown = postures_of(robot, scene(robot), run, servos())
    assert shown.simulated.shape == (len(run.time), 7 + len(JOINTS))
    np.testing.assert_array_equal(shown.measured[:, :7], shown.simulated[:, :7])
    assert shown.simulated[-1, 2] < -0.1  # it falls
    np.testing.assert_allclose(shown.measured[:, 7:], run.position)


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "arm.xml").write_text(ARM)
    log = write_csv(recorded(servos(), duration=0.5), tmp_path / "a_kp16.csv")
    words = [
        "robot",
        "validate",
        "--robot",
        str(tmp_path / "arm.xml"),
        "--servos",
        ",".join(SERVOS),
        "--vin",
        "12",
    ]
    return [*words, str(log)]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--film", "film.png"], "film.png"),
        (["--film", "nowhere/film.gif"], "nowhere"),
        (["--film", "film.gif", "--run", "b_kp16"], "b_kp16"),
        (["--film", "film.gif", "--others", "measured"], "--others simulated"),
        (["--run", "a_kp16"], "--film"),
    ],
)
def test_what_cannot_be_filmed_is_one_line(
    words: list[str],
    said: str,
    command: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*command, *words]) == 2
    errors = capsys.readouterr().err
    assert errors.count("\n") == 1
    assert said in errors
    assert not list(tmp_path.glob("film*"))


@pytest.mark.long
def test_the_film_shows_a_blue_ghost_beside_the_robot(command: list[str], tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "MUJOCO_GL"}
    film = tmp_path / "film.gif"
    code = "import sys; from bam_core.cli import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", code, *command, "--film", str(film)],
        env={**environment, "MUJOCO_GL": "egl"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if "no OpenGL" in done.stderr:
        skip_or_fail(f"this machine cannot draw: {done.stderr}; apt install libegl1 libgl1-mesa-dri")
    assert done.returncode == 0, done.stderr
    assert f"wrote {film}" in done.stdout
    picture = np.asarray(Image.open(film).convert("RGB")).astype(int)
    assert picture.shape == (240, 320, 3)
    blue = picture[..., 2] - picture[..., 0] > 60
    assert 50 < blue.sum() < 0.3 * blue.size
