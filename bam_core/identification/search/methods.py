# SPDX-License-Identifier: Apache-2.0
"""The methods of search, by the names that `bam identify --search` and servo files use."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from bam_core.errors import UnknownName

GAUSS_NEWTON = "gauss-newton"
CMA_ES = "cma-es"

MIN_EVALUATIONS = 50
"""The smallest budget of a search: enough to see that everything works."""

METHODS: Mapping[str, str] = MappingProxyType(
    {
        GAUSS_NEWTON: "Gauss-Newton descents over growing horizons, with restarts",
        CMA_ES: "CMA-ES with restarts (BIPOP)",
    }
)
"""Name -> what runs, in words."""

DEFAULT_METHOD = GAUSS_NEWTON


def require_method(name: str) -> str:
    """Return the name of a method; raises UnknownName for any other."""
    if name not in METHODS:
        raise UnknownName("search", name, METHODS)
    return name
