# SPDX-License-Identifier: Apache-2.0
"""The report of an identification, on a bench or on a robot: one HTML page that works offline."""

from __future__ import annotations

from bam_core.report.loading import load_results
from bam_core.report.page import render, write_report
from bam_core.report.results import Results
from bam_core.report.robot_loading import is_of_robot, load_robot_results
from bam_core.report.robot_page import render_robot
from bam_core.report.robot_results import RobotResults

__all__ = [
    "Results",
    "RobotResults",
    "is_of_robot",
    "load_results",
    "load_robot_results",
    "render",
    "render_robot",
    "write_report",
]
