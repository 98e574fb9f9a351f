# SPDX-License-Identifier: Apache-2.0
"""The whole study with a tiny budget: identification, tuning, hidden robots, tables."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from studies.transfer.__main__ import main
from studies.transfer.simulations import DRAWS, SIMULATIONS


@pytest.mark.long
def test_it_writes_the_errors_of_every_simulation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"--output {tmp_path} --tasks swing --seeds 2 --robots 3 --generations 6 --units 2"
    assert main(words.split()) == 0
    content = json.loads((tmp_path / "transfer.json").read_text())
    assert tuple(content["swing"]) == SIMULATIONS
    assert np.shape(content["swing"][DRAWS]["error"]) == (2, 3)
    assert all(0.0 < np.mean(tried["error"]) < 0.2 for tried in content["swing"].values())
    assert all(name in capsys.readouterr().out for name in SIMULATIONS[:1])
    assert (tmp_path / "mx106" / "m6.yaml").exists()


def test_an_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "results"
    file.write_text("")
    assert main(["--output", str(file)]) == 2
