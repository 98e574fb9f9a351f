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
    from bam_core.message_definition import message_definition as message_definition
    from bam_core.recording import Recording as Recording

__version__ = "0.1.0"

_HOME = {
    "BagTopic": "bag_writer",
    "BagWriter": "bag_writer",
    "BamError": "errors",
    "Recording": "recording",
    "message_definition": "message_definition",
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
