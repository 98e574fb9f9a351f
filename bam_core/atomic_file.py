# SPDX-License-Identifier: Apache-2.0
"""Output files that appear whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from bam_core.errors import BamError


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file under a temporary sibling name, then rename it; parents are created.

    Raises:
        BamError: it cannot be written; what was there before is untouched.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise BamError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
