# SPDX-License-Identifier: Apache-2.0
"""The explorer: one page where sliders move a servo's parameters, and diagram and motion follow.

What it computes is docs/site/law.js; here are the servos, the scripts and the ranges of its sliders.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

import numpy as np

from bam_core.plots.diagram import VELOCITIES
from bam_core.recordings.trajectories import SCRIPTS
from bam_core.report.names import symbol, words
from bam_core.servo.firmware import PositionFirmware
from bam_core.servo.firmware_laws import CurrentFirmware, VoltageFirmware
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo, servo_names
from bam_core.servo.parameters import FRICTION_UNITS, MOTOR_PARAMETERS, PARAMETER_UNITS

GOAL_PERIOD = 0.01
"""s between goals, as BAM's recorder sends them; goals hold in between."""


def pages() -> dict[str, str]:
    """Return the page."""
    data = json.dumps(content(), ensure_ascii=False, separators=(",", ":"))
    speeds = ", ".join(f"{speed:g}" for speed in VELOCITIES)
    body = (files("site_pages") / "explorer.html").read_text(encoding="utf-8").replace("@SPEEDS@", speeds)
    text = [
        "# Explorer\n",
        "Choose a servo and change its parameters, to see their effect on diagram and motion. M1 to M6 are"
        " the [friction models](friction.md).\n",
        "- **Diagram**: where the motor moves the load (drive), where the load moves the motor (backdrive),"
        " and where friction holds both (static). Areas are those of a joint at rest. Lines are their"
        f" borders at {speeds} rad/s, paler for higher speeds.\n"
        "- **Motion**: the servo on the pendulum bench follows a script. The orange line is the servo of the"
        " library. The blue line has your parameters, and covers it until you change one.\n",
        "The page computes everything itself, without a network. Its law equals the one in Python"
        " (`bam_core/servo/friction.py`, `test/core/reference_simulation.py`) to 12 digits; a test compares"
        " them in a browser. Not included: effects of the bench, warming of the winding, overload"
        " protection.\n",
        "```{raw} html\n"
        f'<script type="application/json" id="explorer-data">{data}</script>\n'
        f"{body}"
        + "".join(f'<script src="../_static/{name}.js"></script>\n' for name in ("law", "plot", "explorer"))
        + "```\n",
    ]
    return {"explanation/explorer.md": "\n".join(text)}


def content() -> dict[str, Any]:
    """Return what the page is given: servos, models, scripts, names of parameters."""
    names = (*MOTOR_PARAMETERS, *FRICTION_UNITS)
    return {
        "servos": {name: servo_fields(load_servo(name)) for name in servo_names()},
        "models": {
            name: {"title": model.title, "parameters": model.parameters}
            for name, model in FRICTION_MODELS.items()
        },
        "scripts": {name: _script(name) for name in SCRIPTS},
        "goalPeriod": GOAL_PERIOD,
        "speeds": VELOCITIES,
        "labels": {
            name: {
                "symbol": str(symbol(name)),
                "words": words(name),
                "unit": PARAMETER_UNITS[name].replace("-", ""),
            }
            for name in names
        },
    }


def servo_fields(servo: ServoModel) -> dict[str, Any]:
    """Return a servo as law.js takes it, beside its names and its bench."""
    return {
        "title": servo.title,
        "model": servo.friction_model,
        "supply": servo.nominal_voltage,
        "kp": servo.firmware.factory_kp,
        "motor": {
            "torque_constant": servo.motor.torque_constant,
            "resistance": servo.motor.resistance,
            "armature": servo.motor.armature,
            "torque_saturation": servo.motor.torque_saturation,
        },
        "friction": {**servo.friction.coefficients(), "quadratic_rule": servo.friction.quadratic_rule},
        "firmware": _firmware(servo.firmware),
        "bench": _bench(servo),
    }


def _firmware(firmware: PositionFirmware) -> dict[str, Any]:
    speed = firmware.goal_speed_limit
    fields = {
        "dead_band": firmware.dead_band,
        "error_offset": firmware.error_offset,
        "goal_speed_limit": speed if np.isfinite(speed) else None,
        "limit": firmware.demand_limit,
    }
    if isinstance(firmware, VoltageFirmware):
        return {**fields, "law": "voltage", "gain": firmware.duty_per_kp_rad, "damping": 0.0}
    assert isinstance(firmware, CurrentFirmware)
    return {**fields, "law": "current", "gain": firmware.amps_per_kp_rad, "damping": firmware.damping}


def _bench(servo: ServoModel) -> dict[str, float]:
    """A load that takes a third of the stall torque to lift, on an arm of 0.1 m, or 0.5 m."""
    length = 0.5 if servo.stall_torque() > 20.0 else 0.1
    mass = servo.stall_torque() / 3.0 / (9.8 * length)
    return {"mass": float(f"{mass:.1g}"), "arm_mass": 0.0, "length": length}


def _script(name: str) -> dict[str, Any]:
    script = SCRIPTS[name]
    time = np.arange(0.0, script.duration + 0.5 * GOAL_PERIOD, GOAL_PERIOD)
    return {
        "title": script.title,
        "goals": [round(float(goal), 5) for goal in script.goal_position(time)],
        "release": script.release_time if np.isfinite(script.release_time) else None,
    }
