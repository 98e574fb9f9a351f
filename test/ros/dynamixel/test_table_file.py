# SPDX-License-Identifier: Apache-2.0
"""A model of one's own is a section in a YAML file; mistakes in it are named with section and register."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.errors import BamError, Conflict, Missing, OutOfRange, UnknownName
from bam_ros.dynamixel.bus import DynamixelBus
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTables
from bam_ros.dynamixel.settings import DynamixelSettings

MINE = """
mine:
  like: xm430_w350
  title: Mine
  model_number: 4711
  units: {current: {A: 0.001}}
  registers:
    current_limit: [38, 2, ERW, 500, 0, 500, current]
    led: ~
"""


def tables(tmp_path: Path, text: str) -> ControlTables:
    file = tmp_path / "mine.yaml"
    file.write_text(text)
    return CONTROL_TABLES.with_file(file)


def test_a_model_has_what_it_is_like_but_for_what_its_file_tells(tmp_path: Path) -> None:
    mine, like = tables(tmp_path, MINE)["mine"], CONTROL_TABLES["xm430_w350"]
    assert (mine.title, mine.model_number, mine.protocol) == ("Mine", 4711, 2)
    assert mine["model_number"].initial == 4711
    assert mine["present_current"].unit.scale == 0.001
    assert mine["current_limit"].high == 500
    assert "led" not in mine
    assert mine["goal_position"] == like["goal_position"]
    assert like["present_current"].unit.scale == pytest.approx(2.69e-3)


def test_built_in_models_stay_known_beside_those_of_a_file(tmp_path: Path) -> None:
    known = tables(tmp_path, MINE)
    assert known.of_model(4711) is known["mine"]
    assert known.of_model(1020).name == "xm430_w350"  # type: ignore[union-attr]
    assert CONTROL_TABLES.of_model(4711) is None


def test_a_file_may_tell_a_built_in_model_of_other_firmware(tmp_path: Path) -> None:
    known = tables(tmp_path, "newer: {like: xl330, model_number: 1200, title: XL330 newer}")
    assert known.of_model(1200).name == "newer"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("text", "kind", "named"),
    [
        ("mine: {like: xm431, model_number: 1}", UnknownName, "xm431"),
        ("mine: {like: mine, model_number: 1}", OutOfRange, "mine"),
        ("xl330: {like: x330, model_number: 1}", Conflict, "xl330"),
        ("family: {like: x330}", Missing, "model_number"),
        ("mine: {like: x330, title: a, model_number: seven}", OutOfRange, "model_number"),
        ("mine: {like: x330, model_number: 1}", Missing, "title"),
        ("mine: {like: x330, title: a, model_number: 1, colour: red}", UnknownName, "colour"),
        ("mine: {like: x330, title: a, model_number: 1, firmware: x}", UnknownName, "firmware"),
        ("mine: {like: x330, title: a, model_number: 1, registers: {id: ~}}", Missing, "id"),
        ("mine: {like: x330, title: a, model_number: 1, registers: {led: [65, 3, RW]}}", OutOfRange, "led"),
        ("mine: {like: x330, title: a, model_number: 1, registers: {led: [64, 1, RW]}}", OutOfRange, "64"),
        (
            "mine: {like: x330, title: a, model_number: 1, registers: {led: [65, 1, RW, 0, 0, 1, furlong]}}",
            UnknownName,
            "furlong",
        ),
        ("mine: {like: x330, title: a, model_number: 1, units: {current: {mA: 1}}}", OutOfRange, "current"),
        ("mine: {like: x330, title: a, model_number: 1, units: {current: {A: -1}}}", OutOfRange, "current"),
        ("mine: {like: x330, title: a, model_number: 1, error_bits: {1: fire}}", UnknownName, "fire"),
        ("mine: {like: x330, title: a, model_number: 1, data_sheet: [5.0]}", OutOfRange, "data_sheet"),
        ("mine: seven", BamError, "mine"),
        ("[mine]", BamError, "mine.yaml"),
    ],
)
def test_a_mistake_is_one_line_that_names_it(
    text: str, kind: type[BamError], named: str, tmp_path: Path
) -> None:
    with pytest.raises(kind) as caught:
        tables(tmp_path, text)
    assert named in str(caught.value)
    assert "\n" not in str(caught.value)


BROKEN_KEYS = """
title: [a]
title: ""
title: "a\\nb"
model_number: true
model_number: 1.5
model_number: -1
model_number: ~
like: [x330]
like: ~
protocol: true
protocol: 3
firmware: [mx]
law: [a]
source: 2026-01-01
firmware_version: x
firmware_version: -1
bulk_read: maybe
fast_read: 3
baud_divider: x
baud_divider: 0
baud_rates: [57600]
baud_rates: {1: fast}
baud_rates: {a: 57600}
baud_rates: {1: -5}
baud_rates: {0: ~, 1: ~, 2: ~, 3: ~, 4: ~, 5: ~, 6: ~, 7: ~}
position_mode: [3]
position_mode: ~
position_mode: {operating_mode: three}
position_mode: {operating_mode: 300}
position_mode: {nothing: 3}
extended_mode: {nothing: 3}
current_mode: {nothing: 3}
pwm_mode: {nothing: 3}
law_off: profile_velocity
law_off: [nothing]
law_off: 3
error_register: nothing
error_register: [a]
error_bits: [1]
error_bits: ~
error_bits: {a: OVERLOAD}
indirect: [1]
indirect: {block: [[168, 224, 28]]}
indirect: {blocks: 5}
indirect: {blocks: [[168, 224]]}
indirect: {blocks: [[168, a, 28]]}
indirect: {blocks: [[168, 224, -3]]}
indirect: {blocks: [[168, 224, 100000]]}
data_sheet: [a, b, c, d]
data_sheet: [12, -1, 1, 1]
units: [1]
units: {current: {A: 1, zero: x}}
units: {current: {A: 1, direction_bit: 99}}
units: {current: {A: 1, scale: 3}}
units: {current: {A: .nan}}
registers: [1]
registers: {led: []}
registers: {led: [true, 1, RW]}
registers: {led: [65, 1.0, RW]}
registers: {led: [65, 1, [R]]}
registers: {led: [65, 1, RW, 0, 5, 1]}
registers: {led: [65, 1, RW, 0, 0, 300]}
registers: {led: [65, 1, RW, 300, 0, 1]}
registers: {led: [65, 1, RW, 0, 0, 1, [a]]}
registers: {torque_enable: [64, 1, R]}
registers: {torque_enable: [64, 1, ERW, 0, 0, 1]}
registers: {goal_position: [116, 4, R, 0, signed, ~, position]}
registers: {goal_position: [116, 4, RW, 0, signed, ~]}
registers: {present_position: [132, 4, R, 0, signed, ~, current]}
"""


@pytest.mark.parametrize("broken", BROKEN_KEYS.strip().splitlines())
def test_no_broken_key_is_passed_over(broken: str, tmp_path: Path) -> None:
    key = broken.partition(":")[0]
    right = {"like": "xm430_w350", "title": "a", "model_number": "4711"}
    lines = [f"  {name}: {value}" for name, value in right.items() if name != key]
    with pytest.raises(BamError) as caught:
        tables(tmp_path, "\n".join(["mine:", *lines, f"  {broken}"]))
    assert "mine" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_two_models_of_a_file_with_one_number_are_refused(tmp_path: Path) -> None:
    section = "{like: xm430_w350, title: a, model_number: 4711}"
    with pytest.raises(Conflict, match="4711"):
        tables(tmp_path, f"one: {section}\ntwo: {section}")


@pytest.mark.parametrize("content", [b"", b"# nothing", b"mine:", b"mine: {like", b"\xff\xfe\x00mine", b"7"])
def test_a_file_without_sections_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_bytes(content)
    with pytest.raises(BamError, match=r"mine\.yaml") as caught:
        CONTROL_TABLES.with_file(file)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", [".", "nowhere.yaml", "~nobody_here/my.yaml", "a\0b"])
def test_a_path_without_a_file_is_refused(path: str) -> None:
    with pytest.raises(BamError):
        DynamixelBus(DynamixelSettings(models=path))


def test_a_bus_without_its_file_of_models_does_not_begin(tmp_path: Path) -> None:
    with pytest.raises(BamError, match="nowhere"):
        DynamixelBus(DynamixelSettings(models=str(tmp_path / "nowhere.yaml")))
