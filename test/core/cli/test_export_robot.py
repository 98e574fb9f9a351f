# SPDX-License-Identifier: Apache-2.0
"""`bam export ROBOT --servos`: a description with servos moves as the robot that Python equips."""

from __future__ import annotations

import struct
from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.cli import execute, main
from bam_core.errors import BamError, Conflict, Missing, UnknownName, WrongType
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.mujoco.robot_file import load_robot
from bam_core.servo.model import load_servo
from test.core.refusals import refused
from test.core.whole_robot_cases import ARM

SERVOS = ["--servos", "shoulder=mx106,elbow=mx64"]


@pytest.fixture
def robot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("arm.xml").write_text(ARM)
    return "arm.xml"


def held(model: mujoco.MjModel) -> list[float]:
    """Positions, rad, after half a second with goals of 0.3 rad."""
    data = mujoco.MjData(model)
    data.ctrl[:] = 0.3
    while data.time < 0.5:
        mujoco.mj_step(model, data)
    return list(data.qpos)


def test_the_file_moves_as_the_equipped_robot(robot: str) -> None:
    assert main(["export", robot, *SERVOS, "--kp", "shoulder=16,elbow=32", "--output", "equipped.xml"]) == 0
    spec = mujoco.MjSpec.from_string(ARM)
    equip_native(
        spec, {"shoulder": NativeServo(servo="mx106", kp=16), "elbow": NativeServo(servo="mx64", kp=32)}
    )
    written = mujoco.MjModel.from_xml_path("equipped.xml")
    assert held(written) == pytest.approx(held(spec.compile()), abs=1e-6)


def test_the_gains_of_every_joint_are_printed(robot: str, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--kp", "shoulder=16", "--kd", "8", "--vin", "11"]
    assert main(["export", robot, *SERVOS, *options, "--output", "equipped.xml"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[-2:]]
    factory = load_servo("mx64").firmware.factory_kp
    assert rows == [
        ["shoulder", "mx106", "16", "0", "8", "11"],
        ["elbow", "mx64", f"{factory:g}", "0", "8", "11"],
    ]


@pytest.mark.parametrize(
    ("words", "kind", "thing"),
    [
        (["arm.xml", "--output", "out.xml"], Missing, "--servos"),
        (["arm.xml", *SERVOS, "--output", "out.json"], WrongType, "--output"),
        (["arm.xml", "mx106", *SERVOS, "--output", "out.xml"], Conflict, "mx106"),
        (["arm.xml", *SERVOS, "--to", "mjlab", "--kp", "8", "--output", "out.xml"], Conflict, "--to"),
        (["arm.xml", "--servos", "wrist=mx106", "--output", "out.xml"], UnknownName, "wrist"),
        (["mx106", *SERVOS, "--output", "out.xml"], Conflict, "--servos"),
        (["mx106", "--kp", "shoulder=3", "--output", "out.xml"], WrongType, "--kp"),
    ],
)
def test_a_mistake_is_named_and_nothing_is_written(
    robot: str, words: list[str], kind: type[BamError], thing: str
) -> None:
    with refused(kind, **{"name" if kind is UnknownName else "thing": thing}):
        execute(["export", *words])
    assert [path.name for path in Path().iterdir()] == [robot]


def test_meshes_are_found_from_another_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    corners = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, -0.1]])
    for place in ("robot/meshes", "results"):
        Path(place).mkdir(parents=True)
    faces = [corners[list(face)] for face in ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))]
    triangles = b"".join(struct.pack("<12fH", 0, 0, 0, *face.ravel(), 0) for face in faces)
    Path("robot/meshes/link.stl").write_bytes(bytes(80) + struct.pack("<I", len(faces)) + triangles)
    Path("robot/arm.xml").write_text(
        "<mujoco><compiler meshdir='meshes'/><asset><mesh file='link.stl'/></asset><worldbody><body>"
        "<joint name='j' axis='0 1 0'/><geom type='mesh' mesh='link' mass='0.2'/></body></worldbody></mujoco>"
    )
    words = ["--servos", "j=mx106", "--kp", "32"]
    assert main(["export", "robot/arm.xml", *words, "--output", "results/equipped.xml"]) == 0
    assert load_robot("results/equipped.xml").compile().nmesh == 1
    with refused(Conflict, thing="--output"):
        execute(["export", "robot/arm.xml", *words, "--output", "results/../robot/arm.xml"])


def test_a_urdf_may_be_written_in_capitals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    inertial = (
        "<inertial><mass value='0.2'/>"
        "<inertia ixx='1e-3' iyy='1e-3' izz='1e-3' ixy='0' ixz='0' iyz='0'/></inertial>"
    )
    Path("ARM.URDF").write_text(
        f"<robot name='arm'><link name='base'/><link name='link'>{inertial}</link>"
        "<joint name='j' type='continuous'><parent link='base'/><child link='link'/><axis xyz='0 1 0'/>"
        "</joint></robot>"
    )
    assert main(["export", "ARM.URDF", "--servos", "j=mx106", "--kp", "32", "--output", "arm.xml"]) == 0
    assert load_robot("arm.xml").compile().nu == 1
