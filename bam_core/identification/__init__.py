# SPDX-License-Identifier: Apache-2.0
"""Identification of a servo from recordings: search space, split, CMA-ES, results on disk."""

from __future__ import annotations

from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.data.split import Split, split_recordings
from bam_core.identification.fitting import Progress
from bam_core.identification.identify import identify, resolve_models, with_uncertainty
from bam_core.identification.result import Identification
from bam_core.identification.search.meter import IdentificationCancelled
from bam_core.identification.writing import require_output, write_identification

__all__ = [
    "Identification",
    "IdentificationCancelled",
    "ModelFit",
    "Progress",
    "Split",
    "identify",
    "require_output",
    "resolve_models",
    "split_recordings",
    "with_uncertainty",
    "write_identification",
]
