# SPDX-License-Identifier: Apache-2.0
"""`bam servos --models` lists what the driver knows, and checks a file of one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_ros.cli import main
from bam_ros.dynamixel.control_table import CONTROL_TABLES

OWN = "my_servo: {like: xm430_w350, title: My servo, model_number: 4711}\n"


def test_every_model_of_the_driver_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["servos", "--models"]) == 0
    listed = capsys.readouterr().out
    first = {line.split()[0] for line in listed.splitlines() if line.strip()}
    assert set(CONTROL_TABLES) <= first


def test_a_file_of_one_s_own_is_checked_and_listed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(OWN)
    assert main(["servos", "--models", str(path)]) == 0
    listed = capsys.readouterr().out
    assert "my_servo" in listed
    assert "xm430_w350" not in listed
    path.write_text(OWN.replace("4711", "many"))
    assert main(["servos", "--models", str(path)]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_without_it_the_library_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["servos"]) == 0
    assert "xm430_w350" in capsys.readouterr().out
    assert main(["servos", "xl330", "--models"]) == 2
