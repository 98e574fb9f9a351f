# SPDX-License-Identifier: Apache-2.0
"""Servo friction identification without ROS: physics, data, identification, command line.

Names are imported when first used, so that ``import bam_core`` and ``bam --help`` cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bam_core._version import __version__ as __version__

if TYPE_CHECKING:
    from bam_core.errors import BamError as BamError
    from bam_core.exchange import MjcfDrive as MjcfDrive
    from bam_core.exchange import bam_parameters as bam_parameters
    from bam_core.exchange import bam_parameters_text as bam_parameters_text
    from bam_core.exchange import read_bam_parameters as read_bam_parameters
    from bam_core.exchange import servo_mjcf as servo_mjcf
    from bam_core.exchange import write_bag as write_bag
    from bam_core.identification.choice.model_fit import ModelFit as ModelFit
    from bam_core.identification.identify import identify as identify
    from bam_core.identification.identify import with_uncertainty as with_uncertainty
    from bam_core.identification.result import Identification as Identification
    from bam_core.identification.writing import write_identification as write_identification
    from bam_core.mujoco import BENCH_JOINT as BENCH_JOINT
    from bam_core.mujoco import ServoActuation as ServoActuation
    from bam_core.mujoco import bench_spec as bench_spec
    from bam_core.mujoco import compile_robot as compile_robot
    from bam_core.mujoco import equip as equip
    from bam_core.mujoco import load_robot as load_robot
    from bam_core.mujoco import simulate_recording as simulate_recording
    from bam_core.mujoco.actuate import actuate as actuate
    from bam_core.mujoco.native import NativeServo as NativeServo
    from bam_core.mujoco.native import equip_native as equip_native
    from bam_core.plots.fit import plot_fit as plot_fit
    from bam_core.recordings import load_recordings as load_recordings
    from bam_core.recordings.bag_writer import BagTopic as BagTopic
    from bam_core.recordings.bag_writer import BagWriter as BagWriter
    from bam_core.recordings.message_definition import message_definition as message_definition
    from bam_core.recordings.recording import Recording as Recording
    from bam_core.report import load_results as load_results
    from bam_core.report import write_report as write_report
    from bam_core.servo.bench_effects_file import load_bench_effects as load_bench_effects
    from bam_core.servo.effects import BenchEffects as BenchEffects
    from bam_core.servo.firmware import FIRMWARES as FIRMWARES
    from bam_core.servo.firmware import CurrentFirmware as CurrentFirmware
    from bam_core.servo.firmware import PositionFirmware as PositionFirmware
    from bam_core.servo.firmware import VoltageFirmware as VoltageFirmware
    from bam_core.servo.friction import FRICTION_MODELS as FRICTION_MODELS
    from bam_core.servo.friction import Friction as Friction
    from bam_core.servo.friction import FrictionModel as FrictionModel
    from bam_core.servo.model import Provenance as Provenance
    from bam_core.servo.model import ServoModel as ServoModel
    from bam_core.servo.model import load_servo as load_servo
    from bam_core.servo.model import servo_names as servo_names
    from bam_core.servo.motor import DcMotor as DcMotor
    from bam_core.servo.pendulum import PendulumBench as PendulumBench
    from bam_core.servo.search_ranges import SearchRanges as SearchRanges
    from bam_core.simulation.rollout import PARAMETERS as PARAMETERS
    from bam_core.simulation.rollout import Rollout as Rollout
    from bam_core.simulation.rollout import parameter_vector as parameter_vector
    from bam_core.simulation.synthetic import synthesize as synthesize
    from bam_core.validation.validation import Validation as Validation
    from bam_core.validation.validation import validate as validate


_HOME = {
    "BENCH_JOINT": "mujoco",
    "BagTopic": "recordings.bag_writer",
    "BagWriter": "recordings.bag_writer",
    "BamError": "errors",
    "BenchEffects": "servo.effects",
    "CurrentFirmware": "servo.firmware",
    "DcMotor": "servo.motor",
    "FIRMWARES": "servo.firmware",
    "FRICTION_MODELS": "servo.friction",
    "Friction": "servo.friction",
    "FrictionModel": "servo.friction",
    "Identification": "identification.result",
    "MjcfDrive": "exchange",
    "ModelFit": "identification.choice.model_fit",
    "NativeServo": "mujoco.native",
    "PARAMETERS": "simulation.rollout",
    "PendulumBench": "servo.pendulum",
    "PositionFirmware": "servo.firmware",
    "Provenance": "servo.model",
    "Recording": "recordings.recording",
    "Rollout": "simulation.rollout",
    "SearchRanges": "servo.search_ranges",
    "ServoActuation": "mujoco",
    "ServoModel": "servo.model",
    "Validation": "validation",
    "VoltageFirmware": "servo.firmware",
    "actuate": "mujoco.actuate",
    "bam_parameters": "exchange",
    "bam_parameters_text": "exchange",
    "bench_spec": "mujoco",
    "compile_robot": "mujoco",
    "equip": "mujoco",
    "equip_native": "mujoco.native",
    "identify": "identification.identify",
    "load_bench_effects": "servo.bench_effects_file",
    "load_recordings": "recordings",
    "load_results": "report",
    "load_robot": "mujoco",
    "load_servo": "servo.model",
    "message_definition": "recordings.message_definition",
    "parameter_vector": "simulation.rollout",
    "plot_fit": "plots.fit",
    "read_bam_parameters": "exchange",
    "servo_mjcf": "exchange",
    "servo_names": "servo.model",
    "simulate_recording": "mujoco",
    "synthesize": "simulation.synthetic",
    "validate": "validation",
    "with_uncertainty": "identification.identify",
    "write_bag": "exchange",
    "write_identification": "identification.writing",
    "write_report": "report",
}

__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> Any:
    """Import a public name from the module it lives in (PEP 562)."""
    if name not in _HOME:
        raise AttributeError(f"module 'bam_core' has no attribute '{name}'")
    value = getattr(import_module(f"bam_core.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported or not."""
    return __all__
