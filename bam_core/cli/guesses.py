# SPDX-License-Identifier: Apache-2.0
"""A warning about servos that a command simulates and nobody has identified."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import TYPE_CHECKING

from bam_core.text.finding import log_findings
from bam_core.text.servo_findings import GuessedServos

if TYPE_CHECKING:
    from bam_core.servo.model import ServoModel

log = logging.getLogger(__name__)


def warn_of_guesses(servos: Iterable[ServoModel]) -> None:
    """Log one warning that names the servos that come from a data sheet alone."""
    from bam_core.servo.data_sheet import GUESSES

    guessed = dict.fromkeys(servo.name for servo in servos if servo.provenance.source.endswith(GUESSES))
    if guessed:
        log_findings(log, [GuessedServos(servos=tuple(guessed))])
