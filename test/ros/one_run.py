# SPDX-License-Identifier: Apache-2.0
"""A session of a single run of an emulated MX-106, for tests with real processes."""

from __future__ import annotations

SESSION = """\
servo: mx106
supply_voltage: 15.0
loads: [{mass: 0.5, length: 0.1}]
gains: [32]
scripts: [sin_sin]
approach_speed: 3.0
pause_limit: 10.0
"""
"""The pause is longer than a busy machine makes one."""

RUN = "m0.50_l0.100_kp32_sin_sin"
"""Name of its bag."""
