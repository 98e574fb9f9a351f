# SPDX-License-Identifier: Apache-2.0
"""Recordings by unit or by session: as their headers name them, else as the directories that they are in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from bam_core.errors import Missing, WrongValue
from bam_core.recordings.load import Loaded
from bam_core.recordings.recording import Recording


def by_label(loaded: Loaded, label: str, roots: Iterable[str | Path]) -> dict[str, Loaded]:
    """Return recordings by unit or session; the name of a session begins with that of its unit.

    Args:
        loaded: all of them; those that cannot be used are listed with every unit.
        label: "unit" or "session".
        roots: directories that were searched; a recording that names none takes the name of the directory
            right below one of them that it is in.

    Raises:
        BamError: a recording has neither, or a name is none that a directory can have.
    """
    bases = [Path(root).absolute() for root in roots]
    groups: dict[str, list[Recording]] = {}
    for recording in loaded.recordings:
        name = getattr(recording, label) or _directory(recording.source, bases)
        if not name:
            raise Missing(
                f"{recording.source}, {label}",
                f"a name, or a directory per {label}, as in TREE/{label}_1/{recording.source.name}",
                advice=f"write 'set: {{{label}: NAME}}' into a bench.yaml beside it",
            )
        if name in (".", "..") or "/" in name or "\0" in name:
            raise WrongValue(f"{recording.source}, {label}", name, "a name that a directory can have")
        named = replace(recording, unit=name) if label == "unit" else replace(recording, session=name)
        # Sessions of two units may have one name, such as a day.
        group = f"{named.unit}_{name}" if label == "session" and named.unit else name
        groups.setdefault(group, []).append(named)
    return {name: replace(loaded, recordings=groups[name]) for name in sorted(groups)}


def _directory(source: Path, bases: Iterable[Path]) -> str:
    path = source.absolute()
    for base in bases:
        if base in path.parents and len(parts := path.relative_to(base).parts) > 1:
            return parts[0]
    return ""
