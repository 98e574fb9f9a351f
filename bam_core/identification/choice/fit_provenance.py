# SPDX-License-Identifier: Apache-2.0
"""Where the parameters of a fit come from: what ran, on what, with which budget and seed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime, timezone

from bam_core.identification.choice.model_fit import ModelFit
from bam_core.identification.data.split import Split
from bam_core.identification.planned_fit import Fit
from bam_core.identification.search.methods import METHODS
from bam_core.identification.software import package_versions, software
from bam_core.identification.uncertainty.tolerances import Tolerances
from bam_core.identification.uncertainty.unit_prior import UnitPrior
from bam_core.servo.model import Provenance
from bam_core.text.recording_words import correction_words


@dataclass(frozen=True, kw_only=True)
class Origin:
    """What all fits of an identification have in common.

    Attributes:
        split: the recordings.
        seed: of search and split.
        tolerances: that intervals allow for.
        prior: of the units of its type, if there was one.
    """

    split: Split
    seed: int
    tolerances: Tolerances
    prior: UnitPrior | None = None

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
                f"(seed {self.seed}, test {split.rule}){self._prior_words}"
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
                log.name: ", ".join(
                    correction_words(change.field, change.value, change.before, change.source)
                    for change in log.corrections
                )
                for log in split.logs
                if log.corrections
            },
            train_mae=evaluated.train_mae,
            selection_mae=evaluated.selection_mae,
            test_mae=evaluated.test_mae,
            train_data={log.name: log.sha256 for log in split.train},
            test_data={log.name: log.sha256 for log in split.test},
        )

    @property
    def _prior_words(self) -> str:
        if self.prior is None:
            return ""
        units = self.prior.prediction.units
        return ", with the prior of " + ("one unit" if units is None else f"{units} units")
