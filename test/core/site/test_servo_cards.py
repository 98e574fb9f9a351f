# SPDX-License-Identifier: Apache-2.0
"""What a card says of a servo is what its file and the other pages say."""

from __future__ import annotations

import re

import pytest

from bam_core.servo.model import load_servo, servo_names
from test.documented import written

from site_pages import servo_cards  # isort: skip

CARDS = servo_cards.pages()
PAGES = written()


def card(name: str) -> str:
    return CARDS[f"reference/servos/{name}.md"]


@pytest.mark.parametrize("name", servo_names())
def test_the_page_of_supported_hardware_has_every_servo(name: str) -> None:
    assert servo_cards.compared(name)


def test_a_converted_servo_tells_what_it_was_compared_with() -> None:
    assert "7.2 to 15.7 mrad" in card("mx106")
    assert "](../../development/robot.md" in card("mx106")


def test_a_dynamixel_that_regulates_its_current_is_no_ethercat_drive() -> None:
    assert "driver:=erob" in card("erob80_50")
    assert "driver:=erob" not in card("mx106_current")
    assert "`current_limit`" in card("mx106_current")


def test_a_servo_of_a_data_sheet_is_not_said_to_be_published() -> None:
    assert "published" not in card("sts3250")


def test_what_a_conversion_leaves_is_that_of_the_servos_file() -> None:
    rows = re.findall(
        r"^\| (\w+) \| [\d.]+ \| [\d.]+ \| ([\d.]+) \|", PAGES["docs/simulator.md"], re.MULTILINE
    )
    assert rows
    for name, left in rows:
        assert f" {left} mrad (mean)" in load_servo(name).provenance.source, name
