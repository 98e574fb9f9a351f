# SPDX-License-Identifier: Apache-2.0
"""Servo friction identification without ROS: physics, data, identification, command line.

Names are imported when first used, so that ``import bam_core`` and ``bam --help`` cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bam_core.bag_writer import BagTopic as BagTopic
    from bam_core.bag_writer import BagWriter as BagWriter
    from bam_core.errors import BamError as BamError
    from bam_core.firmware import FIRMWARES as FIRMWARES
    from bam_core.firmware import CurrentFirmware as CurrentFirmware
    from bam_core.firmware import PositionFirmware as PositionFirmware
    from bam_core.firmware import VoltageFirmware as VoltageFirmware
    from bam_core.friction import FRICTION_MODELS as FRICTION_MODELS
    from bam_core.friction import Friction as Friction
    from bam_core.friction import FrictionModel as FrictionModel
    from bam_core.message_definition import message_definition as message_definition
    from bam_core.motor import DcMotor as DcMotor
    from bam_core.pendulum import PendulumBench as PendulumBench
    from bam_core.readers import load_recordings as load_recordings
    from bam_core.recording import Recording as Recording
    from bam_core.rollout import PARAMETERS as PARAMETERS
    from bam_core.rollout import Rollout as Rollout
    from bam_core.rollout import parameter_vector as parameter_vector
    from bam_core.servo_model import Provenance as Provenance
    from bam_core.servo_model import ServoModel as ServoModel
    from bam_core.servo_model import load_servo as load_servo
    from bam_core.servo_model import servo_names as servo_names

__version__ = "0.1.0"

_HOME = {
    "BagTopic": "bag_writer",
    "BagWriter": "bag_writer",
    "BamError": "errors",
    "CurrentFirmware": "firmware",
    "DcMotor": "motor",
    "FIRMWARES": "firmware",
    "FRICTION_MODELS": "friction",
    "Friction": "friction",
    "FrictionModel": "friction",
    "PARAMETERS": "rollout",
    "PendulumBench": "pendulum",
    "PositionFirmware": "firmware",
    "Provenance": "servo_model",
    "Recording": "recording",
    "Rollout": "rollout",
    "ServoModel": "servo_model",
    "VoltageFirmware": "firmware",
    "load_recordings": "readers",
    "load_servo": "servo_model",
    "message_definition": "message_definition",
    "parameter_vector": "rollout",
    "servo_names": "servo_model",
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
