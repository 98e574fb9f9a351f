# SPDX-License-Identifier: Apache-2.0
"""Where the parameters of a fit come from: what ran, on what, with which budget and seed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import PurePath

from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.fitting import Fit
from bam_core.identification.search.methods import METHODS
from bam_core.identification.software import package_versions, software
from bam_core.identification.uncertainty.tolerances import Tolerances
from bam_core.recordings.header_corrections import Correction
from bam_core.servo.model import Provenance


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What all fits of an identification have in common.

    Attributes:
        split: the recordings.
        seed: of search and split.
        tolerances: that intervals allow for.
    """

    split: Split
    seed: int
    tolerances: Tolerances

    def provenance(self, fit: Fit, evaluated: ModelFit) -> Provenance:
        """Return the provenance of a fit.

        Args:
            fit: what the search found.
            evaluated: the same with its errors.
        """
        split = self.split
        return Provenance(
            source=(
                f"identified from {len(split.train)} recordings by {METHODS[fit.method]} "
                f"(seed {self.seed}, test {split.rule})"
            ),
            method=fit.method,
            seed=self.seed,
            trials=fit.budget,
            trials_used=fit.result.evaluations,
            software=software(),
            packages=package_versions(),
            date=datetime.now(timezone.utc).date().isoformat(),
            tolerances=asdict(self.tolerances),
            corrections={
                log.name: correction_words(log.corrections) for log in split.logs if log.corrections
            },
            train_mae=evaluated.train_mae,
            selection_mae=evaluated.selection_mae,
            test_mae=evaluated.test_mae,
            train_data={log.name: log.sha256 for log in split.train},
            test_data={log.name: log.sha256 for log in split.test},
        )


def correction_words(corrections: Iterable[Correction]) -> str:
    """Return what was set from outside, in words: "vin 12.0 (header: 7.4; set by bench.yaml)".

    A file is named without its directory: a servo file goes to other machines.
    """
    told = []
    for correction in corrections:
        before = "not in the header" if correction.before is None else f"header: {correction.before}"
        told.append(
            f"{correction.field} {correction.value} ({before}; set by {PurePath(correction.source).name})"
        )
    return ", ".join(told)
