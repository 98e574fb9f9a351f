# SPDX-License-Identifier: Apache-2.0
"""Contacts between links that overlap where a robot starts are left out; all others stay."""

from __future__ import annotations

import itertools
from pathlib import Path

import mujoco
import numpy as np
import pytest

from bam_core.mujoco import equip
from bam_core.mujoco.native import NativeServo, equip_native
from bam_core.mujoco.robot_file import load_robot
from bam_core.mujoco.start_contacts import exclude_start_contacts

_NAMES = (f"robot_{number}" for number in itertools.count())

INERTIA = '<inertia ixx="1e-3" iyy="1e-3" izz="1e-3" ixy="0" ixz="0" iyz="0"/>'


def link(name: str, size: str, place: str = "0 0 0") -> str:
    """A link of 0.2 kg that is a box."""
    box = f'<collision><origin xyz="{place}"/><geometry><box size="{size}"/></geometry></collision>'
    return f'<link name="{name}"><inertial><mass value="0.2"/>{INERTIA}</inertial>{box}</link>'


def joint(name: str, parent: str, child: str, place: str, axis: str, reach: float = 1.5) -> str:
    """A hinge."""
    return (
        f'<joint name="{name}" type="revolute"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{place}"/><axis xyz="{axis}"/>'
        f'<limit lower="-{reach}" upper="{reach}" effort="3" velocity="5"/></joint>'
    )


BASE = link("base", "0.06 0.06 0.06", "0 0 0.03")
PAN = joint("pan", "base", "turret", "0 0 0.05", "0 0 1")


def urdf(folder: Path, *parts: str) -> mujoco.MjSpec:
    """A URDF whose name no other test has: findings are logged once."""
    file = folder / "arm.urdf"
    file.write_text(f'<robot name="{next(_NAMES)}">{"".join(parts)}</robot>')
    return load_robot(file)


def mjcf(world: str, rest: str = "") -> mujoco.MjSpec:
    """An MJCF, likewise."""
    text = f'<mujoco model="{next(_NAMES)}"><compiler angle="radian"/><worldbody>{world}</worldbody>{rest}'
    return mujoco.MjSpec.from_string(f"{text}</mujoco>")


def pairs(spec: mujoco.MjSpec) -> set[tuple[str, str]]:
    """The pairs that were excluded."""
    finding = exclude_start_contacts(spec)
    return set() if finding is None else set(finding.pairs)


def test_the_base_of_a_urdf_does_not_jam_its_first_joint(tmp_path: Path) -> None:
    parts = BASE, PAN, link("turret", "0.05 0.05 0.06", "0 0 0.01")

    def angle(*, start_contacts: bool) -> float:
        spec = urdf(tmp_path, *parts)
        equip_native(spec, {"pan": NativeServo(servo="sts3215", kp=16)}, start_contacts=start_contacts)
        model = spec.compile()
        data = mujoco.MjData(model)
        data.ctrl[:] = 0.5
        for _ in range(1500):
            mujoco.mj_step(model, data)
        return float(data.qpos[0])

    assert angle(start_contacts=False) == pytest.approx(0.5, abs=0.02)
    assert angle(start_contacts=True) < 0.4


