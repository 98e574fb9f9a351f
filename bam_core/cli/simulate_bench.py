# SPDX-License-Identifier: Apache-2.0
"""A servo on the simulated bench: a script or recorded commands, the errors, tables and pictures of it."""

from __future__ import annotations

import argparse
import io
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bam_core.cli.bench_effects import bench_effects_for, warn_of_bench
from bam_core.cli.guesses import warn_of_guesses
from bam_core.errors import Conflict, OutOfRange
from bam_core.files.atomic_file import write_text
from bam_core.text.finding import log_findings
from bam_core.text.table import format_table

if TYPE_CHECKING:
    from bam_core.mujoco import Replay
    from bam_core.recordings.recording import Recording
    from bam_core.servo.effects import BenchEffects
    from bam_core.servo.model import ServoModel
    from bam_core.servo.pendulum import PendulumBench

log = logging.getLogger(__name__)

BENCH_DEFAULTS = {"mass": 0.5, "arm_mass": 0.0, "length": 0.15}
"""kg, kg, m; of the bench that a script runs on."""

_COLUMNS = (
    "time [s]",
    "position [rad]",
    "velocity [rad/s]",
    "goal_position [rad]",
    "torque_enabled [-]",
    "duty [-]",
    "motor_torque [N·m]",
    "friction_torque [N·m]",
)


def run_script(servo: ServoModel, arguments: argparse.Namespace) -> int:
    """Simulate a trajectory script, and print the distance from its goals."""
    import numpy as np

    from bam_core.mujoco import BenchCommands, replay
    from bam_core.recordings.trajectories import script as find_script
    from bam_core.servo.effects import IDEAL_BENCH
    from bam_core.servo.gains import require_gain
    from bam_core.servo.pendulum import PendulumBench
    from bam_core.servo.plausible import PLAUSIBLE

    if arguments.bench_effects is not None:
        raise Conflict("--bench-effects", "is for recordings", expected="--recording")
    script = find_script(arguments.script)
    defaults = {
        **BENCH_DEFAULTS,
        "kp": servo.firmware.factory_kp,
        "kd": 0.0,
        "ki": 0.0,
        "vin": servo.nominal_voltage,
    }
    option = {
        name: default if (given := getattr(arguments, name)) is None else given
        for name, default in defaults.items()
    }
    for name in ("kp", "ki", "kd"):
        option[name] = _one_gain(f"--{name}", option[name])
    for name in ("ki", "kd"):
        require_gain(f"--{name}", option[name], name)
    for name, quantity in (("kp", "kp"), ("vin", "supply_voltage")):
        least, most = PLAUSIBLE[quantity]
        if not least <= option[name] <= most:
            cure = f"leave it out for the servo's own, {defaults[name]:g}"
            raise OutOfRange(f"--{name}", option[name], f"{least:g} to {most:g}", advice=cure)
    warn_of_guesses([servo])
    bench = PendulumBench(mass=option["mass"], arm_mass=option["arm_mass"], length=option["length"])
    goal, enabled = script(np.arange(round(script.duration / arguments.dt) + 1) * arguments.dt)
    _warn_of_ill_posed_gear(servo, [bench], IDEAL_BENCH)
    simulated = replay(
        servo,
        bench,
        BenchCommands(
            goal_position=goal,
            torque_enabled=enabled,
            supply_voltage=option["vin"],
            position=float(goal[0]),
            kd=option["kd"],
            ki=option["ki"],
        ),
        dt=arguments.dt,
        kp=option["kp"],
    )
    lag = np.abs(simulated.position - goal)[enabled]
    print(
        f"{servo.name} {script.name}: ends at {simulated.position[-1]:.4f} rad; distance from the goal"
        f" while torque is on: mean {lag.mean():.4f} rad, largest {lag.max():.4f} rad"
    )
    print(
        f"simulated with a load of {option['mass']:g} kg at {option['length']:g} m,"
        f" arm {option['arm_mass']:g} kg; kp {option['kp']:g}, ki {option['ki']:g}, kd {option['kd']:g};"
        f" supply {option['vin']:g} V"
    )
    if arguments.output:
        _write(Path(arguments.output), f"{servo.name}_{script.name}", simulated, None)
    _show(arguments, simulated, bench)
    return 0


