# SPDX-License-Identifier: Apache-2.0
"""The page of recordings, and of what servo models make of them; its charts are those of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from bam_core.arrays import Array
from bam_core.errors import WrongShape
from bam_core.recordings.recording import Recording
from bam_core.report.environment import asset, environment
from bam_core.report.fits import packed
from bam_core.report.results import Trajectory
from bam_core.servo.model import ServoModel

MOST_MODELS = 6
"""So many colours the page has."""


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A measured quantity beside positions.

    Attributes:
        name: of the quantity.
        title: what the page calls it.
        unit: its unit; empty: it has none.
        span: least height of its axis; a constant would fill it with noise, or have an axis of digits.
    """

    name: str
    title: str
    unit: str
    span: float


CHANNELS = (
    Channel(name="torque", title="motor torque", unit="N·m", span=0.01),
    Channel(name="duty", title="duty", unit="", span=0.05),
    Channel(name="voltage", title="supply", unit="V", span=1.0),
    Channel(name="temperature", title="temperature", unit="°C", span=4.0),
)
"""From top to bottom. The torque is that of a servo model's motor with measured duty, supply and velocity."""


@dataclass(frozen=True, kw_only=True)
class ModelView:
    """A servo model, and what it makes of every recording.

    Attributes:
        title: what the page calls it.
        servo: the model.
        positions: simulated, of each recording, (n,) rad at its own times.
        errors: name of each recording -> mean absolute error, rad, as `validate` gives it: over even steps,
            not over samples.
    """

    title: str
    servo: ServoModel
    positions: Sequence[Array]
    errors: Mapping[str, float]


def measured(recording: Recording, servo: ServoModel | None = None) -> dict[str, Array]:
    """Return channel -> (n,) of what was measured; NaN where it was not. Those that never were are left out.

    Args:
        recording: of a run.
        servo: whose motor turns duty and supply into torque; None: no torque.
    """
    values = {
        "duty": recording.duty,
        "voltage": recording.voltage,
        "temperature": recording.temperature,
    }
    if servo is not None and not servo.firmware.regulates_current:
        # Where the servo does not measure its supply, it had the nominal one.
        supply = np.where(np.isfinite(recording.voltage), recording.voltage, recording.supply_voltage)
        velocity = np.where(
            np.isfinite(recording.velocity),
            recording.velocity,
            np.gradient(recording.position, recording.time),
        )
        values["torque"] = servo.motor.torque(recording.duty * supply, velocity, recording.torque_enabled)
    return {name: value for name, value in values.items() if np.isfinite(value).any()}


def render_view(recordings: Sequence[Recording], models: Sequence[ModelView] = ()) -> str:
    """Return the page as HTML; whatever text recordings and models hold is escaped.

    Args:
        recordings: one at least, with distinct names.
        models: that are compared with them, MOST_MODELS at most. The first one's motor gives the torque.

    Raises:
        WrongShape: there are more models.
    """
    if len(models) > MOST_MODELS:
        raise WrongShape(
            "models", len(models), f"{MOST_MODELS} at most, of a colour each", advice="leave some out"
        )
    keys = [f"m{number}" for number in range(1, len(models) + 1)]  # which have the colours of M1 to M6
    titles = {key: model.title for key, model in zip(keys, models, strict=True)}
    servo = models[0].servo if models else None
    logs = {
        recording.name: Trajectory(
            time=recording.time,
            measured=recording.position,
            goal=recording.position if recording.open_loop else recording.goal_position,
            torque=recording.torque_enabled,
            simulated={key: model.positions[i] for key, model in zip(keys, models, strict=True)},
            channels=measured(recording, servo),
        )
        for i, recording in enumerate(recordings)
    }
    present = {name for curves in logs.values() for name in curves.channels}
    return (
        environment()
        .get_template("view.html.jinja")
        .render(
            recordings=recordings,
            servos=", ".join(dict.fromkeys(recording.servo for recording in recordings)),
            models=models,
            titles=titles,
            shown=keys,
            errors={key: model.errors for key, model in zip(keys, models, strict=True)},
            channels=[channel for channel in CHANNELS if channel.name in present],
            fits=packed(logs, titles, keys),
            first_log=recordings[0].name,
            include_raw=lambda name: Markup(asset(name)),
        )
    )
