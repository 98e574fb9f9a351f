# SPDX-License-Identifier: Apache-2.0
"""`bam simulate --robot --view`: any MJCF with its servos in MuJoCo's viewer."""

from __future__ import annotations

import argparse
import math
from contextlib import nullcontext
from pathlib import Path

import mujoco
import pytest

from bam_core.cli import execute, main
from bam_core.cli.simulate_robot import native_servos, prepared
from bam_core.errors import BamError, Conflict, Missing, UnknownName, Unsupported
from bam_core.mujoco.native import NativeServo
from bam_core.robot.load import RunSettings, load_runs
from bam_core.text.description_findings import GoalsBeyondRange
from bam_core.text.servo_findings import GuessedServos
from test.core.finding_cases import logged
from test.core.refusals import refused
from test.core.whole_robot_cases import ARM

KEYS = '<keyframe><key name="home" qpos="0.4 -0.3"{ctrl}/></keyframe></mujoco>'
SERVOS = ["--servos", "shoulder=mx106,elbow=mx64"]


class FakeWindow:
    """A viewer that is closed after a second of the simulation; its sliders move the shoulder."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self.model, self.data, self.frames = model, data, 0

    def __enter__(self) -> FakeWindow:
        return self

    def __exit__(self, *error: object) -> None:
        """Close."""

    def is_running(self) -> bool:
        return bool(self.data.time < 1.0) and self.frames < 10_000

    def lock(self) -> nullcontext[None]:
        return nullcontext()

    def sync(self) -> None:
        self.frames += 1
        self.data.actuator("shoulder").ctrl[:] = 0.5


@pytest.fixture
def robot(tmp_path: Path) -> str:
    (tmp_path / "arm.xml").write_text(ARM)
    return str(tmp_path / "arm.xml")


def test_the_viewer_shows_a_robot_whose_servos_follow_its_sliders(
    robot: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mujoco.viewer

    windows: list[FakeWindow] = []

    def launch_passive(model: mujoco.MjModel, data: mujoco.MjData) -> FakeWindow:
        windows.append(FakeWindow(model, data))
        return windows[0]

    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(mujoco.viewer, "launch_passive", launch_passive)
    assert main(["simulate", "--robot", robot, *SERVOS, "--kp", "32", "--view"]) == 0
    (window,) = windows
    assert window.data.joint("shoulder").qpos[0] == pytest.approx(0.5, abs=0.1)
    assert window.data.joint("elbow").qpos[0] == pytest.approx(0.0, abs=0.1)


@pytest.mark.parametrize(("ctrl", "goals"), [("", [0.4, -0.3]), (' ctrl="0.1 0.2"', [0.1, 0.2])])
def test_a_robot_begins_at_its_keyframe_and_holds_it(ctrl: str, goals: list[float]) -> None:
    actuators = '<actuator><position joint="shoulder" kp="5"/><position joint="elbow" kp="5"/></actuator>'
    text = ARM.replace("</mujoco>", actuators + KEYS.format(ctrl=ctrl))
    servos = {"shoulder": NativeServo(servo="mx106"), "elbow": NativeServo(servo="mx64")}
    _, data = prepared(mujoco.MjSpec.from_string(text), servos, 1e-3)
    assert data.qpos.tolist() == [0.4, -0.3]
    assert data.ctrl.tolist() == goals


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--robot", "ARM", *SERVOS], "--view"),
        (["--robot", "ARM", "--view"], "--servos"),
        (["--robot", "ARM", *SERVOS, "--view", "--servo", "mx106"], "--servo: is about a bench"),
        (["--robot", "ARM", *SERVOS, "--view", "--script", "sin_sin"], "--script: is about a bench"),
        (["--robot", "ARM", "--servos", "wrist=mx106", "--view"], "wrist"),
        (["--robot", "none.xml", *SERVOS, "--view"], "none.xml"),
        (["--robot", "ARM", *SERVOS, "--view", "--dt", "0.05"], "the time step of 0.05 s is unstable"),
        ([*SERVOS], "--robot"),
        (["--script", "sin_sin"], "--servo"),
        (["--servo", "mx106"], "--script or --recording"),
    ],
)
def test_what_is_wrong_is_one_line(
    words: list[str],
    said: str,
    robot: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    assert main(["simulate", *(word.replace("ARM", robot) for word in words)]) == 2
    errors = capsys.readouterr().err
    assert said in errors
    assert errors.count("\n") == 1


def test_without_a_display_the_line_says_what_to_do_instead(
    robot: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert main(["simulate", "--robot", robot, *SERVOS, "--view"]) == 2
    errors = capsys.readouterr().err
    assert "there is no screen" in errors
    assert "node 'simulator'" in errors
    assert errors.count("\n") == 1


def test_gains_and_supply_may_be_of_joints_and_of_a_bench_yaml_above_the_robot(robot: str) -> None:
    types = {"shoulder": "mx106", "elbow": "mx64"}
    folder = Path(robot).parent
    (folder / "bench.yaml").write_text(
        "set: {vin: 12.0}\nkp: {shoulder: 8}\nkd: {elbow: 4}\nki: {elbow: 3}\n"
    )
    servos = native_servos(types, argparse.Namespace(robot=robot, kp="elbow=16", kd=None, ki=None, vin=None))
    assert [(servo.kp, servo.kd, servo.supply_voltage) for servo in servos.values()] == [
        (8.0, 0.0, 12.0),
        (16.0, 4.0, 12.0),
    ]
    over = native_servos(
        types, argparse.Namespace(robot=robot, kp="32", kd="shoulder=2", ki="elbow=1", vin=14.0)
    )
    assert [(servo.kp, servo.kd, servo.supply_voltage) for servo in over.values()] == [
        (32.0, 2.0, 14.0),
        (32.0, 4.0, 14.0),
    ]
    assert [[servo.ki for servo in found.values()] for found in (servos, over)] == [[0.0, 3.0], [0.0, 1.0]]
    with refused(UnknownName, kind="joint of --kp", name="wrist"):
        native_servos(types, argparse.Namespace(robot=robot, kp="wrist=3", kd=None, ki=None, vin=None))
    with refused(Unsupported, thing="kd"):
        erob = {**types, "elbow": "erob80_100"}
        native_servos(erob, argparse.Namespace(robot=robot, kp=None, kd="4", ki=None, vin=None))


def test_a_robot_follows_a_motion_and_its_run_is_written(
    robot: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    motion = tmp_path / "wave.csv"
    rows = [f"{0.1 * i},{0.3 * math.sin(0.2 * i)},{0.1},32" for i in range(21)]
    motion.write_text("\n".join(["time,goal:shoulder,goal:elbow,kp", *rows]) + "\n")
    words = ["simulate", "--robot", robot, *SERVOS, "--motion", str(motion)]
    assert main([*words, "--output", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "arm_wave.png").read_bytes().startswith(b"\x89PNG")
    (run,) = load_runs([tmp_path / "out" / "arm_wave.csv"], RunSettings(kp=32.0))
    assert run.joints == ("shoulder", "elbow")
    assert run.time[-1] == pytest.approx(2.0)
    error = run.position - run.goal_position
    assert 1e-4 < abs(error).mean() < 0.1
    shown = capsys.readouterr().out
    assert f"{abs(error[:, 0]).max():.4f}" in shown


def test_goals_beyond_the_range_of_a_joint_are_named(
    robot: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    motion = tmp_path / "degrees.csv"
    motion.write_text("time,goal:shoulder,goal:elbow,kp\n0,0,0,32\n0.1,0.5,-30,32\n")
    limited = ARM.replace('name="elbow"', 'name="elbow" limited="true" range="-1 2"')
    Path(robot).write_text(limited)
    assert limited != ARM
    assert main(["simulate", "--robot", robot, *SERVOS, "--motion", str(motion)]) == 0
    found = [finding for finding in logged(caplog) if isinstance(finding, GoalsBeyondRange)]
    assert [(finding.joint, finding.goal, finding.low, finding.high) for finding in found] == [
        ("elbow", -30.0, -1.0, 2.0)
    ]


def test_servos_of_a_data_sheet_are_named(robot: str, caplog: pytest.LogCaptureFixture) -> None:
    given = argparse.Namespace(robot=robot, kp=None, kd=None, ki=None, vin=None)
    native_servos({"shoulder": "mx106", "elbow": "mx64"}, given)
    assert not logged(caplog)
    native_servos({"shoulder": "xl430_w250", "elbow": "xl430_w250"}, given)
    (finding,) = logged(caplog)
    assert finding == GuessedServos(servos=("xl430_w250",))


@pytest.mark.parametrize(
    ("options", "kind", "thing"),
    [
        (["--output", "out"], Missing, "--motion or --view"),
        (["--view", "--output", "out"], Conflict, "--output"),
        (["--view", "--motion", "wave.csv"], Conflict, "--view"),
    ],
)
def test_a_robot_needs_one_source_of_goals(
    robot: str, options: list[str], kind: type[BamError], thing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISPLAY", ":0")
    with refused(kind, thing=thing):
        execute(["simulate", "--robot", robot, *SERVOS, *options])


def test_a_robot_with_rk4_and_another_solver_is_simulated_with_exact_friction() -> None:
    text = """<mujoco><option integrator="RK4" solver="CG"/><worldbody><body>
      <joint name="a"/><geom size="0.01" mass="0.1" pos="0.1 0 0"/></body></worldbody></mujoco>"""
    model, _ = prepared(mujoco.MjSpec.from_string(text), {"a": NativeServo(servo="mx106")}, 1e-3)
    assert model.opt.integrator == mujoco.mjtIntegrator.mjINT_EULER
    assert model.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON
