# SPDX-License-Identifier: Apache-2.0
"""Pictures of the demo: held-out runs replayed in MuJoCo, and errors per model."""

from __future__ import annotations

from pathlib import Path

from bam_core.plots.fit import plot_errors, plot_runs
from bam_core.plots.save import save_figure
from bam_ros.demo.pipeline import Outcome


def draw(outcome: Outcome, directory: Path) -> list[Path]:
    """Draw and save; returns the files."""
    replayed, models = outcome.replayed, outcome.summary["models"]
    errors = plot_errors(
        {name: figures["train_mae"] for name, figures in models.items()},
        {name: figures["validation_mae"] for name, figures in models.items()},
        outcome.summary["chosen"],
    )
    runs = plot_runs("Held-out runs, simulated in MuJoCo", replayed.runs, replayed.positions)
    pictures = {"errors.png": errors, "held_out_runs.png": runs}
    for name, figure in pictures.items():
        save_figure(figure, directory / name)
    return [directory / name for name in pictures]
