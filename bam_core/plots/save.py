# SPDX-License-Identifier: Apache-2.0
"""Figures that reach the disk whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from matplotlib.figure import Figure

from bam_core.errors import NotWritable
from bam_core.files.atomic_file import scratch


def save_figure(figure: Figure, path: str | os.PathLike[str], dpi: int = 150) -> None:
    """Write a figure; the suffix chooses the format (png, svg, pdf). Parents are created.

    Raises:
        BamError: the format is unknown or the file cannot be written.
    """
    path = Path(path)
    kind = path.suffix.lstrip(".").lower()
    if kind not in figure.canvas.get_supported_filetypes():
        raise NotWritable(
            path, f"'{path.suffix}' is no picture format", expected=".png, .svg or .pdf", advice="rename it"
        )
    try:
        with scratch(path) as temporary:
            figure.savefig(temporary, format=kind, dpi=dpi)
            temporary.replace(path)
    except OSError as error:
        raise NotWritable(path, error) from None
