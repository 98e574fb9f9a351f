# SPDX-License-Identifier: Apache-2.0
"""What ``metadata.yaml`` promises: how many messages a bag held when its recorder finished it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bam_core.errors import BamError, Malformed
from bam_core.files.yaml_file import read_yaml
from bam_core.recordings.bag_writer import METADATA_NAME


def promised_messages(path: Path) -> int | None:
    """Count of messages that a bag must hold, all topics together.

    Args:
        path: bag directory, or one ``.mcap`` file of a bag.

    Returns:
        The count; None where nothing is promised: there is no ``metadata.yaml`` (the recorder was
        interrupted), or none that knows this file.

    Raises:
        FileError: ``metadata.yaml`` cannot be read, or is not that of a bag.
    """
    metadata = (path if path.is_dir() else path.parent) / METADATA_NAME
    if not metadata.is_file():
        return None
    information = _information(metadata)
    if path.is_dir():
        return _count(metadata, information)
    files = information.get("files")
    for entry in files if isinstance(files, list) else ():
        if isinstance(entry, dict) and entry.get("path") == path.name:
            return _count(metadata, entry)
    if information.get("relative_file_paths") == [path.name]:
        return _count(metadata, information)
    return None


def metadata_files(bag: Path) -> list[str]:
    """Return the names of a bag's files as its ``metadata.yaml`` has them; empty: it names none."""
    metadata = bag / METADATA_NAME
    if not metadata.is_file():
        return []
    try:
        names = _information(metadata).get("relative_file_paths")
    except BamError:
        return []  # which is reported where the bag is read
    return [Path(str(name)).name for name in names] if isinstance(names, list) else []


def _information(metadata: Path) -> dict[str, Any]:
    try:
        content = read_yaml(metadata)
    except Malformed:
        content = None
    information = content.get("rosbag2_bagfile_information") if isinstance(content, dict) else None
    if not isinstance(information, dict):
        raise _damaged(metadata, "rosbag2_bagfile_information")
    return information


def _count(metadata: Path, section: dict[str, Any]) -> int:
    count = section.get("message_count")
    if not isinstance(count, int):
        raise _damaged(metadata, "message_count")
    return count


def _damaged(metadata: Path, missing: str) -> Malformed:
    return Malformed(
        metadata,
        "is cut short or not that of a bag",
        expected=f"{missing} in it",
        advice="copy the bag again",
    )
