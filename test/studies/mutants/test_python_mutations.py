# SPDX-License-Identifier: Apache-2.0
"""Deliberate bugs for Python: each kind is found, changes one thing, and leaves a source that compiles."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.mutants.python_mutations import python_mutations

ROOT = Path(__file__).parents[3]
SOURCES = [ROOT / "bam_core" / "servo" / f"{name}.py" for name in ("effects", "firmware", "friction")]


def bugs(statement: str) -> set[tuple[str, str]]:
    """Kinds and new lines of the bugs of a statement in a function."""
    source = f"def function(a, b, i, self):\n    {statement}\n"
    return {(each.kind, each.after) for each in python_mutations("a.py", source.encode())}


@pytest.mark.parametrize(
    ("statement", "kind", "after"),
    [
        ("return a < b", "comparison", "return a > b"),
        ("return a is None", "comparison", "return a is not None"),
        ("return abs(a)", "abs dropped", "return (a)"),
        ("return np.clip(a, 0, b)", "clip dropped", "return (a)"),
        ("return min(a, b)", "min, max", "return max(a, b)"),
        ("return np.maximum(a, b)", "min, max", "return np.minimum(a, b)"),
        ("return a + b", "sign", "return a - b"),
        ("return -a", "sign", "return (a)"),
        ("a += b", "sign", "a -= b"),
        ("return a * b", "factor", "return a / b"),
        ("return 2.5", "constant", "return 5.0"),
        ("return 0", "constant", "return 1"),
        ("return True", "constant", "return False"),
        ("return a if b else i", "condition negated", "return a if (not (b)) else i"),
        ("return a and b", "and, or", "return a or b"),
        ("return a and b", "condition dropped", "return a and True"),
        ("return a or b", "condition dropped", "return False or b"),
        ("return a[i]", "index", "return a[0]"),
        ("return a[0]", "index", "return a[1]"),
        ("return a[-1]", "index", "return a[0]"),
        ("self.guard(a)", "call dropped", "pass"),
        ("self.kept = None", "assignment dropped", "pass"),
        ("return replace(a, b=1, c=2)", "argument dropped", "return replace(a, c=2)"),
        ('return ("x", "kp")', "element dropped", 'return ("x", )'),
        ("return math.hypot(a, b)", "hypot", "return ((a) + (b))"),
    ],
)
def test_each_kind_of_bug_is_found(statement: str, kind: str, after: str) -> None:
    assert (kind, after) in bugs(statement)


@pytest.mark.parametrize(
    "statement",
    [
        'raise ValueError("a", 1 + 2)',
        'log.warning("%d", 1 + 2)',
        'return f"{1 + 2}"',
        "from a import b",
        'return "text"',
        "a: tuple[int, 3]",
        "kept = a.b",
    ],
)
def test_what_no_test_should_hold_is_left_alone(statement: str) -> None:
    assert bugs(statement) == set()


def test_named_constants_and_decorators_are_left_alone() -> None:
    source = b"LIMIT = 0.5\n\n\n@cache(maxsize=1)\ndef function(a: int = 3) -> int:\n    return LIMIT\n"
    (mutation,) = python_mutations("a.py", source)
    assert mutation.after == source.decode().splitlines()[4].replace("3", "6")


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_bugs_of_a_source_compile_differ_and_change_nothing_else(path: Path) -> None:
    source = path.read_bytes()
    found = python_mutations(path.name, source)
    texts = [each.applied(source) for each in found]
    assert len(set(texts)) == len(texts)
    for each, text in zip(found, texts, strict=True):
        compile(text, path.name, "exec")
        assert text[: each.start] == source[: each.start]
        assert text.endswith(source[each.end :])
        assert each.before.startswith(" ".join(source.split(b"\n")[each.line - 1].decode().split()))


@given(st.text("θäß ", max_size=5))
def test_places_are_right_behind_letters_that_are_no_ascii(text: str) -> None:
    source = f'def function(a, b):\n    return "{text}", a < b  # {text}\n'
    (found,) = (each for each in python_mutations("a.py", source.encode()) if each.kind == "comparison")
    assert found.applied(source.encode()).decode() == source.replace("<", ">")
