# SPDX-License-Identifier: Apache-2.0
"""Descriptions of strangers: which files they make MuJoCo open, and how many copies they ask for."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest

from bam_core.errors import Conflict, Malformed
from bam_core.mujoco.library_warnings import divergence_reported, library_warnings
from bam_core.mujoco.model_files import FOLDER_VARIABLE
from bam_core.mujoco.robot import compile_robot
from bam_core.mujoco.robot_file import load_robot
from test.core.refusals import refused

MODEL = """<mujoco>
  <!-- -- a comment that is no XML, with <include file="/etc/none.xml"/> in it -- -->
  {head}
  <worldbody><body><joint name="hip"/><geom size="0.1" mass="1"/>{inside}</body></worldbody>
</mujoco>
"""
PART = "<mujoco><worldbody><body><geom size='0.1' mass='1'/></body></worldbody></mujoco>"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder for a description, in a package, in a workspace; each has a part."""
    folder = tmp_path / "workspace" / "package" / "robots"
    folder.mkdir(parents=True)
    for place in (tmp_path / "workspace", folder.parent, folder):
        (place / "part.xml").write_text(PART)
    return folder


def written(home: Path, head: str = "", inside: str = "") -> Path:
    path = home / "robot.xml"
    path.write_text(MODEL.format(head=head, inside=inside))
    return path


@pytest.mark.parametrize("name", ["part.xml", "../part.xml", "./../robots/part.xml"])
def test_files_beside_a_description_and_in_the_folder_above_are_read(home: Path, name: str) -> None:
    assert load_robot(written(home, f'<include file="{name}"/>')).compile().nbody == 3


@pytest.mark.parametrize(
    "head",
    [
        '<include file="../../part.xml"/>',
        "<include\n  file = '/etc/passwd' />",
        '<include file="&#46;./../part.xml"/>',
        '<asset><mesh name="m" file="../../m.stl"/></asset>',
        '<compiler meshdir="../.."/><asset><mesh name="m" file="m.stl"/></asset>',
        '<compiler assetdir="/etc"/><asset><hfield name="h" file="h.png" size="1 1 1 1"/></asset>',
        '<asset><texture name="t" type="cube" fileup="/etc/up.png"/></asset>',
    ],
)
def test_files_elsewhere_are_refused_before_they_are_opened(home: Path, head: str) -> None:
    with pytest.raises(Malformed, match=r"robot.xml: names .*, which lies elsewhere \(expected files in"):
        load_robot(written(home, head))


def test_what_is_included_may_include_nothing_from_elsewhere_either(home: Path) -> None:
    (home / "inner.xml").write_text('<mujoco><include file="../../part.xml"/></mujoco>')
    with pytest.raises(Malformed, match="lies elsewhere"):
        load_robot(written(home, '<include file="inner.xml"/>'))


def test_a_user_names_the_folder_that_holds_all(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER_VARIABLE, str(home.parents[1]))
    assert load_robot(written(home, '<include file="../../part.xml"/>')).compile().nbody == 3


@pytest.mark.parametrize("target", ["part.xml", "../part.xml"])
def test_links_to_files_that_may_be_read_are_followed(home: Path, target: str) -> None:
    (home / "linked.xml").symlink_to(target)
    assert load_robot(written(home, '<include file="linked.xml"/>')).compile().nbody == 3


def test_a_description_that_consists_of_links_is_read(home: Path, tmp_path: Path) -> None:
    written(home, '<include file="part.xml"/>')
    built = tmp_path / "install" / "share" / "robots"  # as colcon --symlink-install makes them
    built.mkdir(parents=True)
    for name in ("robot.xml", "part.xml"):
        (built / name).symlink_to(home / name)
    assert load_robot(built / "robot.xml").compile().nbody == 3


