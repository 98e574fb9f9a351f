# SPDX-License-Identifier: Apache-2.0
"""Papers redone: what each claims beside what this program finds, with plots. One module per paper."""

from __future__ import annotations

from bam_core.reproduce.claim import Claim, claims_table, write_claims
from bam_core.reproduce.page import write_page
from bam_core.reproduce.paper import PAPERS, Paper, reproduce
from bam_core.reproduce.redone import DEVICES, Exhibit, Redone, Task

__all__ = [
    "DEVICES",
    "PAPERS",
    "Claim",
    "Exhibit",
    "Paper",
    "Redone",
    "Task",
    "claims_table",
    "reproduce",
    "write_claims",
    "write_page",
]