def test_the_finding_names_the_links_and_how_deep_they_overlap(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spec = urdf(tmp_path, BASE, PAN, link("turret", "0.05 0.05 0.06", "0 0 0.01"))
    equip(spec, {"pan": "sts3215"})
    (record,) = caplog.records
    (finding,) = record.args  # type: ignore[misc]
    assert finding.kind == "start_contacts"  # type: ignore[union-attr]
    assert finding.pairs == (("base", "turret"),)  # type: ignore[union-attr]
    assert finding.depth == pytest.approx(0.03, abs=1e-3)  # type: ignore[union-attr]
    assert exclude_start_contacts(spec) is None


def test_links_that_do_not_touch_are_simulated_as_described(tmp_path: Path) -> None:
    spec = urdf(tmp_path, BASE, PAN, link("turret", "0.05 0.05 0.02", "0 0 0.05"))
    assert pairs(spec) == set()
    assert not list(spec.excludes)


def test_a_first_link_whose_corner_touches_the_base_at_some_angle_is_free_to_turn(tmp_path: Path) -> None:
    wall = link("base", "0.02 0.2 0.2", "0.056 0 0.05")  # 46 mm from the axis; the corner is at 57
    spec = urdf(tmp_path, wall, PAN, link("turret", "0.08 0.08 0.02"))
    assert pairs(spec) == {("base", "turret")}


def test_links_flush_with_each_other_touch(tmp_path: Path) -> None:
    spec = urdf(tmp_path, BASE, PAN, link("turret", "0.05 0.05 0.02", "0 0 0.02"))
    assert pairs(spec) == {("base", "turret")}


GRANDCHILD = """<body name="a"><joint name="j1" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0 0 -0.1" size="0.02"/>
<body name="b" pos="0 0 -0.1"><joint name="j2" axis="0 1 0" range="-3 3"/><geom type="sphere" size="0.01"/>
<body {name}pos="0 0 -0.12"><joint name="j3" axis="0 1 0"/>
<geom type="sphere" size="0.02"/></body></body></body>"""


@pytest.mark.parametrize("name", ["", 'name="c" '])
def test_grandchildren_that_overlap_in_the_first_keyframe_are_no_obstacle(name: str) -> None:
    key = '<keyframe><key name="home" qpos="0 3 0"/><key name="down" qpos="0 0 0"/></keyframe>'
    spec = mjcf(GRANDCHILD.format(name=name), key)
    assert pairs(spec) == {("a", "c" if name else "body_3")}
    assert pairs(mjcf(GRANDCHILD.format(name=name))) == set()


def test_a_keyframe_is_the_start_where_it_is_named() -> None:
    key = '<keyframe><key name="down" qpos="0 0 0"/><key name="home" qpos="0 3 0"/></keyframe>'
    spec = mjcf(GRANDCHILD.format(name='name="c" '), key)
    assert exclude_start_contacts(spec) is None
    assert exclude_start_contacts(spec, keyframe="home") is not None


def test_zero_outside_of_a_joints_range_is_no_start() -> None:
    folded = GRANDCHILD.format(name='name="c" ').replace('range="-3 3"', 'range="2.5 3" ref="2.5"')
    assert pairs(mjcf(folded)) == set()
    reach = GRANDCHILD.format(name='name="c" ').replace('range="-3 3"', 'range="2.9 3.2"')
    assert pairs(mjcf(reach)) == {("a", "c")}


def test_where_a_run_begins_is_a_start_and_the_rest_of_it_shows_what_is_no_solid() -> None:
    world = GRANDCHILD.format(name='name="c" ')
    joints = ("j2", "not there")

    def excluded(*angles: float) -> bool:
        path = np.column_stack([angles, np.zeros(len(angles))])
        return exclude_start_contacts(mjcf(world), [(joints, path)]) is not None

    assert excluded(3.0)
    assert excluded(0.0, 1.0, 3.0)
    assert not excluded(0.0, 1.0, 2.0)
    touching = 2.84
    assert excluded(touching)
    assert not excluded(0.0, touching)  # 1 mm deep: it may lie there
    assert not excluded(float("nan"))


FREE = '<freejoint/><geom type="box" size=".05 .05 .05"/>'
LEG = '<body name="leg"><joint name="hip" axis="0 1 0"/><geom type="box" size=".04 .04 .1"/></body>'


def test_a_robot_stands_on_its_floor_and_things_lie_on_each_other() -> None:
    floor = '<geom type="plane" size="1 1 .1"/><geom name="step" type="box" size="1 1 .01"/>'
    robot = f'<body name="robot" pos="0 0 0.1">{FREE}{LEG}</body>'
    things = f'<body name="box" pos="1 0 .049">{FREE}</body><body name="lid" pos="1 0 .148">{FREE}</body>'
    assert pairs(mjcf(floor + robot + things)) == set()


ARM = """<body name="upper"><joint name="j1" axis="0 1 0"/>
<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>
<body name="hand" pos="0.3 0 0"><joint name="j2" axis="0 1 0"/>
<geom type="sphere" size="0.03"/></body></body>"""


def test_a_hand_lies_on_a_table_and_the_first_link_passes_through_its_stand() -> None:
    table = '<geom type="box" size=".05 .05 .05" pos=".3 0 -.078"/>'
    stand, floor = '<geom type="box" size=".05 .05 .05"/>', '<geom type="plane" size="1 1 .1"/>'
    assert pairs(mjcf(table + ARM)) == set()
    assert pairs(mjcf(f'<body name="table">{table}</body>{ARM}')) == set()
    assert pairs(mjcf(stand + floor + ARM)) == {("", "upper")}
    assert pairs(mjcf(f'{floor}<body name="post">{stand}{ARM}</body>')) == {("post", "upper")}


def test_contacts_that_a_description_asks_for_stay() -> None:
    world = GRANDCHILD.format(name='name="c" ').replace("<geom", '<geom name="{}"')
    for name in "abc":
        world = world.replace("{}", f"geom_{name}", 1)
    key = '<keyframe><key name="home" qpos="0 3 0"/></keyframe>'
    asked = '<contact><pair geom1="geom_a" geom2="geom_c"/></contact>'
    assert pairs(mjcf(world, key)) == {("a", "c")}
    assert pairs(mjcf(world, key + asked)) == set()


def test_both_arms_of_one_robot_may_overlap() -> None:
    arms = ARM + ARM.replace('name="', 'name="other_')
    base = '<body name="torso"><geom type="sphere" size="0.001" pos="0 1 0"/>{}</body>'
    assert ("upper", "other_upper") in pairs(mjcf(base.format(arms)))
    assert ("upper", "other_upper") not in pairs(mjcf(arms))
