# SPDX-License-Identifier: Apache-2.0
"""One HTML file that needs nothing else: styles, script, data and drawings are in it."""

from __future__ import annotations

import math
import os

from markupsafe import Markup

from bam_core.files.atomic_file import write_text
from bam_core.report import numbers
from bam_core.report.diagrams import diagrams
from bam_core.report.environment import asset, environment
from bam_core.report.errors import error_chart
from bam_core.report.fits import packed_fits, shown_first, typical_log
from bam_core.report.overview import missing_parts, needed_undetermined, tiles, warnings
from bam_core.report.parameters import correlation_cells, parameter_table
from bam_core.report.results import Results


def write_report(results: Results, path: str | os.PathLike[str]) -> None:
    """Write the page of an identification.

    Raises:
        BamError: the file cannot be written; what was there before is untouched.
    """
    write_text(path, render(results))


def render(results: Results) -> str:
    """Return the page as HTML; whatever text the results hold is escaped."""
    return (
        environment()
        .get_template("page.html.jinja")
        .render(
            results=results,
            best=results.best,
            tiles=tiles(results),
            warnings=warnings(results),
            missing_parts=missing_parts(results),
            needed_undetermined=needed_undetermined(results),
            errors=error_chart(results),
            tables={name: parameter_table(model) for name, model in results.models.items()},
            heat_maps={
                name: correlation_cells(model.uncertainty)
                for name, model in results.models.items()
                if model.uncertainty and model.uncertainty.names
            },
            diagrams=diagrams(results),
            fits=packed_fits(results),
            first_log=typical_log(results),
            shown=shown_first(results),
            titles={name: name.upper() for name in results.models},
            change=numbers.change,
            nan=math.nan,
            include_raw=lambda name: Markup(asset(name)),
        )
    )
