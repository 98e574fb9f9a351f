# SPDX-License-Identifier: Apache-2.0
"""``bam view --rerun``: recordings and simulations as time series in Rerun."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import MissingSoftware
from bam_core.files.atomic_file import require_file, write_bytes
from bam_core.recordings.recording import Recording
from bam_core.report.view import CHANNELS, ModelView, measured

TIMELINE = "time in the run"
_TO_MRAD = 1e3


def require_rerun(file: str) -> None:
    """Check what `show` needs before time is spent on simulations.

    Args:
        file: to write; empty: the viewer is started.

    Raises:
        BamError: Rerun is not installed, or the file cannot be written.
    """
    if file:
        require_file(file)
    _rerun()


def show(recordings: Sequence[Recording], models: Sequence[ModelView], file: str) -> None:
    """Show them in Rerun's viewer, or write a file for it: a tab per recording, a plot per quantity.

    Args:
        recordings: with distinct names.
        models: that were simulated.
        file: to write; empty: the viewer is started, and goes on when this process has ended.

    Raises:
        BamError: Rerun is not installed or does not start, or the file cannot be written.
    """
    rerun = _rerun()
    stream = rerun.RecordingStream("bam_bench")
    sink = stream.binary_stream() if file else None
    if sink is None:
        try:
            stream.spawn()
        except RuntimeError as error:
            raise MissingSoftware(
                "bam view --rerun",
                "rerun",
                problem=f"the viewer does not start ({' '.join(str(error).split())})",
                advice="write a file instead, with --rerun FILE.rrd",
            ) from None
    tabs = []
    for i, recording in enumerate(recordings):
        plots: dict[str, None] = {}
        for plot, label, values in _series(i, recording, models):
            plots[plot] = None
            kept = np.isfinite(values)
            path = rerun.new_entity_path([recording.name, plot, label])
            stream.log(path, rerun.SeriesLines(names=label), static=True)
            stream.send_columns(
                path,
                indexes=[rerun.TimeColumn(TIMELINE, duration=recording.time[kept])],
                columns=rerun.Scalars.columns(scalars=values[kept]),
            )
        views = [
            rerun.blueprint.TimeSeriesView(origin=rerun.new_entity_path([recording.name, plot]), name=plot)
            for plot in plots
        ]
        tabs.append(rerun.blueprint.Vertical(*views, name=recording.name))
    stream.send_blueprint(rerun.blueprint.Blueprint(rerun.blueprint.Tabs(*tabs)))
    if sink is None:
        stream.flush()
    else:
        write_bytes(file, sink.read())
        print(f"wrote {file}; show it with: rerun {Path(file)}")


def _series(
    number: int, recording: Recording, models: Sequence[ModelView]
) -> Iterator[tuple[str, str, Array]]:
    """Yield plot, label and (n,) values of everything that is known of a recording."""
    if not recording.open_loop:
        yield "position [rad]", "goal", recording.goal_position
    yield "position [rad]", "measured", recording.position
    for model in models:
        yield "position [rad]", model.title, model.positions[number]
    for model in models:
        yield "residual [mrad]", model.title, _TO_MRAD * (model.positions[number] - recording.position)
    signals = measured(recording, models[0].servo if models else None)
    for channel in CHANNELS:
        if channel.name in signals:
            plot = f"{channel.title} [{channel.unit}]" if channel.unit else channel.title
            yield plot, models[0].title if channel.name == "torque" else "measured", signals[channel.name]
    yield "torque on", "measured", recording.torque_enabled.astype(np.float64)


def _rerun() -> Any:
    """Return the modules rerun and rerun.blueprint; raises MissingSoftware."""
    try:
        import rerun
        import rerun.blueprint
    except ImportError:
        raise MissingSoftware(
            "bam view --rerun",
            "rerun",
            problem="needs the Python module rerun, which is not installed",
            advice=f"install the extra 'rerun', with: {sys.executable} -m pip install rerun-sdk",
        ) from None
    return rerun
