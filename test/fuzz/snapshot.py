# SPDX-License-Identifier: Apache-2.0
"""Objects put back as they were, in place: an emulator is as new for every input, and is built once."""

from __future__ import annotations

import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from operator import attrgetter
from typing import Any

import numpy as np

_OURS = ("bam_core.", "bam_ros.", "virtual_wire")
_VALUES = (int, float, str, bytes, type(None), types.MethodType, types.BuiltinFunctionType)


class Snapshot:
    """What an object holds, and all that it leads to: containers, arrays and objects of this project.

    Args:
        root: the object.
        varying: class -> fields that change, where the others of its many objects do not.
    """

    def __init__(self, root: object, varying: Mapping[type, Sequence[str]] | None = None) -> None:
        self._undo: list[Callable[[], None]] = []
        self._plain: list[tuple[dict, dict]] = []
        self._varying = dict(varying or {})
        self._many: dict[type, list[object]] = {kind: [] for kind in self._varying}
        self._kept: list[object] = []  # alive, so that no other object gets its identity
        seen: set[int] = set()
        todo = [root]
        while todo:
            each = todo.pop()
            if id(each) not in seen:
                seen.add(id(each))
                self._kept.append(each)
                todo.extend(self._note(each))
        for kind, objects in self._many.items():
            self._note_many(objects, self._varying[kind])

    def restore(self) -> None:
        """Put everything back."""
        for each, saved in self._plain:
            if each != saved:
                each.clear()
                each.update(saved)
        for undo in self._undo:
            undo()

    def _note(self, each: Any) -> Iterator[object]:
        """Remember what an object holds; give what it leads to."""
        match each:
            case bytearray() | list():
                saved = each[:]
                self._undo.append(lambda: each.__setitem__(slice(None), saved))
                yield from saved if isinstance(each, list) else ()
            case np.ndarray():
                array = each.copy()
                self._undo.append(lambda: each.__setitem__(..., array))
            case dict():
                self._note_dict(each)
                yield from each.values()
            case deque():
                items = list(each)
                self._undo.append(lambda: (each.clear(), each.extend(items)))
                yield from items
            case tuple():
                yield from each
            case types.MethodType():
                yield each.__self__
            case types.FunctionType():
                yield from (cell.cell_contents for cell in each.__closure__ or ())
            case _ if type(each).__module__.startswith(_OURS) and not isinstance(each, (Enum, type)):
                yield from self._note_object(each)

    def _note_dict(self, each: dict) -> None:
        saved = dict(each)
        if all(map(_is_plain, saved.values())):
            self._plain.append((each, saved))
            return

        def undo() -> None:
            if each.keys() != saved.keys():
                each.clear()
            each.update(saved)

        self._undo.append(undo)

    def _note_many(self, objects: list[object], names: Sequence[str]) -> None:
        for name in names:
            look = attrgetter(name)
            saved = list(map(look, objects))

            def undo(name: str = name, look: attrgetter = look, saved: list = saved) -> None:
                if list(map(look, objects)) != saved:
                    for each, value in zip(objects, saved, strict=True):
                        setattr(each, name, value)

            self._undo.append(undo)

    def _note_object(self, each: Any) -> Iterator[object]:
        if is_dataclass(each) and each.__dataclass_params__.frozen:  # type: ignore[attr-defined]
            yield from vars(each).values() if hasattr(each, "__dict__") else ()
            return
        if type(each) in self._many:
            self._many[type(each)].append(each)
            return
        slots = [name for kind in type(each).__mro__ for name in getattr(kind, "__slots__", ())]
        names = [name for name in slots if hasattr(each, name)]
        if len(names) > 1:
            look = attrgetter(*names)
            saved = look(each)

            def undo() -> None:
                if look(each) != saved:
                    for name, value in zip(names, saved, strict=True):
                        object.__setattr__(each, name, value)

            self._undo.append(undo)
            yield from saved
        if hasattr(each, "__dict__"):
            self._note_dict(each.__dict__)
            yield from each.__dict__.values()


def _is_plain(value: object) -> bool:
    """Tell whether what equals a value is as good as the value: not where it can change by itself."""
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, _VALUES) or type(value).__eq__ is object.__eq__
