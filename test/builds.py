# SPDX-License-Identifier: Apache-2.0
"""What was built from the sources of this checkout, and whether it was from these."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from bam_core.mujoco.native.library import library_paths
from bam_core.servo.plugin_library import build_digest

ROOT = Path(__file__).parents[1]
_FIELD = re.compile(r"^([A-Za-z][\w/]*)(?:<=\d+)?(\[[^\]]*\])?\s+([a-z]\w*)\s*(?:[#\s]|$)", re.MULTILINE)
_PARTS = {"msg": ("",), "srv": ("Request", "Response"), "action": ("Goal", "Result", "Feedback")}
_NAMES = {"bool": "boolean", "float32": "float", "float64": "double"}  # in Python, where they differ


def stale_builds() -> list[str]:
    """Return what was built from other sources; what was not built at all is not among it."""
    package = (*_stale_interfaces(), *_missing_nodes()) if find_spec("bam_bench") else ()
    return [*_stale_plugin(), *package]


def _stale_plugin() -> list[str]:
    native = ROOT / "bam_core" / "mujoco" / "native"
    digest = build_digest([*native.glob("*.cc"), *native.glob("*.h")]).encode()
    built = library_paths()
    return [] if any(digest in path.read_bytes() for path in built) else [str(path) for path in built[:1]]


def _stale_interfaces() -> list[str]:
    return [
        f"bam_bench/{kind}/{file.stem}"
        for kind, parts in _PARTS.items()
        for file in sorted((ROOT / kind).iterdir())
        if _built(kind, file.stem, parts) != [fields(text) for text in file.read_text().split("---\n")]
    ]


def _missing_nodes() -> list[str]:
    from ament_index_python.packages import get_package_prefix

    built = Path(get_package_prefix("bam_bench"), "lib", "bam_bench")
    named = re.findall(r"^add_executable_node\((\w+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    return [str(built / name) for name in named if not (built / name).is_file()]


def _built(kind: str, name: str, parts: tuple[str, ...]) -> list[list[tuple[str, str]]]:
    whole: Any = getattr(import_module(f"bam_bench.{kind}"), name, None)
    classes = [getattr(whole, part) if part else whole for part in parts] if whole else []
    return [list(each.get_fields_and_field_types().items()) for each in classes]


def fields(text: str) -> list[tuple[str, str]]:
    """Return names and types of the fields of a message's text, as its Python class gives them."""
    found = []
    for kind, array, name in _FIELD.findall(text):
        python = _NAMES.get(kind, kind)
        found.append((name, f"sequence<{python}>" if array else python))
    return found
