# SPDX-License-Identifier: Apache-2.0
"""The report of an identification: one HTML page that works offline."""

from __future__ import annotations

from bam_core.report.loading import load_results
from bam_core.report.page import render, write_report
from bam_core.report.results import Results

__all__ = ["Results", "load_results", "render", "write_report"]
