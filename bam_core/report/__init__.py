# SPDX-License-Identifier: Apache-2.0
"""HTML pages of identifications and recordings, one file each; they work offline.

A user runs `bam report identified`, or calls `write_report`.
"""

from __future__ import annotations

from bam_core.report.loading import load_results
from bam_core.report.page import render, write_report
from bam_core.report.results import Results
from bam_core.report.robot_loading import is_of_robot, load_robot_results
from bam_core.report.robot_page import render_robot
from bam_core.report.robot_results import RobotResults
from bam_core.report.view import MOST_MODELS, ModelView, render_view

__all__ = [
    "MOST_MODELS",
    "ModelView",
    "Results",
    "RobotResults",
    "is_of_robot",
    "load_results",
    "load_robot_results",
    "render",
    "render_robot",
    "render_view",
    "write_report",
]
