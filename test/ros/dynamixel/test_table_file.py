# SPDX-License-Identifier: Apache-2.0
"""A model of one's own is a section in a YAML file; mistakes in it are named with section and register."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.errors import BamError, Conflict, Missing, OutOfRange, UnknownName
from bam_ros.dynamixel.bus import DynamixelBus, DynamixelSettings
from bam_ros.dynamixel.control_table import CONTROL_TABLES, ControlTables

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


def test_a_bus_without_its_file_of_models_does_not_begin(tmp_path: Path) -> None:
    with pytest.raises(BamError, match="nowhere"):
        DynamixelBus(DynamixelSettings(models=str(tmp_path / "nowhere.yaml")))
