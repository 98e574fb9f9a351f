# SPDX-License-Identifier: Apache-2.0
"""`make bench`: speed tables for people, and `bench_results.json` for machines."""

from __future__ import annotations

import argparse
import json
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tqdm import tqdm

from bam_core.files.atomic_file import write_text
from bam_core.text.table import format_table

RESULTS = Path("bench_results.json")

_WARM_UP = 2.0  # s
_MEASURE = 10.0  # s
_SOAK = 20.0  # s


def main(argv: Sequence[str] | None = None) -> int:
    """Measure everything, print the tables, write the file."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--output", type=Path, default=RESULTS, help="JSON file (default: %(default)s)")
    arguments = parser.parse_args(argv)
    from studies.bench.core import (
        help_time,
        identification_times,
        mujoco_rates,
        mujoco_throughput,
        rollout_scaling,
        rollout_times,
    )
    from studies.bench.dynamixel_bus import line_rates
    from studies.bench.fidelity import fidelity

    steps = (
        ("help_ms", help_time),
        ("rollout_ms_per_evaluation", rollout_times),
        ("identification_ms_per_evaluation", lambda: [asdict(row) for row in identification_times()]),
        ("rollout_scaling", lambda: [asdict(row) for row in rollout_scaling()]),
        ("mujoco", mujoco_rates),
        ("mujoco_rollout", lambda: [asdict(row) for row in mujoco_throughput()]),
        ("fidelity", lambda: [asdict(row) for row in fidelity()]),
        ("dynamixel_loop", dynamixel_loops),
        ("dynamixel_lines", lambda: [{**asdict(row), "by_driver": row.by_driver} for row in line_rates()]),
        ("feed_forward_loop", feed_forward),
        ("simulator_loop", simulator),
        ("composition", composition),
        ("erob_cycle_us", erob_cycle),
    )
    results: dict[str, Any] = {"machine": machine()}
    for name, measure in tqdm(steps, desc="measuring", disable=None):
        results[name] = measure()
        # A measurement that fails must not take the finished ones with it.
        write_text(arguments.output, json.dumps(results, indent=2) + "\n")
    rates = results.pop("mujoco")
    results["mujoco_steps_per_second"] = rates[1]
    results["mujoco_steps_per_second_by_servos"] = rates
    loops = results.pop("dynamixel_loop")
    results["dynamixel_loop_hz"] = loops["mx106"]
    results["dynamixel_loop_hz_by_servo"] = loops
    fed = results.pop("feed_forward_loop")
    results["feed_forward_loop_hz"] = fed["rate"]
    results["feed_forward_processor_share"] = {name: fed[name] for name in ("node", "servos")}
    simulated = results.pop("simulator_loop")
    results["simulator_states_per_second"] = simulated["rate"]
    results["simulator_real_time_factor"] = simulated["factor"]
    results["simulator_processor_share"] = simulated["node"]
    print(tables(results))
    write_text(arguments.output, json.dumps(results, indent=2) + "\n")
    return 0


def machine() -> str:
    """Return what the figures were measured on, in words."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.split(":", 1)[1].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    return f"{cpu}, {len(os.sched_getaffinity(0))} cores, Python {platform.python_version()}"


def dynamixel_loops(servos: Sequence[str] = ("mx106", "mx106_2", "xl330")) -> dict[str, float]:
    """Return reads per second of the driver node on one virtual servo, publishing included."""
    return {servo: _dynamixel_loop(servo) for servo in servos}


def _dynamixel_loop(servo: str) -> float:
    from bam_bench.msg import ServoStates

    from bam_ros.driver.servo_node import STATE_QOS
    from bam_ros.node.client_node import ClientNode
    from bam_ros.node.node_processes import node_processes
    from bam_ros.node.private_domain import private_domain

    with (
        private_domain(),
        tempfile.TemporaryDirectory(prefix="bam_bench_") as directory,
        node_processes(Path(directory)) as nodes,
    ):
        port = Path(directory) / "bus"
        nodes.start("virtual_dynamixel", "bam_ros.emulators.dynamixel.node", {"servo": servo, "link": port})
        nodes.wait_for(port)
        nodes.start("dynamixel", "bam_ros.dynamixel.node", {"port": port, "rate": 0.0})
        with ClientNode("bench") as client:
            states: list[ServoStates] = []

            def keep_newest(message: ServoStates) -> None:
                states[:] = [message]

            client.node.create_subscription(ServoStates, "servo_states", keep_newest, STATE_QOS)

            def newest() -> tuple[int, float]:
                client.spin_once(0.1)
                nodes.check()
                stamp = states[0].header.stamp
                return states[0].sequence, stamp.sec + stamp.nanosec * 1e-9

            while not states:
                client.spin_once(0.1)
                nodes.check()
            ends = []
            for wait in (_WARM_UP, _MEASURE):
                # Asleep meanwhile, so that the measurement takes no share of the two nodes' processors.
                time.sleep(wait)
                deadline = time.monotonic() + 0.3  # past the messages that queued up
                while time.monotonic() < deadline:
                    newest()
                ends.append(newest())
    (first, start), (last, end) = ends
    return (last - first) / (end - start)


