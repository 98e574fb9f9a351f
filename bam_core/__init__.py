# SPDX-License-Identifier: Apache-2.0
"""Servo friction identification without ROS: physics, data, identification, command line.

The public names are listed in `__init__.pyi` and imported when first used: ``import bam_core`` costs nothing.
Where MuJoCo is imported already, it also loads the engine plugin. MuJoCo crashes on a compiled model whose
plugin it does not know, such as one that another process has sent.
"""

import sys

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

if "mujoco" in sys.modules:
    from contextlib import suppress

    from bam_core.errors import BamError
    from bam_core.mujoco.native.library import load_plugin

    with suppress(BamError):  # not built: whoever needs it is told then
        load_plugin()