@pytest.mark.parametrize(
    "head",
    [
        '<include file="linked.xml"/>',
        '<asset><mesh name="m" file="linked.xml"/></asset>',
        '<include file="folder/part.xml"/>',
        '<include file="folder/../part.xml"/>',
        '<compiler meshdir="folder"/><asset><mesh name="m" file="part.xml"/></asset>',
    ],
)
def test_links_that_lead_elsewhere_are_refused(home: Path, head: str) -> None:
    elsewhere = home.parents[1] / "other" / "folder"
    elsewhere.mkdir(parents=True)
    (home / "linked.xml").symlink_to(home.parents[1] / "part.xml")
    (home / "folder").symlink_to(elsewhere)
    with refused(Malformed, path=str(home / "robot.xml")) as caught:
        load_robot(written(home, head))
    assert "lies elsewhere" in str(caught.value)


GEOM = '<geom size="0.01" mass="0.01"/>'


@pytest.mark.parametrize(
    ("head", "inside"),
    [
        ("", '<replicate count="100001">' + GEOM + "</replicate>"),
        ("", '<replicate count="1000"><replicate count="1000">' + GEOM + "</replicate></replicate>"),
        ("", '<flexcomp name="f" type="grid" count="1000 1000 1000" spacing="1 1 1" dim="3"/>'),
        ('<size nuser_body="200000000"/>', ""),
        ('<size nuser_geom="100000"/>', '<replicate count="9999">' + GEOM + "</replicate>"),
        ('<size nuserdata="200000000"/>', ""),
        ('<size nuserdata="nan"/>', ""),
        ('<size nkey="10000000"/>', ""),
        ('<size memory="900G"/>', ""),
        ('<size njmax="100000"/>', ""),
        ('<size nconmax="10000000"/>', ""),
        ('<size nstack="10000000000"/>', ""),
        ('<sensor><user name="u" dim="200000000"/></sensor>', ""),
        ('<sensor><contact num="200000000"/></sensor>', ""),
        ('<sensor><clock nsample="200000000" delay="1" interval="1"/></sensor>', ""),
        ('<actuator><general joint="hip" dyntype="user" actdim="200000000"/></actuator>', ""),
        ('<custom><numeric name="a" size="200000000"/></custom>', ""),
        ('<asset><mesh name="m" builtin="supersphere" params="20000 1 1"/></asset>', ""),
        ('<asset><mesh name="m" builtin="plate" params="20000 20000"/></asset>', ""),
        ('<visual><global offwidth="100000" offheight="100000"/></visual>', ""),
        ('<visual><quality shadowsize="100000"/></visual>', ""),
        ("", '<camera name="c" resolution="100000 100000"/>'),
        ("", '<composite type="cable" count="100000000 1 1" curve="s" size="1"/>'),
        ("", '<flexcomp name="f" type="grid" count="3 3 3" spacing="1 1 1" cellcount="1000 1000 1"/>'),
        ("", ('<replicate count="99999">' + GEOM + "</replicate>") * 6),
        ('<asset><hfield name="h" nrow="1000000" ncol="1000000" size="1 1 1 1"/></asset>', ""),
        ('<asset><texture name="t" builtin="flat" width="100000" height="100000"/></asset>', ""),
    ],
)
def test_more_than_fits_the_memory_is_refused(home: Path, head: str, inside: str) -> None:
    with pytest.raises(Malformed, match="asks for"):
        load_robot(written(home, head, inside))


def test_copies_one_after_the_other_do_not_multiply(home: Path) -> None:
    row = '<replicate count="400">' + GEOM + "</replicate>"
    assert load_robot(written(home, inside=row * 3)).compile().ngeom == 1201


def test_copies_of_what_is_included_multiply(home: Path) -> None:
    row = '<mujoco><replicate count="1000">' + GEOM + "</replicate></mujoco>"
    (home / "row.xml").write_text(row)
    with pytest.raises(Malformed, match="replicate asks for 1e\\+06"):
        load_robot(written(home, inside='<replicate count="1000"><include file="row.xml"/></replicate>'))


MODEL_ASSET = '<asset><model name="arm" file="arm.xml"/></asset>'
ATTACHED = '<attach model="arm" body="arm" prefix="a"/>'


def arm(home: Path, inside: str, head: str = "") -> None:
    body = f'<body name="arm"><geom size="0.1" mass="1"/>{inside}</body>'
    (home / "arm.xml").write_text(f"<mujoco>{head}<worldbody>{body}</worldbody></mujoco>")


