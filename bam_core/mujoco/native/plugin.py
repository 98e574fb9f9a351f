# SPDX-License-Identifier: Apache-2.0
"""Loading the engine plugin, and putting its servos on the joints of a model."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import mujoco

from bam_core.errors import MissingSoftware
from bam_core.mujoco.robot import equip
from bam_core.servo.model import ServoLike, load_servo
from bam_core.servo.plugin_attributes import plugin_attributes

PLUGIN_NAME = "bam_bench.servo"
LIBRARY = "libbam_servo.so"
PATH_VARIABLE = "BAM_SERVO_PLUGIN"
"""Environment variable that names the library where it lies elsewhere."""

_NEEDED = re.compile(r"libmujoco\.so\.([0-9.]*[0-9])")  # in the loader's words: the one that it was built for
_ROOT = Path(__file__).resolve().parents[3]
_loaded: list[Path] = []


@dataclass(frozen=True, kw_only=True)
class NativeServo:
    """A servo as the plugin drives it.

    Attributes:
        servo: its constants; a library name or the path of a servo file is loaded.
        kp: position gain, firmware units; None: that of the factory.
        supply_voltage: V; None: the servo's nominal voltage.
        case_temperature_rise: of the motor's case above `motor.REFERENCE_TEMPERATURE`, K.
        encoder_zero: what the encoder says where the joint is at zero, rad.
        has_torque_enable: with a second control, torque enable, 0 to 1; without, torque is on.
    """

    servo: ServoLike
    kp: float | None = None
    supply_voltage: float | None = None
    case_temperature_rise: float = 0.0
    encoder_zero: float = 0.0
    has_torque_enable: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "servo", load_servo(self.servo))

    def config(self) -> dict[str, str]:
        """Return the plugin's configuration; numbers in full precision."""
        servo = load_servo(self.servo)
        values = plugin_attributes(servo)
        values["kp"] = servo.firmware.factory_kp if self.kp is None else self.kp
        values["case_temperature_rise"] = self.case_temperature_rise
        values["encoder_zero"] = self.encoder_zero
        if self.supply_voltage is not None:
            values["supply_voltage"] = self.supply_voltage
        return {name: repr(float(value)) for name, value in values.items()}


def plugin_path() -> Path:
    """Return where the library of the plugin is, for `mj_loadPluginLibrary` of any MuJoCo program.

    Raises:
        BamError: it has not been built.
    """
    named = os.environ.get(PATH_VARIABLE)
    for path in [Path(named)] if named else _places():
        if path.is_file():
            return path
    raise MissingSoftware(
        "engine plugin bam_bench.servo",
        named or LIBRARY,
        problem=f"{named or LIBRARY}: no such library",
        advice=f"build it with `make setup` or colcon, or name it in {PATH_VARIABLE}",
    )


def load_plugin() -> Path:
    """Make the plugin known to MuJoCo in this process, once; return where it came from.

    Raises:
        BamError: it has not been built, or MuJoCo cannot load it.
    """
    if _loaded:
        return _loaded[0]
    path = plugin_path()
    try:
        mujoco.mj_loadPluginLibrary(str(path))
    except Exception as error:
        built_for = _NEEDED.search(str(error))
        cure = f"install mujoco=={built_for[1]}, or build" if built_for else "build"
        raise MissingSoftware(
            str(path),
            f"mujoco {built_for[1]}" if built_for else "mujoco",
            problem=f"cannot be loaded by MuJoCo {mujoco.__version__} ({error})",
            advice=f"{cure} the plugin with it",
        ) from None
    _loaded.append(path)
    return path


def equip_native(spec: mujoco.MjSpec, servos: Mapping[str, NativeServo]) -> None:
    """Put servos on joints, in place, driven inside `mj_step`; each control is a goal position.

    Joints get armature and a friction row as from `equip`; actuators that act on them are replaced. The new
    actuators bear the joints' names, those of torque enable `<joint>_torque_enable`.

    Raises:
        BamError: the description has no such joint, or the plugin cannot be loaded.
    """
    load_plugin()
    equip(spec, {joint: each.servo for joint, each in servos.items()})
    spec.activate_plugin(PLUGIN_NAME)
    for joint, each in servos.items():
        instance = spec.add_plugin(name=f"{joint}_servo", plugin_name=PLUGIN_NAME, active=True)
        instance.config = each.config()
        names = [joint, f"{joint}_torque_enable"] if each.has_torque_enable else [joint]
        for name in names:
            actuator = spec.add_actuator(name=name, target=joint, trntype=mujoco.mjtTrn.mjTRN_JOINT)
            actuator.plugin.name = f"{joint}_servo"
            actuator.plugin.plugin_name = PLUGIN_NAME
            actuator.plugin.active = True


def _places() -> Iterator[Path]:
    """Where builds put the library: beside this file (wheel), in an ament prefix or a checkout's install."""
    yield Path(__file__).with_name(LIBRARY)
    prefixes = [Path(each) for each in os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep) if each]
    for prefix in [*prefixes, _ROOT / "install" / "bam_bench", *Path(__file__).parents]:
        yield prefix / "lib" / "bam_bench_mujoco_plugin" / LIBRARY
