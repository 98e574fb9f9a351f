# SPDX-License-Identifier: Apache-2.0
"""Servo friction identification without ROS: physics, data, identification, command line.

The public names are listed in `__init__.pyi` and imported when first used: ``import bam_core`` costs nothing.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
