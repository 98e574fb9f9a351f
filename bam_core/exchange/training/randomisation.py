# SPDX-License-Identifier: Apache-2.0
"""Whether the terms of a randomisation change the motion: each alone, at both ends of its range.

Three kinds of files randomise: draws of a servo's parameters, event terms of Isaac Lab, and Playground's
`domain_randomize`. Each has a file here that returns its terms and the motion with one of them.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bam_core.arrays import Array
from bam_core.errors import Conflict, Malformed, Unreadable
from bam_core.exchange.training.randomised_draws import draws_of_file
from bam_core.exchange.training.randomised_isaac_lab import isaac_move, isaac_ranges
from bam_core.exchange.training.randomised_motion import EXPECTED, Move, TermRange
from bam_core.exchange.training.randomised_playground import playground
from bam_core.text.randomisation_findings import NoOp

NOISE = 1e-7
"""rad; parameters in float32 move the mean position by 2e-8 rad at most, the solver's tolerance by less."""


@dataclass(frozen=True, kw_only=True)
class Term:
    """A term of a randomisation, at the ends of its range.

    Attributes:
        name: in the file.
        low: lower end; SI, or a factor.
        high: upper end, likewise.
        change: largest mean distance from the motion without the term, rad; 0 where nothing could be run.
        no_op: why it does nothing; None: it acts.
    """

    name: str
    low: float
    high: float
    change: float
    no_op: NoOp | None


def check_randomisation(
    path: str | Path, servo: str | None = None, *, target: str | None = None
) -> tuple[Term, ...]:
    """Return the terms of a file, and what each of them does to a pendulum of 3 s.

    Args:
        path: of `bam export --draws`, `--to isaaclab` or `--to playground`; the latter's function is run.
        servo: library name or file that draws are of; None: the library's servo of the name in the file.
        target: "mjlab": draws count as its `servo_actuator` reads them. None: all of them.

    Raises:
        BamError: the file cannot be read, randomises nothing or is of another servo; or JAX is missing.
    """
    path = Path(path)
    if path.suffix == ".npz":
        ranges, move = draws_of_file(path, servo, target)
    elif servo is not None or target is not None:
        option = "--servo" if servo is not None else "--to"
        raise Conflict(option, "is for draws", expected="FILE.npz", advice="leave it out")
    elif path.suffix == ".py":
        ranges, move = _module(path)
    else:
        raise Malformed(path, "randomises nothing", expected=EXPECTED, advice="give such a file")
    base = move(None, 0.0)
    return tuple(_term(one, base, move) for one in ranges)


def _term(one: TermRange, base: Array, move: Move) -> Term:
    cause, change = one.cause, 0.0
    if cause is None and one.low == one.high:
        cause = "zero_width"
    if cause is None:
        ends = (move(one.name, end) for end in (one.low, one.high))
        change = max(float(np.abs(end - base).mean()) for end in ends)
        cause = None if change > NOISE else "no_motion"
    no_op = None if cause is None else NoOp(term=one.name, cause=cause, low=one.low, high=one.high)
    return Term(name=one.name, low=one.low, high=one.high, change=change, no_op=no_op)


def _module(path: Path) -> tuple[list[TermRange], Move]:
    try:
        text = path.read_text(encoding="utf-8")
        module = ast.parse(text)
    except OSError as error:
        raise Unreadable(path, error) from None
    except (SyntaxError, ValueError) as error:
        raise Malformed(path, f"is no Python ({error})", expected=EXPECTED) from None
    names = {node.name for node in module.body if isinstance(node, ast.FunctionDef)}
    if "domain_randomize" in names:
        return playground(path, text)
    if ranges := isaac_ranges(path, module):
        return ranges, isaac_move(path, module)
    raise Malformed(path, "randomises nothing", expected=EXPECTED, advice="give such a file")
