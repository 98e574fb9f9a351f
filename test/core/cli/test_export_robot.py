# SPDX-License-Identifier: Apache-2.0
"""`bam export ROBOT --servos`: a description with servos moves as the robot that Python equips."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from bam_core.cli import execute, main
from bam_core.errors import BamError, Conflict, Missing, UnknownName, WrongType
from bam_core.mujoco.native import NativeServo, equip_native
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
