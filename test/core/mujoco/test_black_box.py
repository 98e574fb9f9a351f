# SPDX-License-Identifier: Apache-2.0
"""A simulation that diverged can be run again from its file, bit by bit, up to the step that failed."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.errors import Malformed
from bam_core.mujoco import (
    BlackBox,
    DivergedRun,
    ServoActuation,
    SimulationError,
    compile_robot,
    equip,
    load_diverged_run,
)
from bam_core.mujoco.native import NativeServo, equip_native, load_plugin
from bam_core.servo.model import load_servo
from test.core.refusals import refused

# The second joint has a spring that pushes away from rest ever harder: it leaves all numbers within a second.
UNSTABLE = """
<mujoco>
  <option timestep="0.001"/>
  <worldbody>
    <body>
      <joint name="a" axis="1 0 0"/>
      <geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.15" mass="0.3"/>
      <body pos="0 0 -0.15">
        <joint name="loose" type="slide" axis="0 0 1" stiffness="-4000"/>
        <geom type="sphere" size="0.02" mass="0.1"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def follow(run: DivergedRun, moment: int) -> tuple[list[float], str]:
    """Positions of the servo's joint after every step of a replay, and what its end said."""
    positions = []
    try:
        for actuation in run.replay(moment):
            positions.append(float(actuation.position[0]))
    except SimulationError as error:
        return positions, str(error)
    raise AssertionError("it did not diverge")


@pytest.fixture
def diverged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, list[float], str]:
    """A dump, the positions of the servo's joint after every step that is in it, and what was said."""
    monkeypatch.chdir(tmp_path)  # MuJoCo logs its warning to the working directory
    spec = mujoco.MjSpec.from_string(UNSTABLE)
    servos = {"a": load_servo("mx64")}
    equip(spec, servos)
    model = compile_robot(spec)
    actuation = ServoActuation(model, mujoco.MjData(model), servos)
    actuation.torque_enabled[:] = 1.0
    box, positions = BlackBox(actuation), []

    def run() -> None:
        for k in range(2000):
            actuation.goal_position[:] = 0.3 * np.sin(0.02 * k)
            box.note()
            for _ in range(2):
                actuation.step()
                positions.append(float(actuation.position[0]))

    with pytest.raises(SimulationError) as error:
        run()
    said = str(error.value)
    return box.write(tmp_path, said), positions, said


def test_a_replay_is_the_run_itself_up_to_the_same_error(diverged: tuple[Path, list[float], str]) -> None:
    path, positions, said = diverged
    run = load_diverged_run(path)
    assert run.reason == said
    replayed, error = follow(run, 0)
    assert error == said
    assert len(replayed) > 20
    assert replayed == positions[-len(replayed) :]


def test_a_replay_can_begin_at_the_last_moment(diverged: tuple[Path, list[float], str]) -> None:
    run = load_diverged_run(diverged[0])
    assert len(follow(run, -1)[0]) < 2
    assert run.resume(-1).data.time > run.resume(0).data.time


def test_the_documented_replay_does_what_it_says(
    diverged: tuple[Path, list[float], str], capsys: pytest.CaptureFixture[str]
) -> None:
    path, positions, said = diverged
    page = (Path(__file__).parents[3] / "docs" / "simulator.md").read_text()
    (code,) = re.findall(r"```python\n(from bam_core.*?)```", page, re.DOTALL)
    exec(re.sub(r"diverged_\w+\.npz", str(path), code), {})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == lines[-1] == said
    assert len(lines) == len(positions) + 2


@pytest.mark.long
def test_a_dump_with_servos_of_the_engine_plugin_is_read_by_another_process(tmp_path: Path) -> None:
    load_plugin()
    spec = mujoco.MjSpec.from_string(
        UNSTABLE.replace('stiffness="-4000"', 'armature="0.01" frictionloss="0.1"')
    )
    servos = {"a": load_servo("mx64")}
    equip(spec, servos)
    equip_native(spec, {"loose": NativeServo(servo=load_servo("mx64"))})
    model = compile_robot(spec)
    box = BlackBox(ServoActuation(model, mujoco.MjData(model), servos))
    box.note()
    code = "import sys; from bam_core.mujoco import *; load_diverged_run(sys.argv[1]).resume().step()"
    command = [sys.executable, "-c", code, str(box.write(tmp_path, "test"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_dumps_of_the_same_second_do_not_overwrite_each_other(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_string(UNSTABLE)
    equip(spec, {"a": load_servo("mx64")})
    model = compile_robot(spec)
    box = BlackBox(ServoActuation(model, mujoco.MjData(model), {"a": load_servo("mx64")}))
    box.note()
    assert len({box.write(tmp_path, "test") for _ in range(3)}) == len(list(tmp_path.iterdir())) == 3


def test_a_file_that_is_no_dump_is_named(tmp_path: Path) -> None:
    for name, content in (("text.npz", b"not a zip"), ("empty.npz", b"")):
        (tmp_path / name).write_bytes(content)
        with refused(Malformed, path=str(tmp_path / name)):
            load_diverged_run(tmp_path / name)
    with refused(Malformed, path=str(tmp_path / "nowhere.npz")):
        load_diverged_run(tmp_path / "nowhere.npz")
    np.savez(tmp_path / "other.npz", x=np.zeros(3))
    with refused(Malformed, path=str(tmp_path / "other.npz")):
        load_diverged_run(tmp_path / "other.npz")


def test_keyframes_survive_the_actuators_that_servos_replace() -> None:
    spec = mujoco.MjSpec.from_string(
        UNSTABLE.replace(
            "</mujoco>",
            '<actuator><motor joint="a"/></actuator>'
            '<keyframe><key name="home" qpos="0.3 0" ctrl="1"/></keyframe></mujoco>',
        )
    )
    equip(spec, {"a": load_servo("mx64")})
    model = compile_robot(spec)
    assert model.key("home").qpos == pytest.approx([0.3, 0.0])
