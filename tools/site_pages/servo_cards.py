# SPDX-License-Identifier: Apache-2.0
"""A card per servo of the library: values of its file, its diagram, and snippets to copy."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from xml.etree import ElementTree

from bam_core.exchange import MjcfDrive, servo_mjcf
from bam_core.plots.diagram import plot_diagram
from bam_core.plots.save import save_figure
from bam_core.report.names import symbol, words
from bam_core.servo.bench_effects_file import load_bench_effects
from bam_core.servo.friction import FRICTION_MODELS
from bam_core.servo.model import ServoModel, load_servo, published_names, servo_names
from bam_core.servo.parameters import MOTOR_EFFECTS, MOTOR_PARAMETERS, PARAMETER_UNITS
from bam_ros.dynamixel.control_table import CONTROL_TABLES
from site_pages.markdown import code, plain, table, toctree

DOCS = Path(__file__).resolve().parents[2] / "docs"
STANDARD_NORMAL_95 = 1.96
_HEADER = ("name", "supply V", "k_t N·m/A", "R Ω", "J_m kg·m²", "stall N·m")


def pages() -> dict[str, str]:
    """Return the cards and the list of them."""
    written = {f"reference/servos/{name}.md": _card(name) for name in servo_names()}
    written["reference/servos/index.md"] = "\n".join(
        [
            "# Servo cards\n",
            "Parameters, errors and snippets of every servo in the library (`bam servos`). The diagrams have"
            " motor torque to the right and load upwards. Their areas are those in which the motor moves the"
            " load (drive), friction holds both (static), or the load moves the motor (backdrive):"
            " [friction models](../../explanation/friction.md).\n",
            "::::{grid} 2 2 3 3\n:gutter: 2\n",
            *(_tile(name) for name in servo_names()),
            "::::\n",
            "## Motors\n",
            "Constants are those at the output shaft, after the gearbox. *Stall* is the motor's torque at"
            " rest and full duty, without friction.\n",
            table(_HEADER, map(_motor_row, servo_names())),
            "Parameters as others published them, for their own integrator, are"
            f" {', '.join(f'`{name}`' for name in published_names())}. Any other servo needs"
            " [one file](../../own_servo.md).\n",
            toctree(servo_names()),
        ]
    )
    return written


def _tile(name: str) -> str:
    servo = load_servo(name)
    return (
        f":::{{grid-item-card}} {plain(servo.title)}\n:link: {name}\n:link-type: doc\n"
        f":img-bottom: {name}_diagram.svg\n\n"
        f"`{name}` · {servo.friction_model.upper()}\n\n{_origin(servo)}\n:::\n"
    )


def _motor_row(name: str) -> tuple[str, ...]:
    servo = load_servo(name)
    return (
        f"[`{name}`]({name}.md)",
        f"{servo.nominal_voltage:g}",
        f"{servo.motor.torque_constant:.3f}",
        f"{servo.motor.resistance:.2f}",
        f"{servo.motor.armature:.5f}",
        f"{servo.stall_torque():.2f}",
    )


def draw(directory: Path) -> None:
    """Write the drive/backdrive diagram of every card.

    Args:
        directory: of the site's sources.
    """
    for name in servo_names():
        save_figure(
            plot_diagram([(name, load_servo(name))]), directory / f"reference/servos/{name}_diagram.svg"
        )


def _card(name: str) -> str:
    servo = load_servo(name)
    header = _comment(name)
    return "\n".join(
        [
            f"# {servo.title}\n",
            f"`{name}` · {plain(servo.manufacturer)} · {_bus(servo)} · {servo.nominal_voltage:g} V ·"
            f" friction model {servo.friction_model.upper()}"
            f" ({FRICTION_MODELS[servo.friction_model].title})\n",
            f"{plain(header)}\n",
            _warning(servo),
            f"```{{image}} {name}_diagram.svg\n:alt: Drive/backdrive diagram of the {plain(servo.title)}\n"
            ":width: 460px\n:align: center\n```\n",
            "Drive, static and backdrive, by motor torque and load, at rest. Lines are the borders in"
            " motion. Change the"
            f' parameters in the <a href="../../explanation/explorer.html#{name}">explorer</a>.\n',
            "## Use it\n",
            *_snippets(name, servo),
            "## Parameters\n",
            table(("", "parameter", "value", "95 % interval", "unit"), _rows(servo)),
            _interval_note(servo),
            "## Errors and provenance\n",
            table(("", ""), _provenance(name, servo)),
        ]
    )


def _comment(name: str) -> str:
    """The comment of the file before its first field."""
    text = (files("bam_core") / "servos" / f"{name}.yaml").read_text(encoding="utf-8")
    lines = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        lines.append(line.lstrip("# "))
    return " ".join(lines)


def _bus(servo: ServoModel) -> str:
    if servo.protocol:
        return f"Dynamixel protocol {servo.protocol}.0"
    return "EtherCAT" if servo.firmware.regulates_current else "no driver here: record with your own tools"


def _origin(servo: ServoModel) -> str:
    source = servo.provenance.source
    if source.startswith("converted"):
        return "published by BAM's authors, converted"
    return "identified here from recordings" if source.startswith("identified") else "data sheet"


def _warning(servo: ServoModel) -> str:
    if _origin(servo) != "data sheet":
        return ""
    return (
        ":::{warning}\nA first model from the data sheet: friction and armature are guesses. Identify it"
        " before you"
        " rely on it.\n:::\n"
    )


def _rows(servo: ServoModel) -> Iterator[tuple[str, ...]]:
    effects = tuple(name for name in MOTOR_EFFECTS if getattr(servo.motor, name))
    model = FRICTION_MODELS[servo.friction_model]
    values = {name: getattr(servo.motor, name) for name in (*MOTOR_PARAMETERS, *effects)}
    values |= model.values(servo.friction)
    values |= {name: value for name, value in vars(servo.servo_effects).items() if value}
    for name, value in values.items():
        deviation = servo.uncertainty.get(name)
        interval = ""
        if deviation is not None:
            low, high = (value + sign * STANDARD_NORMAL_95 * deviation for sign in (-1.0, 1.0))
            interval = f"{max(low, 0.0):.3g} to {high:.3g}"
        unit = PARAMETER_UNITS[name].replace("-", "")
        yield str(symbol(name)), f"{words(name)} `{name}`", f"{value:.6g}", interval, unit


def _interval_note(servo: ServoModel) -> str:
    if servo.uncertainty:
        return (
            "Intervals are 1.96 standard deviations of the file to either side, cut at zero. If one reaches"
            " zero, the recordings do not distinguish the parameter from zero. They hold for this specimen"
            " ([what they contain](../../uncertainty.md)).\n"
        )
    if _origin(servo) == "data sheet":
        return "The file has no uncertainties: a data sheet has none.\n"
    return "The file has no uncertainties: its source published none.\n"


def _provenance(name: str, servo: ServoModel) -> Iterator[tuple[str, str]]:
    origin = servo.provenance
    if servo.gear_ratio is not None:
        yield "gear ratio", f"1:{servo.gear_ratio:g}"
    yield "source", plain(origin.source)
    if origin.method:
        yield "search", plain(origin.method)
    if origin.software:
        yield "software", plain(origin.software)
    if origin.date:
        yield "date", origin.date
    if origin.train_mae is not None:
        yield "error in training", f"{1e3 * origin.train_mae:.1f} mrad, mean over {_count(origin.train_data)}"
    for error, label in (
        (origin.selection_mae, "error in selection"),
        (origin.test_mae, "error on test recordings"),
    ):
        if error is not None:
            yield label, f"{1e3 * error:.1f} mrad"
    if origin.train_mae is None:
        yield "compared with recordings of a real one", compared(name)
    bench = files("bam_core") / "servos" / "bench_effects" / f"{name}.yaml"
    if bench.is_file():
        effects = {key: value for key, value in vars(load_bench_effects(name)).items() if value}
        shown = ", ".join(
            f"{words(key)} {value:.3g} {PARAMETER_UNITS[key]}" for key, value in effects.items()
        )
        yield "bench of its recordings", f"{shown} (not part of the servo)"


def compared(name: str) -> str:
    """Return comparisons on the page of supported hardware with recordings, as a card links it."""
    text = (DOCS / "reference" / "hardware.md").read_text(encoding="utf-8")
    rows = (line.strip("| ").split(" | ") for line in text.partition("## Servo models")[2].splitlines())
    (shown,) = (row[2] for row in rows if len(row) == 3 and f"`{name}`" in row[0])
    return shown.replace("](../", "](../../").replace("](servos/", "](")


def _count(recordings: object) -> str:
    size = len(recordings)  # type: ignore[arg-type]
    return f"{size} recordings" if size else "the recordings that the source names"


def _snippets(name: str, servo: ServoModel) -> list[str]:
    kp = servo.firmware.factory_kp
    mjcf, lost = servo_mjcf(servo, MjcfDrive(kp=kp))
    remarks = "".join(f"\n- {plain(line)}" for line in lost) or " nothing here."
    return [
        "::::{tab-set}",
        ":::{tab-item} Python",
        "The servo inside `mj_step` (C++), on a joint `shoulder` of your model:\n",
        code(
            "import mujoco\nfrom bam_core import NativeServo, equip_native\n\n"
            'spec = mujoco.MjSpec.from_file("robot.xml")\n'
            f'equip_native(spec, {{"shoulder": NativeServo(servo="{name}", kp={kp:g})}})\n'
            "model = spec.compile()  # ctrl is the goal position, rad",
            "python",
        ),
        "A run on the pendulum bench, without MuJoCo and ROS 2:\n",
        code(
            "from bam_core import PendulumBench, synthesize\n\n"
            f'run = synthesize("{name}", PendulumBench(mass=0.1, length=0.1), "sin_sin", {kp:g})\n'
            'print(f"{run.position.max():.3f} rad at most")',
            "python",
        ),
        ":::",
        ":::{tab-item} MJCF, plugin",
        "In any MuJoCo program that has loaded"
        " `install/bam_bench/lib/bam_bench_mujoco_plugin/libbam_servo.so`. The plugin sets the friction in"
        " every"
        " step; `frictionloss` must only be above zero:\n",
        code(_plugin_mjcf(name, servo, kp), "xml"),
        ":::",
        ":::{tab-item} MJCF, dcmotor",
        "MuJoCo's own friction and motor, no plugin, as written by"
        f" `bam export {name} --kp {kp:g} --output {name}.xml`. MuJoCo's friction is that of M1. Lost are:"
        f"{remarks}\n",
        code(mjcf, "xml"),
        ":::",
        ":::{tab-item} URDF",
        "Limits of the motor at nominal supply, and the nearest friction of M1. URDF has no other fields for"
        " a servo, so give the simulator the servo as well:\n",
        code(_urdf(servo, mjcf), "xml"),
        ":::",
        ":::{tab-item} ROS 2",
        "A simulated bench with the topics of a driver, and a robot:\n",
        code(
            f"ros2 launch bam_bench simulate.launch.py servo:={name} mass:=0.1 length:=0.1\n"
            "ros2 launch bam_bench simulate.launch.py model:=robot.urdf joints:=shoulder,elbow"
            f" servo:={name}",
            "bash",
        ),
        *_record_lines(servo),
        ":::",
        "::::\n",
    ]


def _plugin_mjcf(name: str, servo: ServoModel, kp: float) -> str:
    return f"""<mujoco>
  <extension><plugin plugin="bam_bench.servo"/></extension>
  <worldbody>
    <body>
      <joint name="shoulder" axis="0 1 0" armature="{servo.motor.armature:g}" frictionloss="1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.1" size=".01" mass=".1"/>
    </body>
  </worldbody>
  <actuator>
    <plugin joint="shoulder" plugin="bam_bench.servo">
      <config key="servo" value="{name}"/> <config key="kp" value="{kp:g}"/>
    </plugin>
  </actuator>