def _one_gain(option: str, given: str | float) -> float:
    """Return the gain of the one servo; raises BamError."""
    from bam_core.servo.gains import gain_from_text

    gain = gain_from_text(option, given) if isinstance(given, str) else given
    if isinstance(gain, Mapping):
        raise Conflict(option, "names joints", expected="a number for the one servo of a bench")
    return gain


def run_recordings(servo: ServoModel, arguments: argparse.Namespace) -> int:
    """Simulate the commands of recordings, and print the errors of the positions."""
    import numpy as np

    from bam_core.identification.data.same_servo import other_servos
    from bam_core.mujoco import replay_recording
    from bam_core.recordings import load_recordings

    for name in (*BENCH_DEFAULTS, "kp", "ki", "kd", "vin"):
        if getattr(arguments, name) is not None:
            raise Conflict(f"--{name.replace('_', '-')}", "not with --recording, which holds its own")
    rows, errors = [], []
    recordings = load_recordings(arguments.recording)
    if len(recordings) > 1 and (arguments.render or arguments.view):
        option = "--render" if arguments.render else "--view"
        raise Conflict(
            option, f"{len(recordings)} recordings", expected="one to look at", advice="name a single one"
        )
    log_findings(log, other_servos(servo, recordings))
    bench_effects = bench_effects_for(arguments.bench_effects, arguments.servo)
    _warn_of_ill_posed_gear(servo, [recording.bench for recording in recordings], bench_effects)
    for recording in recordings:
        simulated = replay_recording(servo, recording, dt=arguments.dt, bench_effects=bench_effects)
        position = simulated.position_at(recording.time - recording.time[0])
        errors.append(float(np.abs(position - recording.position).mean()))
        rows.append((recording.name, f"{1e3 * errors[-1]:.2f}"))
        if arguments.output:
            name = recording.name.replace("/", "_")
            _write(Path(arguments.output), name, simulated, recording)
    if len(rows) > 1:
        rows.append(("mean", f"{1e3 * np.mean(errors):.2f}"))
    print(format_table(("recording", "MAE [mrad]"), rows), flush=True)
    warn_of_bench(arguments.bench_effects, arguments.servo, recordings)
    _show(arguments, simulated, recordings[-1].bench)
    return 0


def _show(arguments: argparse.Namespace, simulated: Replay, bench: PendulumBench) -> None:
    if arguments.render:
        from bam_core.mujoco.picture import render

        render(simulated, bench, arguments.render)
        print(f"wrote {arguments.render}")
    if arguments.view:
        from bam_core.mujoco.window import show

        show(simulated, bench)


def _warn_of_ill_posed_gear(
    servo: ServoModel, benches: Sequence[PendulumBench], bench_effects: BenchEffects
) -> None:
    """Warn where a gear is ill-posed with a load (Kikuuwe eq. 29); it is simulated all the same."""
    from bam_core.gears.posedness import ill_posed

    log_findings(log, ill_posed(servo, benches, bench_effects))


def _write(directory: Path, name: str, simulated: Replay, recording: Recording | None) -> None:
    from bam_core.mujoco.plots import plot_simulation
    from bam_core.plots.save import save_figure

    picture, table = directory / f"{name}.png", directory / f"{name}.csv"
    save_figure(plot_simulation(name, simulated, recording), picture)
    write_text(table, _csv(simulated))
    print(f"wrote {picture} and {table}")


def _csv(run: Replay) -> str:
    import numpy as np

    columns = np.column_stack(
        (
            run.time,
            run.position,
            run.velocity,
            run.goal_position,
            run.torque_enabled,
            run.duty,
            run.motor_torque,
            run.friction_torque,
        )
    )
    text = io.StringIO()
    np.savetxt(text, columns, fmt="%.9g", delimiter=",", header=",".join(_COLUMNS), comments="")
    return text.getvalue()
