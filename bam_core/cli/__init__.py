# SPDX-License-Identifier: Apache-2.0
"""The command `bam`, one file per command; `bam --help` lists them."""

from __future__ import annotations

from bam_core.cli.command import CORE_COMMANDS, Command, execute, main

__all__ = ["CORE_COMMANDS", "Command", "execute", "main"]
