# SPDX-License-Identifier: Apache-2.0
"""An MJCF whose textures, skins, height fields or meshes are missing moves as with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.errors import Malformed
from bam_core.mujoco.robot import compile_robot
from bam_core.mujoco.robot_file import load_robot
from bam_core.text.description_findings import MissingAssets
from test.core.finding_cases import logged
from test.core.refusals import refused

ROBOT = """<mujoco model="arm">
  <compiler meshdir="meshes" texturedir="textures"/>
  <asset>
    <texture name="wood" type="2d" file="wood.png"/>
    <texture name="cube" type="cube" fileright="r.png" fileleft="l.png"/>
    <material name="wood" texture="wood"/>
    <hfield name="ground" file="ground.png" size="1 1 1 1"/>
    <mesh file="shell.stl"/>
  </asset>
  <worldbody>
    <geom type="hfield" hfield="ground"/>
    <body name="arm">
      <joint name="hinge" axis="0 1 0"/>
      {inertia}
      <geom name="shell" type="mesh" mesh="shell" {shell}/>
      <geom name="rod" type="capsule" fromto="0 0 0 0 0 -0.2" size="0.01" material="wood"/>
    </body>
  </worldbody>
  <deformable><skin name="skin" file="arm.skn"/></deformable>
</mujoco>
"""
INERTIA = '<inertial pos="0 0 -0.1" mass="0.3" diaginertia="0.001 0.001 0.001"/>'


def written(folder: Path, inertia: str = INERTIA, shell: str = "") -> Path:
    path = folder / "arm.xml"
    path.write_text(ROBOT.format(inertia=inertia, shell=shell))
    return path


def test_what_is_missing_is_left_out_and_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    model = compile_robot(load_robot(written(tmp_path)))
    assert (model.ntex, model.nskin, model.nhfield, model.nmesh) == (0, 0, 0, 0)
    assert model.body("arm").mass == pytest.approx(0.3)
    assert model.geom("shell").contype == 0
    findings = [finding for finding in logged(caplog) if isinstance(finding, MissingAssets)]
    assert {finding.element: finding.files for finding in findings} == {
        "texture": ("wood.png", "r.png", "l.png"),
        "skin": ("arm.skn",),
        "height field": ("ground.png",),
        "mesh": ("shell.stl",),
    }
    assert {finding.links for finding in findings} == {(), ("world",), ("arm",)}


def test_a_mesh_that_gives_inertia_is_needed(tmp_path: Path) -> None:
    with refused(Malformed, path=str(written(tmp_path, inertia=""))):
        load_robot(written(tmp_path, inertia=""))


@pytest.mark.parametrize("shell", ['mass="0"', 'density="0"'])
def test_a_mesh_without_mass_is_not(tmp_path: Path, shell: str) -> None:
    model = compile_robot(load_robot(written(tmp_path, inertia="", shell=shell)))
    assert 0.0 < model.body("arm").mass[0] < 1.0


def test_a_pointer_of_git_lfs_is_as_good_as_missing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "textures").mkdir()
    (tmp_path / "textures" / "wood.png").write_text("version https://git-lfs.github.com/spec/v1\n")
    load_robot(written(tmp_path))
    kinds = {
        finding.element: finding.kind for finding in logged(caplog) if isinstance(finding, MissingAssets)
    }
    assert kinds["texture"] == "asset_pointers"
    assert kinds["mesh"] == "missing_assets"
