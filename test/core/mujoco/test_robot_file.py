# SPDX-License-Identifier: Apache-2.0
"""URDF as it lies in packages: endings in capital letters, xacro, meshes that are missing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bam_core.errors import Conflict, Malformed
from bam_core.mujoco.robot import compile_robot
from bam_core.mujoco.robot_file import load_robot
from bam_core.robot.joints import require_in_range
from test.core.refusals import refused

URDF = """<?xml version="1.0"?>
<robot name="arm">
  <link name="base"/>
  <link name="arm">
    <inertial><origin xyz="0 0 -0.1"/><mass value="0.5"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry>{shape}</geometry></collision>
  </link>
  <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
</robot>"""
BOX = '<box size="0.1 0.1 0.1"/>'


def binary_stl(path: Path) -> None:
    """Write a tetrahedron."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4") * 0.05
    faces = points[[[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]]]
    record = np.zeros(4, dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
    record["corners"] = faces
    path.write_bytes(bytes(80) + np.uint32(4).tobytes() + record.tobytes())


@pytest.mark.parametrize("name", ["arm.urdf", "ARM.URDF", "Arm.Urdf"])
def test_the_ending_of_a_urdf_may_be_in_any_letters(name: str, tmp_path: Path) -> None:
    binary_stl(tmp_path / "part.stl")
    (tmp_path / name).write_text(URDF.format(shape='<mesh filename="part.stl"/>'))
    spec = load_robot(tmp_path / name)
    model = compile_robot(spec)
    assert (model.nv, model.nmesh) == (1, 1)
    assert model.opt.gravity[2] == pytest.approx(-9.80665)


@pytest.mark.parametrize(
    ("name", "text", "target"),
    [
        ("arm.urdf.xacro", URDF.format(shape=BOX), "arm.urdf"),
        ("arm.xacro", URDF.format(shape=BOX), "arm.urdf"),
        ("arm.urdf", URDF.format(shape=BOX).replace("<link", "<xacro:arm/><link", 1), "expanded_arm.urdf"),
        ("arm.URDF", URDF.format(shape='<box size="${side} 0.1 0.1"/>'), "expanded_arm.URDF"),
    ],
    ids=["urdf.xacro", "xacro", "element", "expression"],
)
def test_what_xacro_has_not_expanded_names_the_command(
    name: str, text: str, target: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with refused(Malformed) as caught:
        load_robot(tmp_path / name)
    assert f"xacro {name} > {target}" in str(caught.value)


def test_a_mesh_that_is_missing_is_refused_in_one_line_where_ranges_are_checked(tmp_path: Path) -> None:
    (tmp_path / "arm.urdf").write_text(URDF.format(shape='<mesh filename="missing.stl"/>'))
    spec = load_robot(tmp_path / "arm.urdf")
    with refused(Conflict) as caught:
        require_in_range(spec, "run", ["j"], np.zeros((2, 1)))
    assert "missing.stl" in str(caught.value)
