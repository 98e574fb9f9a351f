# SPDX-License-Identifier: Apache-2.0
"""Meshes of URDFs: found in packages wherever these lie; what MuJoCo cannot read costs contacts only."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.errors import Conflict, Malformed
from bam_core.mujoco.robot import compile_robot
from bam_core.mujoco.robot_file import load_robot
from bam_core.text.description_findings import UnusableMeshes
from test.core.mujoco.test_robot_file import URDF, binary_stl
from test.core.refusals import refused

ENVIRONMENT = ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", "BAM_MODEL_FOLDER")


@pytest.fixture(autouse=True)
def nothing_sourced(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ENVIRONMENT:
        monkeypatch.delenv(variable, raising=False)


def arm(folder: Path, mesh: str, head: str = "") -> Path:
    """A URDF in a folder, with one collision mesh."""
    folder.mkdir(parents=True, exist_ok=True)
    text = URDF.format(shape=f'<mesh filename="{mesh}"/>').replace("<link", head + "<link", 1)
    (folder / "arm.urdf").write_text(text)
    return folder / "arm.urdf"


def stl(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    binary_stl(path)
    return path


def meshes(path: Path) -> int:
    return int(compile_robot(load_robot(path)).nmesh)


def findings(caplog: pytest.LogCaptureFixture) -> list[UnusableMeshes]:
    return [record.args[0] for record in caplog.records]  # type: ignore[index, misc]


@pytest.mark.parametrize("scheme", ["package", "model"])
@pytest.mark.parametrize(
    ("robot", "mesh"),
    [
        ("my_robot/urdf", "my_robot/meshes"),
        ("my_robot/robots/small/urdf", "my_robot/meshes"),
        ("bringup/urdf", "my_robot/meshes"),
        ("urdf", "urdf/my_robot/meshes"),
        ("checkout/urdf", "checkout/meshes"),
    ],
    ids=["above", "far above", "beside its package", "beside it", "by its manifest"],
)
def test_a_package_is_found_from_where_the_description_lies(
    tmp_path: Path, robot: str, mesh: str, scheme: str
) -> None:
    stl(tmp_path / mesh / "part.stl")
    path = arm(tmp_path / robot, f"{scheme}://my_robot/meshes/part.stl")
    if robot.startswith("checkout"):
        manifest = "<package><name> my_robot </name><version>1.0.0</version></package>"
        (tmp_path / "checkout" / "package.xml").write_text(manifest)
    assert meshes(path) == 1


@pytest.mark.parametrize(
    ("variable", "prefix", "package"),
    [
        ("AMENT_PREFIX_PATH", "install", "install/share/my_robot"),
        ("ROS_PACKAGE_PATH", "src", "src/my_robot"),
        ("ROS_PACKAGE_PATH", "src/my_robot", "src/my_robot"),
        ("BAM_MODEL_FOLDER", "models", "models/my_robot"),
    ],
)
def test_a_package_is_found_by_what_is_sourced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str, prefix: str, package: str
) -> None:
    stl(tmp_path / package / "meshes" / "part.stl")
    path = arm(tmp_path / "elsewhere" / "deep" / "urdf", "package://my_robot/meshes/part.stl")
    monkeypatch.setenv(variable, f"/nowhere:{tmp_path / prefix}")
    assert meshes(path) == 1


def test_a_file_uri_is_a_path(tmp_path: Path) -> None:
    place = stl(tmp_path / "meshes" / "part.stl")
    assert meshes(arm(tmp_path / "urdf", f"file://{place}")) == 1
    place.unlink()
    assert meshes(arm(tmp_path / "urdf", f"file://{place}")) == 0


def test_paths_beside_a_package_uri_stay_what_they_are(tmp_path: Path) -> None:
    stl(tmp_path / "my_robot" / "meshes" / "part.stl")
    folder = tmp_path / "my_robot" / "urdf"
    path = arm(folder, "package://my_robot/meshes/part.stl")
    twice = path.read_text().replace(
        "</collision>", '</collision><collision><geometry><mesh filename="{}"/></geometry></collision>', 1
    )
    path.write_text(twice.format("../meshes/part.stl"))
    assert compile_robot(load_robot(path)).ngeom == 2


def test_folders_that_the_compiler_strips_stay_stripped(tmp_path: Path) -> None:
    stl(tmp_path / "urdf" / "meshes" / "part.stl")
    compiler = '<mujoco><compiler strippath="true" meshdir="meshes"/></mujoco>'
    assert meshes(arm(tmp_path / "urdf", "package://gone/stl/part.stl", compiler)) == 1
    stl(tmp_path / "urdf" / "my_robot" / "other.stl")
    assert meshes(arm(tmp_path / "urdf", "package://my_robot/other.stl", compiler)) == 1


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("gone.stl", None, "missing"),
        ("package://nobody/gone.stl", None, "missing"),
        ("package://../part.stl", None, "missing"),
        ("part.stl", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "lfs"),
        ("part.dae", b"<COLLADA/>", "format"),
        ("part.STL", b"solid part\n" + b"facet normal 0 0 1\n" * 20, "format"),
    ],
)
def test_a_mesh_that_cannot_be_read_costs_contacts_only(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, name: str, content: bytes | None, kind: str
) -> None:
    path = arm(tmp_path / "urdf", name)
    if content is not None:
        (path.parent / name).write_bytes(content)
    model = compile_robot(load_robot(path))
    assert model.ngeom == 0
    assert model.body_mass[1] == 0.5
    (finding,) = findings(caplog)
    assert (finding.kind, finding.meshes, finding.links) == (kind, (name,), ("arm",))


def test_a_binary_stl_that_begins_like_text_is_read(tmp_path: Path) -> None:
    place = stl(tmp_path / "part.stl")
    place.write_bytes(b"solid by a CAD program".ljust(80) + place.read_bytes()[80:])
    assert meshes(arm(tmp_path, "part.stl")) == 1


def test_inertia_that_only_a_missing_mesh_could_give_is_refused(tmp_path: Path) -> None:
    path = arm(tmp_path, "gone.stl")
    text = path.read_text()
    begin, end = text.index("<inertial>"), text.index("</inertial>") + len("</inertial>")
    path.write_text(text[:begin] + text[end:])
    with refused(Malformed, path=str(path)) as caught:
        load_robot(path)
    assert "link 'arm'" in str(caught.value)


def test_the_base_needs_no_inertia(tmp_path: Path) -> None:
    stl(tmp_path / "part.stl")
    path = arm(tmp_path, "part.stl")
    base = '<link name="base"><collision><geometry><mesh filename="gone.stl"/></geometry></collision></link>'
    path.write_text(path.read_text().replace('<link name="base"/>', base))
    assert meshes(path) == 1


def test_meshes_that_are_only_seen_may_be_missing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = arm(tmp_path, "package://nobody/gone.dae")
    path.write_text(path.read_text().replace("collision>", "visual>"))
    assert compile_robot(load_robot(path)).ngeom == 0
    assert not caplog.records


def test_a_mesh_in_no_folder_of_the_description_is_refused_unless_its_package_has_it(tmp_path: Path) -> None:
    stl(tmp_path / "my_robot" / "meshes" / "part.stl")
    path = arm(tmp_path / "my_robot" / "robots" / "small", "../../meshes/part.stl")
    with refused(Malformed, path=str(path)):
        load_robot(path)
    (tmp_path / "my_robot" / "package.xml").write_text("<package><name>any</name></package>")
    assert meshes(path) == 1
    with refused(Malformed):
        load_robot(arm(path.parent, "/etc/part.stl"))


def test_what_is_no_xml_is_mujocos_to_refuse(tmp_path: Path) -> None:
    path = arm(tmp_path, "part.stl")
    path.write_text(path.read_text().replace("</link>", "", 1))
    with refused(Malformed, path=str(path)):
        load_robot(path)


def test_folders_count_where_the_compiler_of_mujoco_3_took_them_off(tmp_path: Path) -> None:
    stl(tmp_path / "urdf" / "meshes" / "part.stl")
    compiler = '<mujoco><compiler meshdir="meshes" discardvisual="false"/></mujoco>'
    path = arm(tmp_path / "urdf", "meshes/part.stl", compiler)
    assert meshes(path) == 1
    path.write_text(path.read_text().replace("collision>", "visual>"))
    assert meshes(path) == 1


ONES = '<inertia ixx="1e-6" iyy="1e-6" izz="1e-6" ixy="1e-6" ixz="1e-6" iyz="1e-6"/>'


def test_inertia_of_a_base_and_of_frames_does_not_matter(tmp_path: Path) -> None:
    dummy = f'<inertial><mass value="1e-6"/>{ONES}</inertial>'
    frame = (
        f'<link name="tool">{dummy}</link><joint name="fixed" type="fixed"><parent link="arm"/>'
        '<child link="tool"/></joint></robot>'
    )
    path = tmp_path / "arm.urdf"
    text = URDF.format(shape='<box size="0.1 0.1 0.1"/>')
    text = text.replace('<link name="base"/>', f'<link name="base">{dummy}</link>').replace("</robot>", frame)
    path.write_text(text)
    model = compile_robot(load_robot(path))
    assert model.body_mass[1] == pytest.approx(0.5, abs=1e-5)
    path.write_text(text.replace('1e-6"/><inertia', '0.5"/><inertia'))
    with refused(Conflict):
        compile_robot(load_robot(path))
