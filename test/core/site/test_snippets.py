# SPDX-License-Identifier: Apache-2.0
"""Python in README, docs/ and on servo cards runs as it is printed; models in XML compile."""

from __future__ import annotations

import re
from pathlib import Path

import mujoco
import pytest

from bam_core.mujoco.native import load_plugin
from bam_core.mujoco.native.library import _places
from bam_core.servo.model import load_servo, servo_names
from test.documented import ROOT, Block, blocks, written

from site_pages import examples, servo_cards  # isort: skip

ROBOT = """<mujoco><worldbody><body><joint name="shoulder" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -.2" size=".02" mass=".3"/></body></worldbody></mujoco>"""
PYTHON = [each for each in blocks(written()) if each.language == "python"]
RUN = [
    pytest.param(each, id=str(each), marks=[pytest.mark.long] if "identify(" in each.code else [])
    for each in PYTHON
    if not each.not_run
]
CARDS = list(blocks(servo_cards.pages()))


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory of somebody who has a robot and an identified servo."""
    (tmp_path / "robot.xml").write_text(ROBOT)
    load_servo("xl330").save(tmp_path / "identified" / "m4.yaml")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(block: Block) -> None:
    exec(compile(block.code, str(block), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("block", RUN)
def test_python_runs_as_printed(block: Block, place: Path) -> None:
    run(block)


def test_every_block_of_code_ends() -> None:
    for page, text in written().items():
        is_inside = False
        for number, line in enumerate(text.splitlines(), 1):
            fence = re.match(r"(?: *(?:\d+\.|-))? *```(.*)", line)
            if fence is not None:
                assert not (is_inside and fence[1]), f"{page}:{number}: a block begins inside another"
                is_inside = not is_inside
        assert not is_inside, page


def test_most_python_is_run_and_the_rest_compiles() -> None:
    left = [each for each in PYTHON if each.not_run]
    assert len(left) < len(PYTHON) / 2
    for block in left:
        compile(block.code, str(block), "exec")


@pytest.mark.long
@pytest.mark.parametrize("block", [each for each in CARDS if each.language == "python"], ids=str)
def test_python_of_servo_cards_runs(block: Block, place: Path) -> None:
    run(block)


@pytest.mark.parametrize("block", [each for each in CARDS if each.language == "xml"], ids=str)
def test_models_of_servo_cards_compile(block: Block) -> None:
    load_plugin()
    if "<limit" in block.code:  # URDF: a joint, which needs the robot around it
        links = '<link name="base"/><link name="arm"><inertial><mass value="1"/>'
        links += '<inertia ixx=".1" iyy=".1" izz=".1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        robot = f'<robot name="arm">{links}{block.code}</robot>'
        assert mujoco.MjSpec.from_string(robot).compile().njnt == 1
        return
    model = mujoco.MjSpec.from_string(block.code).compile()
    assert "plugin" not in block.code or model.nu == 1


def test_the_plugin_is_where_cards_and_its_page_say() -> None:
    places = {str(path.relative_to(ROOT)) for path in _places() if path.is_relative_to(ROOT / "install")}
    page = "docs/how-to/mujoco.md"
    texts = {**servo_cards.pages(), page: written()[page]}
    del texts["reference/servos/index.md"]
    for page, text in texts.items():
        assert set(re.findall(r"install/\S+libbam_servo\.so", text)) == places, page


def test_every_servo_has_a_card_with_every_kind_of_snippet() -> None:
    for name in servo_names():
        kinds = [each.language for each in CARDS if each.page == f"reference/servos/{name}.md"]
        assert [kinds.count(kind) for kind in ("python", "xml")] == [2, 3], name
        assert "bash" in kinds


def test_the_page_of_examples_has_them_all() -> None:
    (text,) = examples.pages().values()
    names = [file.name for file in examples.EXAMPLES.glob("*.py")]
    assert len(names) == text.count("\n## ") == len([name for name in names if f"## {name}" in text])
