# SPDX-License-Identifier: Apache-2.0
"""The robots of `config/robots` as files.

`python tools/robot_files.py DIRECTORY` writes them anew.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.etree import ElementTree

import mujoco

from bam_core.files.atomic_file import write_text
from bam_core.servo.model import load_servo
from bam_core.servo.pendulum import PendulumBench

BENCH = PendulumBench(mass=0.5, length=0.15)
"""As the `simulator` node hangs it by default."""
WITH_SERVOS = "dynamixel_2r"
"""Arm that comes with servos as well."""
PLUGIN = "bam_bench.servo"
HALF_TURN = 3.14
"""How far servos turn each way, rad; less than π, beyond which drivers take no goal."""


def robot_files() -> dict[str, str]:
    """Return file name -> text: the bench and the arms of BAM section VI-B, as MJCF and as URDF.

    They come without servos, which `equip`, `equip_native` and the `simulator` node add. One arm comes with
    servos of the engine plugin as well, for programs such as mujoco_ros2_control, and with their limits, for
    ros2_control.
    """
    from bam_core.mujoco import bench_spec, bench_urdf
    from papers.bam.arm_description import arm_spec, arm_urdf
    from papers.bam.two_link import ARMS, JOINTS

    files = {"bench.xml": _mjcf(bench_spec(BENCH)), "bench.urdf": bench_urdf(BENCH)}
    for arm in ARMS.values():
        files[f"{arm.name}.xml"] = _mjcf(arm_spec(arm))
        files[f"{arm.name}.urdf"] = arm_urdf(arm)
    servos = dict(zip(JOINTS, ARMS[WITH_SERVOS].servos, strict=True))
    files[f"{WITH_SERVOS}_servos.xml"] = with_servos(files[f"{WITH_SERVOS}.xml"], servos)
    files[f"{WITH_SERVOS}_limits.urdf"] = with_limits(files[f"{WITH_SERVOS}.urdf"], servos)
    return files


def with_limits(urdf: str, servos: Mapping[str, str]) -> str:
    """Return a robot whose joints turn as far, as fast and as hard as their servos can.

    Programs such as joint_trajectory_controller take a joint without limits for one that may go over ±π to
    where it shall be, which is out of the range of a servo.

    Args:
        urdf: of a robot whose joints with servos have no limits.
        servos: joint -> servo, a name from the library.
    """
    root = ElementTree.fromstring(urdf)
    for joint, name in servos.items():
        servo = load_servo(name)
        element = root.find(f"joint[@name='{joint}']")
        assert element is not None
        element.set("type", "revolute")
        numbers = {
            "lower": -HALF_TURN,
            "upper": HALF_TURN,
            "effort": servo.stall_torque(),
            "velocity": servo.nominal_voltage / servo.motor.torque_constant,
        }
        ElementTree.SubElement(element, "limit", {key: f"{value:.3g}" for key, value in numbers.items()})
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def with_servos(mjcf: str, servos: Mapping[str, str]) -> str:
    """Return a robot with servos of the engine plugin, as position actuators of mujoco_ros2_control.

    That program takes an actuator for one of position where its bias is affine, and the second parameter of
    the bias is not zero; else the control is an effort to it. The plugin computes the force, and MuJoCo
    evaluates no bias of an actuator that has a plugin.

    Args:
        mjcf: of a robot whose joints have no actuators.
        servos: joint -> servo, a name from the library; the gain is that of the factory.
    """
    root = ElementTree.fromstring(mjcf)
    extension = ElementTree.Element("extension")
    ElementTree.SubElement(extension, "plugin", plugin=PLUGIN)
    default = ElementTree.Element("default")
    of_servos = ElementTree.SubElement(default, "default", {"class": "servo"})
    ElementTree.SubElement(of_servos, "general", biastype="affine", biasprm="0 -1 0")
    for place, element in enumerate((extension, default)):
        root.insert(place, element)
    actuators = ElementTree.SubElement(root, "actuator")
    for joint, name in servos.items():
        servo = load_servo(name)
        in_body = root.find(f".//joint[@name='{joint}']")
        assert in_body is not None
        in_body.set("armature", f"{servo.motor.armature:.6g}")
        in_body.set("frictionloss", "0.1")  # whatever is above zero: the plugin sets it in every step
        # mujoco_ros2_control needs names.
        attributes = {"name": joint, "class": "servo", "joint": joint, "plugin": PLUGIN}
        plugin = ElementTree.SubElement(actuators, "plugin", attributes)
        for key, value in (("servo", name), ("kp", f"{servo.firmware.factory_kp:g}")):
            ElementTree.SubElement(plugin, "config", key=key, value=value)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _mjcf(spec: mujoco.MjSpec) -> str:
    spec.compile()
    return spec.to_xml()


def main(argv: Sequence[str] | None = None) -> int:
    """Write all files into the directory that is named."""
    (directory,) = sys.argv[1:] if argv is None else argv
    for name, text in robot_files().items():
        write_text(Path(directory) / name, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