def feed_forward() -> dict[str, float]:
    """Return duties per second of the feed-forward node on six virtual servos, and what that takes."""
    from studies.bench.feedforward import feed_forward_loop

    return feed_forward_loop(warm_up=_WARM_UP, duration=_MEASURE)


def simulator() -> dict[str, float]:
    """Return states per second and real-time factor of the simulator node with six servos at 1 kHz."""
    from studies.bench.simulator import simulator_loop

    return simulator_loop(warm_up=_WARM_UP, duration=_MEASURE)


def composition() -> dict[str, dict[str, float]]:
    """Return what recording takes with driver, recorder and observer in three processes, and in one."""
    from studies.bench.composition import composition_load

    return {name: asdict(load) for name, load in composition_load().items()}


def erob_cycle() -> dict[str, float] | None:
    """Return the deviation of the master's period at 1 kHz with one emulated drive, µs by name.

    None where raw frames are not permitted.
    """
    from bam_core.errors import BamError
    from bam_ros.emulators.erob.process import VirtualSegmentProcess
    from studies.emulated_drives import EMULATED_TIMEOUT
    from studies.soak.cycle import soak

    segment = VirtualSegmentProcess(1)
    try:
        segment.start()
    except BamError as error:
        tqdm.write(f"erob_cycle_us: not measured, {error}")
        return None
    try:
        return soak(segment.interface, 1, _SOAK, answer_timeout=EMULATED_TIMEOUT).jitter
    finally:
        segment.stop()


