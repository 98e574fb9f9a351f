# SPDX-License-Identifier: Apache-2.0
"""A servo as plain MJCF: joint constants and MuJoCo's `dcmotor`, as a default class for any robot.

MuJoCo's joint has the friction of M1: damping·θ̇ + frictionloss. Its `dcmotor` drives the voltage
(R/K)·(k_p(u - θ) - k_d·θ̇) + K·θ̇ within ±Vmax, which holds both firmware laws:

- voltage law: k_d = K²/R takes the back-EMF compensation out again, and k_p = K/R·gain·supply
- current law: k_p, k_d = K times the gains of the firmware, with the largest current as saturation

The controller works in every step of the simulation, where firmware holds its demand for a period.

MuJoCo's friction and motor are linear. Where the servo's are not, they are replaced by what comes nearest in
the mean square where the servo works, and a remark has its error.
"""

from __future__ import annotations

from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np

from bam_core._version import __version__
from bam_core.errors import OutOfRange
from bam_core.exchange.linearisation import left_out, linear_motor, m1_friction
from bam_core.mujoco.bench import BENCH_JOINT, bench_spec
from bam_core.servo.model import ServoLike, ServoModel, load_servo
from bam_core.servo.motor import COPPER_COEFFICIENT, REFERENCE_TEMPERATURE, WINDING_COOLING_TIME, DcMotor
from bam_core.servo.pendulum import PendulumBench
from bam_core.servo.plausible import require_plausible


@dataclass(frozen=True, kw_only=True)
class MjcfDrive:
    """What an actuator's input is.

    Attributes:
        kp: position gain, firmware units: the input is a goal, rad. None: it is a voltage, V, or for firmware
            that asks for a current, a motor torque, N·m.
        supply_voltage: V; None: the servo's nominal one.

    Raises:
        BamError: a value is not above zero.
    """

    kp: float | None = None
    supply_voltage: float | None = None

    def __post_init__(self) -> None:
        for name, unit in (("kp", "firmware units"), ("supply_voltage", "V")):
            value = getattr(self, name)
            if value is not None and not 0.0 < value < np.inf:
                raise OutOfRange(name, value, f"{unit}, above 0", printed=f"{value:g}")
            if value is not None:
                require_plausible(name, name, value, unit)


def servo_mjcf(
    servo: ServoLike, drive: MjcfDrive | None = None, bench: PendulumBench | None = None
) -> tuple[str, list[str]]:
    """Return MJCF, and one line about everything in which it differs from the servo.

    Args:
        servo: any without a gear.
        drive: what the actuator's input is; default a voltage or torque at nominal supply.
        bench: adds a pendulum that uses the class, a model of its own; default the class alone, to be
            included by a robot.

    Raises:
        BamError: the servo has a gear.
    """
    servo = load_servo(servo)
    servo.require_no_gear("MJCF")
    drive = drive or MjcfDrive()
    supply = servo.nominal_voltage if drive.supply_voltage is None else drive.supply_voltage
    damping, frictionloss, remarks = m1_friction(servo)
    motor, more = linear_motor(servo, supply)
    remarks += more
    root = ElementTree.Element("mujoco", model=servo.name)
    if bench is not None:
        root = ElementTree.fromstring(bench_spec(bench).to_xml())
        root.set("model", f"{servo.name}_bench")
    default = ElementTree.Element("default")
    servo_class = ElementTree.SubElement(default, "default", {"class": servo.name})
    root.insert(0, ElementTree.Comment(_about(servo, drive)))
    joint = {"armature": servo.motor.armature, "damping": damping, "frictionloss": frictionloss}
    ElementTree.SubElement(servo_class, "joint", {key: repr(value) for key, value in joint.items()})
    ElementTree.SubElement(servo_class, "dcmotor", _actuator(servo, motor, drive, supply))
    root.insert(next((i for i, child in enumerate(root) if child.tag == "worldbody"), 0), default)
    if bench is not None:
        for element in root.iter("joint"):
            if element.get("name") == BENCH_JOINT:
                element.set("class", servo.name)
        actuators = ElementTree.SubElement(root, "actuator")
        ElementTree.SubElement(
            actuators, "dcmotor", {"class": servo.name, "name": servo.name, "joint": BENCH_JOINT}
        )
    remarks += left_out(servo, "MuJoCo's dcmotor", has_controller=drive.kp is not None)
    if servo.motor.winding_heating and servo.firmware.regulates_current:
        remarks.append("winding_heating: is left out, a warm dcmotor of MuJoCo misses the current asked for")
    if servo.integrator == "semi_implicit":
        remarks.append(
            "integrator: the parameters were fitted with semi_implicit and count on its numerical damping, "
            "which MuJoCo does not add"
        )
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode") + "\n", remarks


def _about(servo: ServoModel, drive: MjcfDrive) -> str:
    asks_for_current = servo.firmware.regulates_current
    free = "motor torque, N·m" if asks_for_current else "voltage, V"
    control = free if drive.kp is None else f"goal, rad, at kp {drive.kp:g}"
    return (
        f" {servo.title}, written by bam_bench {__version__} from its {servo.friction_model} model. "
        f'To use: joint class="{servo.name}", dcmotor class="{servo.name}" joint="..."; ctrl: {control}. '
    ).replace("--", "-")


def _actuator(servo: ServoModel, motor: DcMotor, drive: MjcfDrive, supply: float) -> dict[str, str]:
    """Attributes of the actuator for a motor without saturation."""
    firmware = servo.firmware
    constant, resistance = motor.torque_constant, motor.resistance
    attributes = {"motorconst": _numbers(constant, constant), "resistance": _numbers(resistance)}
    largest = supply if firmware.regulates_current else supply * firmware.demand_limit
    per_demand = constant if firmware.regulates_current else constant / resistance * supply
    if drive.kp is not None:
        kp = (1.0 + servo.servo_effects.firmware_gain) * drive.kp
        stiffness, damping = (per_demand * float(gain) for gain in firmware.gains(kp))
        if not firmware.regulates_current:
            damping += constant**2 / resistance
        attributes["input"] = "pos"
        attributes["controller"] = _numbers(stiffness, 0.0, damping, 0.0, 0.0, largest)
    elif firmware.regulates_current:
        attributes["input"] = "ff"
        attributes["controller"] = _numbers(0.0, 0.0, 0.0, 0.0, 0.0, largest)
    else:
        attributes["input"] = "voltage"
        attributes["ctrlrange"] = _numbers(-largest, largest)
    if firmware.regulates_current:
        attributes["saturation"] = _numbers(0.0, firmware.demand_limit, 0.0)
    elif motor.winding_heating:
        attributes["thermal"] = _numbers(
            0.0,
            1.0 / motor.winding_heating,
            WINDING_COOLING_TIME,
            COPPER_COEFFICIENT,
            REFERENCE_TEMPERATURE,
            REFERENCE_TEMPERATURE,
        )
    return attributes


def _numbers(*values: float) -> str:
    return " ".join(repr(float(value)) for value in values)
