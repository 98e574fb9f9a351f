# SPDX-License-Identifier: Apache-2.0
"""HTML pages of identifications and recordings, one file each; they work offline.

A user runs `bam report identified`, or calls `write_report`.
"""

from __future__ import annotations

from bam_core.report.loading import load_results
from bam_core.report.page import render, write_report
from bam_core.report.results import (
    EffectResult,
    Estimate,
    LogInfo,
    LogRun,
    Misfit,
    ModelResult,
    Results,
    Trajectory,
    Uncertainty,
    Verdict,
)
from bam_core.report.robot_loading import is_of_robot, load_robot_results
from bam_core.report.robot_page import render_robot
from bam_core.report.robot_results import JointErrors, RobotEstimate, RobotModel, RobotResults, RobotRunInfo
from bam_core.report.view import MOST_MODELS, ModelView, render_view

__all__ = [
    "MOST_MODELS",
    "EffectResult",
    "Estimate",
    "JointErrors",
    "LogInfo",
    "LogRun",
    "Misfit",
    "ModelResult",
    "ModelView",
    "Results",
    "RobotEstimate",
    "RobotModel",
    "RobotResults",
    "RobotRunInfo",
    "Trajectory",
    "Uncertainty",
    "Verdict",
    "is_of_robot",
    "load_results",
    "load_robot_results",
    "render",
    "render_robot",
    "render_view",
    "write_report",
]
