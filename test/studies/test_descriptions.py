# SPDX-License-Identifier: Apache-2.0
"""Servos hold a described robot still; what cannot be simulated is listed with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from studies.descriptions import hold, main

ARM = Path(__file__).parents[2] / "config/robots/dynamixel_2r.urdf"


def test_a_robot_without_weight_does_not_move_and_one_with_weight_sags_and_stands() -> None:
    still = hold(ARM, servo="mx106", seconds=1.5, gravity=False)
    assert (still.hinges, still.moved) == (2, 0.0)
    heavy = hold(ARM, servo="mx106", seconds=1.5, gravity=True)
    assert heavy.last <= heavy.moved < 0.1


def test_a_line_per_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot name='a'><link name='l'/></robot>")
    assert main([str(ARM), str(broken), "--seconds", "0.2"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.split("\t")[:2] == [str(ARM), "2 hinges"]
    assert second.split("\t")[:2] == [str(broken), "refused"]
