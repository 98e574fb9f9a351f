# SPDX-License-Identifier: Apache-2.0
"""How a port of the law is called, and how it is found."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeAlias

from bam_core.errors import BamError, UnknownName, WrongType
from bam_core.exchange.conformance.step import ServoNumbers, Step


class Port(Protocol):
    """A port of the law for one servo."""

    def reset(self) -> None:
        """Begin an episode: nothing of the steps before counts any more."""

    def step(self, step: Step) -> tuple[float, float]:
        """Return motor torque and friction torque, N·m, that act in this step."""


PortFactory: TypeAlias = Callable[[ServoNumbers], Port]
"""What `--against module:function` names."""


def load_port(name: str) -> PortFactory:
    """Return the function that `module:function` names; modules of the working directory count.

    Raises:
        BamError: it has another form, the module cannot be imported, or it has no such function.
    """
    module_name, separator, function = name.partition(":")
    if not (separator and module_name and function):
        raise WrongType("--against", name, "module:function, as in my_port:servo")
    if (here := str(Path.cwd())) not in sys.path:
        sys.path.insert(0, here)
    try:
        module = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:  # a module of the user may raise anything, or end the program
        raise BamError(
            f"--against {name}: {module_name} cannot be imported ({type(error).__name__}: {error}); "
            "name a module that Python finds from here"
        ) from None
    factory = getattr(module, function, None)
    if not callable(factory):
        raise UnknownName(f"function of {module_name}", function, [n for n in vars(module) if n[0] != "_"])
    return factory
