# SPDX-License-Identifier: Apache-2.0
"""Papers redone: what each claims beside what this program finds, with plots. One module per paper."""

from __future__ import annotations

from bam_core.reproduce.claim import Claim, claims_table, write_claims
from bam_core.reproduce.paper import PAPERS, Paper, reproduce

__all__ = ["PAPERS", "Claim", "Paper", "claims_table", "reproduce", "write_claims"]
