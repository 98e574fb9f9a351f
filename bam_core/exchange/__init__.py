# SPDX-License-Identifier: Apache-2.0
"""Servos and recordings in the forms of other programs: BAM's parameter and log JSON, MJCF.

A user runs `bam import` and `bam export`, or calls `read_bam_parameters` and `servo_mjcf`.
"""

from __future__ import annotations

from bam_core.exchange.bam_log import bam_log, bam_log_text
from bam_core.exchange.bam_parameters import (
    BamParameters,
    is_bam_parameters,
    read_bam_parameters,
)
from bam_core.exchange.bam_parameters_text import bam_parameters, bam_parameters_text
from bam_core.exchange.log_bag import write_bag
from bam_core.exchange.mjcf import MjcfDrive, servo_mjcf

__all__ = [
    "BamParameters",
    "MjcfDrive",
    "bam_log",
    "bam_log_text",
    "bam_parameters",
    "bam_parameters_text",
    "is_bam_parameters",
    "read_bam_parameters",
    "servo_mjcf",
    "write_bag",
]
