# SPDX-License-Identifier: Apache-2.0
"""Pictures of the demo: errors per model, and every held-out run as MuJoCo replays it."""

from __future__ import annotations

from pathlib import Path

from bam_core.plots.fit import plot_fit
from bam_core.plots.mae import plot_mae
from bam_core.plots.save import save_figure
from bam_ros.demo.pipeline import Outcome


def draw(outcome: Outcome, directory: Path) -> list[Path]:
    """Draw and save; returns the files."""
    replayed, summary = outcome.replayed, outcome.summary
    errors = {
        name: {"training": figures["train_mae"], "test": figures["test_mae"]}
        for name, figures in summary["models"].items()
    }
    pictures = {directory / "errors.png": plot_mae(errors, chosen=summary["chosen"])}
    for index, run in enumerate(replayed.runs):
        simulated = {f"{name} in MuJoCo": runs[index] for name, runs in replayed.positions.items()}
        pictures[directory / f"held_out_{run.name}.png"] = plot_fit(run, simulated)
    for path, figure in pictures.items():
        save_figure(figure, path)
    return list(pictures)
