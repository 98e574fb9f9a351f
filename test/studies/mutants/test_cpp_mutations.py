# SPDX-License-Identifier: Apache-2.0
"""Deliberate bugs for C++, by pattern."""

from __future__ import annotations

import pytest

from studies.mutants.cpp_mutations import cpp_mutations


@pytest.mark.parametrize(
    ("line", "kind", "after"),
    [
        ("if (a < b) {", "comparison", "if (a > b) {"),
        ("if (a < b) {", "condition negated", "if (!(a < b)) {"),
        ("return std::abs(a);", "abs dropped", "return (a);"),
        ("return std::min(a, b);", "min, max", "return std::max(a, b);"),
        ("return std::clamp(a, b, c);", "clip dropped", "return (a);"),
        ("return a + b;", "sign", "return a - b;"),
        ("return a * b;", "factor", "return a / b;"),
        ("return a && b;", "and, or", "return a || b;"),
        ("return 0.5;", "constant", None),
        ("return 2.5 * a;", "constant", "return (2.0 * 2.5) * a;"),
        ("return a[i];", "index", "return a[0];"),
        ("s.speed = 0.5 * a;", "assignment dropped", ";"),
    ],
)
def test_each_kind_of_bug_is_found(line: str, kind: str, after: str | None) -> None:
    found = {each.after for each in cpp_mutations("a.h", f"  {line}\n".encode()) if each.kind == kind}
    assert found == ({after} if after else set())


@pytest.mark.parametrize("line", ["// a + b", "#include <a>", "  double a;  // a < b", 'throw "a + b";'])
def test_comments_and_directives_are_left_alone(line: str) -> None:
    assert cpp_mutations("a.h", f"{line}\n".encode()) == []


def test_places_are_right_below_a_comment_that_is_no_ascii() -> None:
    source = "// θ\nreturn a + b;  // ω\nreturn c;\n".encode()
    (found,) = cpp_mutations("a.h", source)
    assert found.applied(source).decode() == "// θ\nreturn a - b;  // ω\nreturn c;\n"
    assert found.line == 2
