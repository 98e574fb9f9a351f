# SPDX-License-Identifier: Apache-2.0
"""Deliberate bugs for the C++ of the engine plugin: one change by pattern each.

Patterns, because no parser of C++ is among the requirements. A change that does not compile is not counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from studies.mutants.python_mutations import Mutation, mutation

_PATTERNS: tuple[tuple[str, str, str], ...] = (
    ("comparison", r" < (?!<)", " > "),
    ("comparison", r"(?<!-) > (?!>)", " < "),
    ("comparison", r" <= ", " >= "),
    ("comparison", r" >= ", " <= "),
    ("comparison", r" == ", " != "),
    ("comparison", r" != ", " == "),
    ("abs dropped", r"\bstd::f?abs\(", "("),
    ("min, max", r"\bstd::f?min\(", "std::max("),
    ("min, max", r"\bstd::f?max\(", "std::min("),
    ("clip dropped", r"\bstd::clamp\(([^,()]+),[^()]*\)", r"(\1)"),
    ("sign", r" \+ ", " - "),
    ("sign", r" - ", " + "),
    ("sign", r"(?<=[(=,] )-(?=[\w(])|(?<=\()-(?=[\w(])", ""),
    ("factor", r" \* ", " / "),
    ("factor", r" / ", " * "),
    ("and, or", r" && ", " || "),
    ("and, or", r" \|\| ", " && "),
    ("condition negated", r"\bif \((.*)\)(?= \{$| [a-z].*;$)", r"if (!(\1))"),
    ("condition negated", r"(?<=[ (])!(?=[\w(])", ""),
    ("constant", r"(?<![\w.])([1-9]\d*\.\d+)(?![\w.])", r"(2.0 * \1)"),
    ("index", r"\[(\w+)\]", "[0]"),
    ("assignment dropped", r"^ +(?:this->)?[\w.\->\[\]]+ [-+*/]?= [^=].*;$", ";"),
    ("call dropped", r"^ +[\w.\->]+\(.*\);$", ";"),
)


def cpp_mutations(path: str, source: bytes) -> list[Mutation]:
    """Return all deliberate bugs of a source, in the order of its text.

    Args:
        path: of the source, for the record.
        source: its text, ASCII.
    """
    return sorted(_edits_of(path, source), key=lambda mutation: (mutation.start, mutation.kind))


def _edits_of(path: str, source: bytes) -> Iterator[Mutation]:
    start = 0
    for line in source.decode().split("\n"):
        code = line.partition("//")[0].rstrip()
        if not re.match(r"\s*(#|\*|/\*|template|using|namespace|static_assert|$)", code) and '"' not in code:
            for kind, pattern, replacement in _PATTERNS:
                for match in re.finditer(pattern, code):
                    text = match.expand(replacement)
                    first, last = (start + len(code[:place].encode()) for place in match.span())
                    if text != match[0]:
                        yield mutation(path, source, kind, first, last, text)
        start += len(line.encode()) + 1
