# SPDX-License-Identifier: Apache-2.0
"""Every servo of the demo has a model in the library and a session that is about it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from bam_ros.demo.bench import DEMO_BENCHES

SESSIONS = Path(__file__).parents[3] / "config" / "sessions"


@pytest.mark.parametrize("servo", ["mx106", "xm430_w350", "sts3215", "erob80_100"])
def test_the_session_of_a_demo_is_about_its_servo(servo: str) -> None:
    bench = DEMO_BENCHES[servo]
    assert bench.model.name == servo
    session = yaml.safe_load((SESSIONS / bench.session).read_text())
    assert session["servo"] == servo
    assert session["supply_voltage"] == bench.model.nominal_voltage or servo == "mx106"
