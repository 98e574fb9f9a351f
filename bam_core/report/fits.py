# SPDX-License-Identifier: Apache-2.0
"""The curves of all logs, packed for the page's script; it unpacks and draws a log when it is chosen.

A curve is 16-bit integers in base64, little end first, with a scale of its own. Models are known by what they
leave over, so that a residual of a tenth of a milliradian survives beside positions of several radians.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from bam_core.arrays import Array
from bam_core.report.results import Results, Trajectory

_SAMPLES = 50_000
"""Samples per curve over all logs: keeps the page below two megabytes with a hundred logs."""
_FEWEST, _MOST = 300, 1000
_FULL = 32767
_NOT_MEASURED = -32768


def packed_fits(results: Results) -> Markup:
    """Return the JSON text that the script reads of an identification on a bench."""
    titles = {name: name.upper() for name in results.models}
    return packed(results.trajectories, titles, shown_first(results))


def packed(logs: Mapping[str, Trajectory], titles: Mapping[str, str], shown: Sequence[str]) -> Markup:
    """Return the JSON text that the script reads; no text in it can end the element that holds it.

    Args:
        logs: name -> curves.
        titles: model -> what the page calls it.
        shown: models that are drawn before anyone asks for others.
    """
    limit = int(np.clip(_SAMPLES // max(len(logs), 1), _FEWEST, _MOST))
    data = {
        "models": list(titles),
        "titles": dict(titles),
        "shown": list(shown),
        "logs": {name: _pack(_thinned(curves, limit), titles) for name, curves in logs.items()},
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def shown_first(results: Results) -> list[str]:
    """Return the models that are drawn before anyone asks for others: the chosen and the simplest one."""
    return list(dict.fromkeys([results.chosen, next(iter(results.models))]))


def typical_log(results: Results) -> str:
    """Return the test log whose error is in the middle, of all where none was kept for the test."""
    errors = results.best.per_log
    names = [name for name in results.trajectories if results.logs[name].set != "training"] or list(
        results.trajectories
    )
    ordered = sorted(names, key=lambda name: (errors.get(name, np.inf), name))
    return ordered[len(ordered) // 2] if ordered else ""


def _thinned(curves: Trajectory, limit: int) -> Trajectory:
    count = len(curves.time)
    if count <= limit:
        return curves
    kept = np.linspace(0, count - 1, limit).round().astype(int)
    return Trajectory(
        time=curves.time[kept],
        measured=curves.measured[kept],
        goal=curves.goal[kept],
        torque=None if curves.torque is None else curves.torque[kept],
        simulated={model: curve[kept] for model, curve in curves.simulated.items()},
        bands={model: (low[kept], high[kept]) for model, (low, high) in curves.bands.items()},
        channels={name: values[kept] for name, values in curves.channels.items()},
    )


def _pack(curves: Trajectory, models: Iterable[str]) -> dict[str, Any]:
    return {
        "time": _curve(curves.time),
        "measured": _curve(curves.measured),
        "goal": _curve(curves.goal),
        "residual": {
            model: _curve(curves.simulated[model] - curves.measured)
            for model in models
            if np.isfinite(curves.simulated[model]).all()
        },
        "band": {
            model: [_curve(end - curves.measured) for end in ends] for model, ends in curves.bands.items()
        },
        "channel": {name: _curve(values) for name, values in curves.channels.items()},
        "released": _released(curves),
    }


def _curve(values: Array) -> list[Any]:
    """Return [scale, base64]; value = scale * integer, but for _NOT_MEASURED."""
    finite = np.isfinite(values)
    scale = float(np.abs(values, where=finite, out=np.zeros(len(values))).max()) / _FULL or 1.0
    integers = np.where(finite, np.round(values / scale), _NOT_MEASURED).astype("<i2")
    return [float(f"{scale:.7g}"), base64.b64encode(integers.tobytes()).decode("ascii")]


def _released(curves: Trajectory) -> list[list[float]]:
    """Return [from, to] in s of every stretch without torque."""
    if curves.torque is None:
        return []
    off = np.concatenate(([False], ~curves.torque, [False])).astype(int)
    starts, ends = np.flatnonzero(np.diff(off) == 1), np.flatnonzero(np.diff(off) == -1)
    last = len(curves.time) - 1
    return [
        [round(float(curves.time[start]), 4), round(float(curves.time[min(int(end), last)]), 4)]
        for start, end in zip(starts, ends, strict=True)
    ]
