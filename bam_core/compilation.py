# SPDX-License-Identifier: Apache-2.0
"""Functions that Numba compiles, and the files in which it keeps them.

Numba's own cache looks at the one file that defines a function. Where a function or constant that is inlined
from another file changes, it does not notice and runs the old machine code. So the name of a cache file here
contains a hash of all those source files.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
from collections.abc import Callable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, cast

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache

_Function = TypeVar("_Function", bound=Callable[..., Any])


def compiled(*, fastmath: bool | set[str] = False) -> Callable[[_Function], _Function]:
    """Return a decorator that compiles a function and keeps it for later processes.

    It is kept in `__pycache__` beside its file, else in the user's cache directory; NUMBA_CACHE_DIR names
    another place. Where none is writable, every process compiles for itself.

    Args:
        fastmath: as of Numba.
    """

    def decorate(function: _Function) -> _Function:
        dispatcher: Any = numba.njit(nogil=True, error_model="numpy", fastmath=fastmath)(function)
        with contextlib.suppress(RuntimeError):  # no place is writable
            dispatcher._cache = _Cache(function)
        return cast("_Function", dispatcher)

    return decorate


@functools.cache
def source_key(module: str) -> str:
    """Return a key to the text of a module and of all that it imports of this project, directly or not."""
    sources: dict[str, _Source] = {}
    projects = frozenset({module.split(".")[0], __name__.split(".")[0]})
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name not in sources:
            sources[name] = _source(name, projects)
            waiting += sources[name].imports
    return hashlib.sha256(b"\0".join(sources[name].text for name in sorted(sources))).hexdigest()[:16]


class _Source(NamedTuple):
    text: bytes
    imports: tuple[str, ...]


@functools.cache  # kernels have most of what they import in common
def _source(module: str, projects: frozenset[str]) -> _Source:
    """Read a module, and find which of its project's modules it imports."""
    spec = _spec(module)
    text = Path(str(spec.origin)).read_bytes()
    return _Source(text, tuple(_imports(text, spec.parent, projects)))


def _imports(text: bytes, package: str | None, projects: frozenset[str]) -> Iterator[str]:
    """Yield the names of a project's modules that a source imports, at its top or within functions."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.split(".")[0] in projects)
        elif isinstance(node, ast.ImportFrom):
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            if origin.split(".")[0] in projects:
                places = [Path(place) for place in _spec(origin).submodule_search_locations or ()]
                for alias in node.names:
                    files = (place / alias.name for place in places)
                    is_module = any(path.is_dir() or path.with_suffix(".py").exists() for path in files)
                    yield f"{origin}.{alias.name}" if is_module else origin


def _spec(module: str) -> ModuleSpec:
    spec = importlib.util.find_spec(module)
    assert spec is not None, module
    return spec


class _NamedByContent(CompileResultCacheImpl):
    """Puts the key of the sources into the names of a function's files."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._key = source_key(function.__module__)
        super().__init__(function)

    def get_filename_base(self, fullname: str, abiflags: str) -> str:
        base: str = super().get_filename_base(fullname, abiflags)
        self._all_versions = f"{fullname}-*{base[base.rindex('.py') :]}*.nb[ic]"
        return f"{base}-{self._key}"

    def remove_others(self) -> None:
        """Remove what is kept of the same function for other sources."""
        for path in Path(self.locator.get_cache_path()).glob(self._all_versions):
            if self._key not in path.name:
                path.unlink(missing_ok=True)


class _Cache(FunctionCache):
    _impl_class = _NamedByContent

    def save_overload(self, sig: Any, data: Any) -> None:
        super().save_overload(sig, data)
        self._impl.remove_others()
