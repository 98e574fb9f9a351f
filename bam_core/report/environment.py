# SPDX-License-Identifier: Apache-2.0
"""Templates, styles and scripts of all pages."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from bam_core.report import names, numbers
from bam_core.text.report_findings import SMALL
from bam_core.text.robot_result_findings import PriorOnly
from bam_core.text.unbroken import unbroken

if TYPE_CHECKING:
    from jinja2 import Environment

_ASSETS = files("bam_core") / "report" / "assets"


def environment() -> Environment:
    """Return what renders templates; whatever text they are given is escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    result = Environment(
        loader=FunctionLoader(asset), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    result.filters.update(
        words=names.words,
        breakable=names.breakable,
        model_names=names.model_names,
        symbol=names.symbol,
        mrad=numbers.mrad,
        quantity=numbers.quantity,
        unbroken=unbroken,
    )
    result.globals["small"] = SMALL
    result.globals["prior_only"] = PriorOnly()
    return result


def asset(name: str) -> str:
    """Return the text of a template, style or script."""
    return (_ASSETS / name).read_text(encoding="utf-8")
