# SPDX-License-Identifier: Apache-2.0
"""The public interface, read from the sources: parameters, mentioned types, docstrings.

.venv/bin/python -m test.core.public_api    prints its figures
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import bam_core

ROOT = Path(bam_core.__file__).parents[1]
PUBLIC_MODULES = ("bam_core", "bam_core.errors", "bam_core.report")
"""Modules whose names are public: docs/reference/api lists them."""
MOST_PARAMETERS = 6

Definition = ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


class Name(NamedTuple):
    """A name at the place where it is defined."""

    module: str
    name: str

    @property
    def definition(self) -> Definition:
        """Its node in the syntax tree."""
        return _module(self.module).definitions[self.name]


@dataclass(frozen=True, kw_only=True)
class _Module:
    """Names that a module defines, and those that it imports, also for type checkers alone."""

    definitions: dict[str, Definition]
    imports: dict[str, Name]


@cache
def _module(name: str) -> _Module:
    path = ROOT.joinpath(*name.split("."))
    files = (path.with_suffix(".py"), path / "__init__.pyi", path / "__init__.py")
    file = next(file for file in files if file.exists())
    package = name if file.stem == "__init__" else name.rpartition(".")[0]
    tree = ast.parse(file.read_text())
    imports = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *filter(None, [node.module])])
            imports |= {alias.asname or alias.name: Name(source, alias.name) for alias in node.names}
    definitions: dict[str, Definition] = {}
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            definitions[statement.name] = statement
        elif isinstance(statement, ast.Assign):
            definitions |= {each.id: statement for each in statement.targets if isinstance(each, ast.Name)}
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            definitions[statement.target.id] = statement
    return _Module(definitions=definitions, imports=imports)


def resolved(module: str, name: str) -> Name | None:
    """Return where a name comes from; None of one that is not ours."""
    while module.startswith("bam_core"):
        if name in _module(module).definitions:
            return Name(module, name)
        if name not in _module(module).imports:
            return None
        module, name = _module(module).imports[name]
    return None


def public_names() -> dict[Name, str]:
    """Return every public definition -> its public path."""
    names = {}
    for module in reversed(PUBLIC_MODULES):
        for name in _module(module).imports:
            if (place := resolved(module, name)) is not None:
                names[place] = f"{module}.{name}"
    return names


def functions(name: Name) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the public functions of a definition: itself, or constructor, methods and properties."""
    definition = name.definition
    if isinstance(definition, ast.FunctionDef):
        yield name.name, definition
    elif isinstance(definition, ast.ClassDef):
        for node in definition.body:
            if isinstance(node, ast.FunctionDef) and (node.name == "__init__" or node.name[0] != "_"):
                yield f"{name.name}.{node.name}", node


def parameters(function: ast.FunctionDef) -> list[ast.arg]:
    """Return all parameters but `self` and `cls`."""
    given = function.args
    listed = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return [each for each in listed if each is not None and each.arg not in ("self", "cls")]


def mentioned(name: Name) -> Iterator[Name]:
    """Yield the types of this package that the signatures and fields of a definition mention."""
    definition = name.definition
    hints: list[ast.expr | None] = []
    for _, function in functions(name):
        hints += [function.returns, *(each.annotation for each in parameters(function))]
    if isinstance(definition, ast.ClassDef):
        hints += definition.bases
        fields = (node for node in definition.body if isinstance(node, ast.AnnAssign))
        hints += [each.annotation for each in fields if not ast.unparse(each.target).startswith("_")]
    elif isinstance(definition, ast.AnnAssign):
        hints.append(definition.annotation)
    elif isinstance(definition, ast.Assign):
        hints.append(definition.value)
    for hint in filter(None, hints):
        for word in _words(hint):
            place = resolved(name.module, word)
            if place is not None and not _is_type_variable(place):
                yield place


def _words(hint: ast.expr) -> Iterator[str]:
    for node in ast.walk(hint):
        if isinstance(node, ast.Name):
            yield node.id


def _is_type_variable(name: Name) -> bool:
    definition = name.definition
    return isinstance(definition, ast.Assign) and ast.unparse(definition.value).startswith("TypeVar(")


def longest_parameter_lists(most: int = 10) -> list[tuple[int, str]]:
    """Return the longest parameter lists of public functions, methods and written constructors."""
    counts = {
        f"{name.module}.{title}": len(parameters(function))
        for name in public_names()
        for title, function in functions(name)
    }
    return sorted(((count, title) for title, count in counts.items()), reverse=True)[:most]


def private_types() -> list[str]:
    """Return the types that public signatures mention and that are not public."""
    public = public_names()
    return sorted(
        {
            f"{each.module}.{each.name}, mentioned by {name.name}"
            for name in public
            for each in mentioned(name)
            if each not in public
        }
    )


def without_docstring() -> list[str]:
    """Return public classes, functions, methods and properties that have none."""
    missing = []
    for name, path in public_names().items():
        if isinstance(name.definition, ast.ClassDef) and not ast.get_docstring(name.definition):
            missing.append(path)
        missing += [
            f"{name.module}.{title}"
            for title, function in functions(name)
            if function.name != "__init__" and not ast.get_docstring(function)
        ]
    return missing


if __name__ == "__main__":
    print(f"{len(public_names())} public names")
    print(*(f"{count} parameters: {title}" for count, title in longest_parameter_lists()), sep="\n")
    print(
        f"{len(private_types())} types that signatures mention and that are not public",
        *private_types(),
        sep="\n  ",
    )
    print(f"{len(without_docstring())} without docstring", *without_docstring(), sep="\n  ")
