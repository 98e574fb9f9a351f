# SPDX-License-Identifier: Apache-2.0
"""Egle, Whole-body Joint Friction Modeling in a Torque-controlled Humanoid Walking Robot, redone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bam_core.reproduce._egle_differences import differences
from bam_core.reproduce._egle_filters import filters, spectra
from bam_core.reproduce._egle_identified import identified
from bam_core.reproduce._egle_inertia import power, wrong_inertia
from bam_core.reproduce._egle_parameters import Tables
from bam_core.reproduce._egle_supports import supports
from bam_core.reproduce._egle_walks import walk_both
from bam_core.reproduce.claim import Claim
from bam_core.whole_body import Sensors


def run(output: Path, say: Callable[[str], None]) -> list[Claim]:
    """Redo chapters 6 and 7; see `bam_core.reproduce.paper`."""
    walks = walk_both(say)
    claims = supports(output, walks, say)
    claims += differences(output, walks, say)
    tables = Tables.make(walks, say)
    tables.draw(output)
    claims += tables.claims()
    say("sensors with noise")
    noisy = Sensors().measure(walks.legs.log).arranged(walks.robot)
    claims += spectra(output, walks, tables.found.estimate)
    claims += filters(output, walks, noisy, say)
    claims += power(output, walks, say)
    claims += wrong_inertia(output, walks, say)
    claims += identified(output, walks, noisy, say)
    return claims