</mujoco>"""


def _urdf(servo: ServoModel, mjcf: str) -> str:
    """Return a joint; its friction is that of the MJCF."""
    joint = next(ElementTree.fromstring(mjcf).iter("joint"))
    supply = min(servo.firmware.demand_limit, 1.0) * servo.nominal_voltage
    speed = supply / servo.motor.torque_constant
    damping, friction = (float(joint.attrib[name]) for name in ("damping", "frictionloss"))
    return f"""<joint name="shoulder" type="revolute">
  <parent link="base"/> <child link="arm"/> <axis xyz="0 1 0"/>
  <limit lower="-3.14" upper="3.14" effort="{servo.stall_torque():.3g}" velocity="{speed:.3g}"/>
  <dynamics damping="{damping:.4g}" friction="{friction:.4g}"/>
</joint>"""


def _record_lines(servo: ServoModel) -> list[str]:
    launch = "ros2 launch bam_bench record.launch.py"
    if servo.name in CONTROL_TABLES:
        where = "port:=/dev/ttyUSB0"
    elif not servo.protocol and servo.firmware.regulates_current:
        where = "driver:=erob interface:=eth0"
    elif servo.firmware.regulates_current:
        return [
            "The driver `dynamixel` selects this mode with the parameter `current_limit`:"
            " [wiring](../../how-to/wiring.md). Recordings of other programs can be identified, too.\n"
        ]
    else:
        return ["There is no driver for it here; recordings of other programs can be identified.\n"]
    return [
        f"The real one on its bench (`servo: {servo.name}` in the session):\n",
        code(f"{launch} {where} session:=my_session.yaml output:=recordings", "bash"),
    ]
