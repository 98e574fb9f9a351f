# SPDX-License-Identifier: Apache-2.0
"""An MX-64 that this suite identifies from recordings, for the humanoid beside the authors' parameters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bam_core.identification.identify import identify
from bam_core.identification.settings import IdentifySettings
from bam_core.recordings import load_recordings
from bam_core.servo.model import ServoModel

_OPEN_LOOP = ("no_load.txt", "heavy_load.txt")


@dataclass(frozen=True, kw_only=True)
class IdentifiedServo:
    """An MX-64 that this suite identified.

    Attributes:
        servo: with the friction model that was chosen.
        provenance: from what.
    """

    servo: ServoModel
    provenance: str


def identified_mx64(
    folder: Path,
    say: Callable[[str], None],
    *,
    models: str | Sequence[str] = "all",
    trials: int | None = None,
) -> IdentifiedServo:
    """Identify the MX-64 of Dynaban's authors from their runs in open loop, as docs/open_loop.md does.

    Args:
        folder: with no_load.txt and heavy_load.txt.
        say: told what is done.
        models: among which selection chooses.
        trials: as of `identify`.

    Raises:
        BamError: a file is missing or cannot be read.
    """
    say("identifying an MX-64 from Dynaban's runs in open loop")
    logs = load_recordings([folder / name for name in _OPEN_LOOP])
    test = [log for log in logs if int(log.name.rsplit("_", 1)[1]) % 2]
    result = identify(logs, "mx64", IdentifySettings(models=models, trials=trials, test=test))
    return IdentifiedServo(
        servo=result.fits[result.chosen].servo,
        provenance=f"this suite's {result.chosen.upper()}, chosen by selection, from the"
        f" {len(logs) - len(test)} of Dynaban's {len(logs)} runs in open loop that have an even number"
        " (another specimen, at 12 V, without load or with a flywheel, which hardly tells friction under"
        " load: docs/open_loop.md)",
    )