def test_a_model_that_is_attached_is_looked_at_too(home: Path) -> None:
    arm(home, "")
    assert load_robot(written(home, MODEL_ASSET, ATTACHED)).compile().nbody == 3
    arm(home, "", '<include file="../../part.xml"/>')
    with pytest.raises(Malformed, match="lies elsewhere"):
        load_robot(written(home, MODEL_ASSET, ATTACHED))
    arm(home, '<replicate count="1000">' + GEOM + "</replicate>")
    with pytest.raises(Malformed, match="asks for"):
        load_robot(
            written(home, MODEL_ASSET, f'<replicate count="1000"><frame>{ATTACHED}</frame></replicate>')
        )


@pytest.mark.parametrize("head", [MODEL_ASSET, '<include file="arm.xml"/>'])
def test_a_description_that_includes_itself_is_refused(home: Path, head: str) -> None:
    """A model that is its own asset takes MuJoCo 4.0 down."""
    arm(home, "", head)
    with pytest.raises(Malformed, match="includes itself"):
        load_robot(written(home, head))


def test_what_large_models_ask_for_is_granted(home: Path) -> None:
    sizes = '<size memory="100M" nkey="20" nuserdata="100" nuser_geom="10"/>'
    mesh = '<asset><mesh name="m" builtin="supersphere" params="20 1 1"/></asset>'
    row = '<replicate count="50">' + GEOM.replace("/>", ' user="1 2 3"/>') + "</replicate>"
    assert load_robot(written(home, sizes + mesh, row)).compile().ngeom == 51


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "a.xml",
            '<mujoco><worldbody><body pos="0 0 nan"><joint/><geom size="1"/></body></worldbody></mujoco>',
        ),
        (
            "a.urdf",
            '<robot name="a"><link name="b"><inertial><mass value="NaN"/></inertial></link></robot>',
        ),
    ],
)
def test_a_number_that_is_none_is_one_line_and_leaves_no_file(
    home: Path, name: str, text: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """MuJoCo alone prints a warning, appends it to MUJOCO_LOG.TXT and goes on."""
    monkeypatch.chdir(home)
    path = home / name
    path.write_text(text)
    with refused(Malformed, path=str(path)) as caught:
        load_robot(path)
    assert "NaN" in str(caught.value)
    assert capfd.readouterr() == ("", "")
    assert not (home / "MUJOCO_LOG.TXT").exists()


def test_a_simulation_that_diverges_prints_nothing_of_its_own(
    home: Path,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(home)
    model = load_robot(written(home)).compile()
    data = mujoco.MjData(model)
    with library_warnings() as outer:
        with divergence_reported():
            data.qvel[0] = 1e300
            mujoco.mj_step(model, data)
        assert len(outer) == 1
    assert capfd.readouterr() == ("", "")
    assert not caplog.records
    assert not (home / "MUJOCO_LOG.TXT").exists()
    another = mujoco.MjData(model)  # MuJoCo warns once of each
    another.qvel[0] = 1e300
    mujoco.mj_step(model, another)
    assert "unstable" in capfd.readouterr().err


@pytest.mark.parametrize("error", [RuntimeError("Caught an\nunknown exception!"), MemoryError()])
def test_whatever_mujoco_raises_is_one_line(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    class Failing:
        modelname = "robot"

        @staticmethod
        def from_file(path: str) -> None:
            raise error

        def compile(self) -> None:
            raise error

    monkeypatch.setattr("mujoco.MjSpec", Failing)
    with refused(Malformed):
        load_robot(written(home))
    with refused(Conflict):
        compile_robot(Failing())


@pytest.mark.parametrize("folder", ["", "parts/"])
def test_a_part_that_git_lfs_has_not_fetched_names_the_command(home: Path, folder: str) -> None:
    (home / folder).mkdir(exist_ok=True)
    (home / folder / "a.xml").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n")
    path = written(home, f'<include file="{folder}a.xml"/>')
    with refused(Malformed, path=str(path), advice="run 'git lfs pull' in its repository"):
        load_robot(path)
