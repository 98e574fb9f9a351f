# SPDX-License-Identifier: Apache-2.0
"""Drive/backdrive diagrams as SVG that takes its colours and its font from the page."""

from __future__ import annotations

import io
import re

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure

from bam_core.plots.diagram import AREAS, draw_diagram, stall_torque
from bam_core.report.results import ModelResult, Results
from bam_core.servo.model import ServoModel

_SIZE = 3.4  # in; drawn one to one on a phone
_BLACK, _GRID, _WHITE = "#000000", "#b0b0b0", "#ffffff"  # matplotlib's; white is behind a label


def diagrams(results: Results) -> list[tuple[ModelResult, Markup]]:
    """Draw every model up to the chosen one's stall torque, so that they compare."""
    limit = stall_torque(results.best.servo)
    return [(model, diagram(model.servo, limit, model.name)) for model in results.models.values()]


def diagram(servo: ServoModel, limit: float, name: str) -> Markup:
    """Draw one servo.

    Args:
        servo: with its friction.
        limit: of both torques, N·m.
        name: of the drawing, letters and digits, no other one's in the page.
    """
    figure = Figure(figsize=(_SIZE, _SIZE), layout="constrained")
    draw_diagram(figure.subplots(), servo, limit)
    text = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": name}):
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return Markup(_for_page(text.getvalue(), name))


def _for_page(svg: str, prefix: str) -> str:
    """Leave of a file what stands inside a page: no header, no names that another drawing may have."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", svg, flags=re.DOTALL)
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg).replace("xlink:href", "href")
    svg = re.sub(r'\bid="', f'id="{prefix}-', svg)
    svg = re.sub(r'(url\(|href=")#', rf"\1#{prefix}-", svg)
    svg = re.sub(r" font-family: [^;\"]*;", "", svg)
    svg = re.sub(r"<[^>]+>", lambda tag: re.sub(r"(\d\.\d)\d+", r"\1", tag[0]), svg)  # not what is written
    for name, color in {**AREAS, "grid": _GRID, "surface": _WHITE}.items():
        svg = svg.replace(color, f"var(--{name})")
    svg = svg.replace(_BLACK, "currentColor")
    svg = re.sub(r'<svg [^>]*?(viewBox="[^"]*")[^>]*>', r'<svg \1 aria-hidden="true">', svg, count=1)
    return re.sub(r"\n\s*", "\n", svg)
