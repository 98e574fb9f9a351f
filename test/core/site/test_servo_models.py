# SPDX-License-Identifier: Apache-2.0
"""The page of servo models has every model, and what it says of a comparison is true of today's tables."""

from __future__ import annotations

import pytest

from bam_ros.dynamixel.control_table import CONTROL_TABLES
from bam_ros.emulators.dynamixel.catalog import DYNAMIXEL
from bam_ros.emulators.feetech.catalog import FEETECH
from bam_ros.feetech.control_table import CONTROL_TABLES as FEETECH_TABLES

import compare_registers  # isort: skip
from site_pages import servo_models  # isort: skip

PAGE = servo_models.pages()[servo_models.PAGE]


@pytest.mark.parametrize("name", CONTROL_TABLES)
def test_a_table_is_the_one_that_was_compared(name: str) -> None:
    compared = servo_models.COMPARED["models"][name]
    assert compared["digest"] == compare_registers.digest(CONTROL_TABLES[name])


@pytest.mark.parametrize("name", [*CONTROL_TABLES, *FEETECH_TABLES])
def test_every_model_has_a_row(name: str) -> None:
    assert PAGE.count(f"\n| `{name}` |") == 1


def test_every_model_is_emulated_as_the_page_states() -> None:
    assert set(CONTROL_TABLES) <= set(DYNAMIXEL.tables)
    assert set(FEETECH_TABLES) == set(FEETECH.tables)


def test_a_register_that_was_moved_is_noticed() -> None:
    table = CONTROL_TABLES["xm430_w350"]
    assert compare_registers.digest(table) != compare_registers.digest(CONTROL_TABLES["xm540_w270"])


def test_a_register_is_equal_by_its_place_alone_where_it_has_another_name() -> None:
    table = CONTROL_TABLES["mx64"]
    assert compare_registers.has(table, "goal_position", 30, 2)
    assert not compare_registers.has(table, "goal_position", 36, 2)
    assert compare_registers.has(table, "moving_speed", 32, 2)
    assert not compare_registers.has(table, "moving_speed", 33, 2)
