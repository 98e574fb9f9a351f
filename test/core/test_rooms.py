# SPDX-License-Identifier: Apache-2.0
"""Of rooms and imports, those that run upwards, within a layer or in a circle are told."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rooms import House, draw, main, report

FLOORS = (("bam_core.top",), ("bam_core.left", "bam_core.right"), ("bam_core.low",))


def house(*arrows: tuple[str, str]) -> House:
    named = {(f"bam_core.{start}", f"bam_core.{end}"): 1 for start, end in arrows}
    return House(
        floors=FLOORS, arrows=named, lines=dict.fromkeys((room for each in FLOORS for room in each), 1)
    )


def test_imports_from_below_are_as_they_shall_be(tmp_path: Path) -> None:
    tidy = house(("top", "left"), ("top", "low"), ("left", "low"), ("right", "low"))
    assert (tidy.upward, tidy.circles) == ([], [])
    first = report(tidy)[report(tidy).index("4 rooms, 4 arrows") :].splitlines()[0]
    assert re.findall(r"\d+", first) == ["4", "4", "4", "0", "0"]
    draw(tidy, tmp_path / "rooms.svg")
    assert "4 rooms, 4 arrows" in (tmp_path / "rooms.svg").read_text()


@pytest.mark.parametrize("arrow", [("low", "top"), ("left", "right"), ("right", "left")])
def test_imports_from_above_and_from_beside_are_told(arrow: tuple[str, str]) -> None:
    assert house(arrow).upward == [tuple(f"bam_core.{name}" for name in arrow)]


def test_a_circle_is_told_once_with_all_its_rooms() -> None:
    untidy = house(("top", "left"), ("left", "low"), ("low", "top"), ("right", "low"))
    assert untidy.circles == [("bam_core.top", "bam_core.left", "bam_core.low")]
    assert "in a circle: 1\n  bam_core.top -> bam_core.left -> bam_core.low" in report(untidy)


def test_this_checkout_has_neither(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.rstrip().splitlines()[-1].endswith(": 0")