def tables(results: dict[str, Any]) -> str:
    """Return the figures as tables."""
    from bam_core.simulation.threads import available_processors
    from studies.bench.core import LOGS, STEPS

    rollouts = results["rollout_ms_per_evaluation"]
    rates = results["mujoco_steps_per_second_by_servos"]
    parts = [
        f"Machine: {results['machine']}",
        f"`bam --help`, a process of its own: {results['help_ms']:.0f} ms",
        "Rollout, one evaluation = 1 candidate x 100 logs x 1200 steps:\n"
        + format_table(
            ("model", "ms", "ns per step and core"),
            [
                (name, f"{ms:.2f}", f"{ms * 1e6 * available_processors() / (LOGS * STEPS):.1f}")
                for name, ms in rollouts.items()
            ],
        ),
        "Identification, one evaluation of M6 = 1 candidate x 100 logs x 6 s:\n"
        + format_table(
            ("simulation", "step ms", "ms", "mrad from the limit"),
            [
                (
                    row["simulation"],
                    f"{1e3 * row['step']:g}",
                    f"{row['ms_per_evaluation']:.2f}",
                    f"{1e3 * row['distance']:.4f}",
                )
                for row in results["identification_ms_per_evaluation"]
            ],
        ),
        "Rollout, one step of M6, wall time x threads:\n"
        + format_table(
            ("logs", "candidates", "threads", "ns per step"),
            [
                (str(row["logs"]), str(row["candidates"]), str(row["workers"]), f"{row['ns_per_step']:.1f}")
                for row in results["rollout_scaling"]
            ],
        ),
        "MuJoCo, chain of servos, called once per step (bare: its own actuators and frictionloss):\n"
        + format_table(
            ("servos", "stepping", "steps/s", "share of bare"),
            [
                (str(servos), name, f"{rate:.0f}", f"{rate / of_one['bare']:.2f}")
                for servos, of_one in rates.items()
                for name, rate in of_one.items()
            ],
        ),
        "MuJoCo's rollout of 32 such chains with the engine plugin:\n"
        + format_table(
            ("servos", "threads", "steps/s", "speed-up"),
            [
                (
                    str(row["servos"]),
                    str(row["threads"]),
                    f"{row['steps_per_second']:.0f}",
                    f"{row['speedup']:.2f}",
                )
                for row in results["mujoco_rollout"]
            ],
        ),
        _fidelity_table(results["fidelity"]),
        "Driver node on a virtual servo, reading everything and publishing:\n"
        + format_table(
            ("servo", "reads/s"),
            [(name, f"{rate:.0f}") for name, rate in results["dynamixel_loop_hz_by_servo"].items()],
        ),
    ]
    parts.append(
        "Servos on a line with the delays of its bytes, all goals written and all states read:\n"
        + format_table(
            (
                *("servos", "bit/s", "bytes", "packets allow, 1/s", "cycles/s", "ratio"),
                *("ratio, fastest tenth", "driver, us", "ratio, driver alone", "emulator, us"),
                *("counting client, 1/s", "ratio to it", "the same, fastest tenth"),
            ),
            [
                (
                    row["line"],
                    f"{row['baud_rate']}",
                    f"{row['bytes_per_cycle']:.0f}",
                    f"{row['packets']:.0f}",
                    f"{row['cycles']:.0f}",
                    f"{row['cycles'] / row['packets']:.2f}",
                    f"{row['fastest'] / row['packets']:.2f}",
                    f"{1e6 * row['driver']:.0f}",
                    f"{row['by_driver'] / row['packets']:.2f}",
                    f"{1e6 * row['emulator']:.0f}",
                    f"{row['counted']:.0f}",
                    f"{row['cycles'] / row['counted']:.2f}",
                    f"{row['fastest'] / row['fastest_counted']:.2f}",
                )
                for row in results["dynamixel_lines"]
            ],
        )
    )
    shares = results["feed_forward_processor_share"]
    parts.append(
        "Feed-forward node on six virtual servos in motion, reading everything and publishing:\n"
        + format_table(
            ("duties/s", *(f"share of a processor, {name}" for name in shares)),
            [(f"{results['feed_forward_loop_hz']:.0f}", *(f"{share:.2f}" for share in shares.values()))],
        )
    )
    parts.append(
        "Simulator node, six servos at 1 kHz, publishing every state:\n"
        + format_table(
            ("states/s", "real-time factor", "share of a processor"),
            [
                (
                    f"{results['simulator_states_per_second']:.0f}",
                    f"{results['simulator_real_time_factor']:.3f}",
                    f"{results['simulator_processor_share']:.2f}",
                )
            ],
        )
    )
    parts.append(
        "Driver (simulated), recorder and observer at 500 states/s, while a run is recorded:\n"
        + format_table(
            ("", "goal to state, median ms", "99 % ms", "share of a processor", "memory MB"),
            [
                (
                    name,
                    f"{1e3 * load['delay_p50']:.2f}",
                    f"{1e3 * load['delay_p99']:.2f}",
                    f"{load['processor']:.2f}",
                    f"{load['memory']:.0f}",
                )
                for name, load in results["composition"].items()
            ],
        )
    )
    if cycle := results["erob_cycle_us"]:
        parts.append(
            "EtherCAT master at 1 kHz, one emulated drive, deviation of the period in us:\n"
            + format_table(tuple(cycle), [tuple(f"{micros:.0f}" for micros in cycle.values())])
        )
    return "\n\n".join(["", *parts, ""])


def _fidelity_table(rows: Sequence[Any]) -> str:
    """Return how far simulations of the bench are from its equations, a line per servo and script."""
    time_steps = sorted({row["dt"] for row in rows})
    rms: dict[tuple[str, str], list[str]] = {}
    for row in sorted(rows, key=lambda row: row["dt"]):
        shown = (f"{1e3 * row[kind]['rms']:.4f}" for kind in ("native", "algorithm1"))
        rms.setdefault((row["servo"], row["script"]), []).extend(shown)
    shares = (
        max(row[kind][measure] / row["algorithm1"][measure] for row in rows for kind in ("native", "python"))
        for measure in ("rms", "highest")
    )
    return (
        "Bench in MuJoCo with the engine plugin, RMS from its equations in mrad, beside Algorithm 1:\n"
        + format_table(
            ("servo", "script", *(name for dt in time_steps for name in (f"{1e3 * dt:g} ms", "Alg. 1"))),
            [(*run, *cells) for run, cells in rms.items()],
        )
        + "\nAt most {:.2f} of Algorithm 1's RMS and {:.2f} of its largest distance. ".format(*shares)
        + f"The Python plugin differs by {max(row['disagreement'] for row in rows):.0e} rad."
    )


if __name__ == "__main__":
    raise SystemExit(main())
