# SPDX-License-Identifier: Apache-2.0
"""Deliberate bugs for Python sources: one change of the syntax tree each, made in the text.

Left alone: text, annotations, imports, `raise` with what it raises, log lines, decorators, and the named
constants of a module, whose number a test would only repeat.
"""

from __future__ import annotations

import ast
import itertools
import re
from dataclasses import dataclass
from typing import Any

_COMPARISONS = {
    ast.Lt: ("<", ">"),
    ast.LtE: ("<=", ">="),
    ast.Gt: (">", "<"),
    ast.GtE: (">=", "<="),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: ("is not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: ("not in", "in"),
}
_SIGNS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
_FACTORS = {ast.Mult: ("*", "/"), ast.Div: ("/", "*")}
_SWAPPED = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
}
_FIRST_ALONE = {"clip", "abs", "fabs", "clamp"}
_SILENT_KEYWORDS = {"replace", "np", "math", "sorted", "min", "max"}
_HARMLESS_KEYWORDS = {"dtype", "over", "divide", "invalid"}  # they say what is so anyway, or keep numpy quiet
_LOGS = re.compile(r"\b(log|logger|_log|_LOG|print|warn\w*|say|report|debug|info)\b")
_TYPES = {"int", "float", "str", "bool", "bytes", "object", "type"}


@dataclass(frozen=True, kw_only=True)
class Mutation:
    """One deliberate bug.

    Attributes:
        path: of the source, relative to the tree.
        kind: what is changed, such as "sign" or "call dropped".
        start: first byte of the text that is replaced.
        end: byte behind it.
        text: what replaces it.
        line: number of the line of `start`, from one.
        before: the lines that change, without margins, joined by blanks.
        after: these lines with the bug.
    """

    path: str
    kind: str
    start: int
    end: int
    text: str
    line: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """What the bug is, whatever the number of its line."""
        return f"{self.path}: {self.kind}: {self.before} -> {self.after}"

    def applied(self, source: bytes) -> bytes:
        """Return a source with the bug."""
        return source[: self.start] + self.text.encode() + source[self.end :]


def mutation(path: str, source: bytes, kind: str, start: int, end: int, text: str) -> Mutation:
    """Return a mutation with the lines that it changes."""
    first = source.rfind(b"\n", 0, start) + 1
    last = source.find(b"\n", end)
    last = len(source) if last < 0 else last
    after = source[first:start] + text.encode() + source[end:last]
    return Mutation(
        path=path,
        kind=kind,
        start=start,
        end=end,
        text=text,
        line=source.count(b"\n", 0, start) + 1,
        before=" ".join(source[first:last].decode().split()),
        after=" ".join(after.decode().split()),
    )


def python_mutations(path: str, source: bytes) -> list[Mutation]:
    """Return all deliberate bugs of a source, in the order of its text.

    Args:
        path: of the source, for the record.
        source: its text; it compiles.
    """
    tree = ast.parse(source)
    finder = _Finder(source)
    finder.visit(tree)
    mutations = {}
    for kind, start, end, text in finder.edits:
        first, last = finder.function(start)
        before, after = source[first:last], source[first:start] + text.encode() + source[end:last]
        try:  # the function alone: the rest stays as it is
            original, changed = (
                ast.dump(ast.parse(b"if 1:\n " + part.replace(b"\n", b"\n "))) for part in (before, after)
            )
        except SyntaxError:
            continue
        if changed != original:
            mutations[first, changed] = mutation(path, source, kind, start, end, text)
    return sorted(
        mutations.values(),
        key=lambda edit: (edit.start, edit.kind, edit.text),
    )


class _Finder(ast.NodeVisitor):
    """Collects edits (kind, first byte, byte behind, text)."""

    def __init__(self, source: bytes) -> None:
        self.edits: list[tuple[str, int, int, str]] = []
        self._source = source
        lines = source.split(b"\n")
        self._offsets = [0]
        for line in lines:
            self._offsets.append(self._offsets[-1] + len(line) + 1)
        self._function: str | None = None
        self._functions: list[tuple[int, int]] = []

    def function(self, place: int) -> tuple[int, int]:
        """Return the first byte of the lines of the function around a place, and the byte behind them."""
        return next(lines for lines in self._functions if lines[0] <= place < lines[1])

    # What is left alone.

    def visit_Raise(self, node: ast.Raise) -> None:
        pass

    def visit_Import(self, node: ast.Import) -> None:
        pass

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        pass

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        pass

    def visit_Assert(self, node: ast.Assert) -> None:
        pass

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and self._function is not None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        outer, self._function = self._function, node.name
        if outer is None:
            self._functions.append((self._offsets[node.lineno - 1], self.span(node)[1]))
        for default in (*node.args.defaults, *filter(None, node.args.kw_defaults)):
            self.visit(default)
        for statement in node.body:
            self.visit(statement)
        self._function = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self.visit(statement)

    def visit_Module(self, node: ast.Module) -> None:
        for statement in node.body:
            if isinstance(statement, ast.FunctionDef | ast.ClassDef):
                self.visit(statement)

    # What is changed.

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Call) or _LOGS.search(self._text(node.value.func)):
            return
        self._replace("call dropped", node, "pass")
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        kept = self._function in (None, "__init__", "__post_init__")
        if not kept and all(isinstance(target, ast.Attribute | ast.Subscript) for target in node.targets):
            self._replace("assignment dropped", node, "pass")
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._replace("assignment dropped", node, "pass")
        operators = {**_SIGNS, **_FACTORS}.get(type(node.op))
        if operators:
            old, new = (f"{operator}=" for operator in operators)
            self._between("sign" if type(node.op) in _SIGNS else "factor", node.target, node.value, old, new)
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            self._between("comparison", left, right, *_COMPARISONS[type(operator)])
            left = right
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
        for left, right in itertools.pairwise(node.values):
            self._between("and, or", left, right, old, new)
        for value in node.values:  # one condition of several dropped
            self._replace("condition dropped", value, "True" if old == "and" else "False")
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.left, ast.List | ast.Tuple):  # repeated, not multiplied
            self.generic_visit(node)
            return
        for kind, operators in (("sign", _SIGNS), ("factor", _FACTORS)):
            if type(node.op) in operators:
                self._between(kind, node.left, node.right, *operators[type(node.op)])
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.USub | ast.Not | ast.Invert):
            kind = "sign" if isinstance(node.op, ast.USub) else "condition negated"
            self._replace(kind, node, f"({self._text(node.operand)})")
        self.generic_visit(node)

    def visit_If(self, node: ast.If) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_While(self, node: ast.While) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for condition in node.ifs:
            self._negate(condition)
            self._replace("condition dropped", condition, "True")
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self._text(node.func)
        last = name.rpartition(".")[2]
        if last in _SWAPPED:
            function = self.span(node.func)
            self._edit(
                "min, max" if last[0] == "m" else "any, all",
                function[1] - len(last),
                function[1],
                _SWAPPED[last],
            )
        if last in _FIRST_ALONE and node.args:
            self._replace(f"{last} dropped", node, f"({self._text(node.args[0])})")
        if last == "hypot" and len(node.args) == 2:
            first, second = map(self._text, node.args)
            self._replace("hypot", node, f"(({first}) + ({second}))")
        if name.split(".")[0] in _SILENT_KEYWORDS or last == "replace":
            for keyword in node.keywords:
                if keyword.arg in _HARMLESS_KEYWORDS:
                    continue
                start, end = self.span(keyword)
                comma = re.match(rb"\s*,\s*", self._source[end:])
                self._edit("argument dropped", start, end + (comma.end() if comma else 0), "")
        self.visit(node.func)
        for value in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        index = node.slice
        if isinstance(index, ast.Constant) and isinstance(index.value, int):
            self._replace("index", index, "0" if index.value else "1")
        elif (isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant)) or (
            isinstance(index, ast.Name) and index.id[0].islower() and index.id not in _TYPES
        ):
            self._replace("index", index, "0")
        else:
            self.visit(index)
        self.visit(node.value)

    def visit_Tuple(self, node: ast.Tuple) -> None:
        self._shorten(node)

    def visit_List(self, node: ast.List) -> None:
        self._shorten(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, bool):
            self._replace("constant", node, str(not node.value))
        elif isinstance(node.value, int | float):
            self._replace("constant", node, repr(2 * node.value) if node.value else "1")

    def _shorten(self, node: ast.Tuple | ast.List) -> None:
        names = [
            element
            for element in node.elts
            if isinstance(element, ast.Constant) and isinstance(element.value, str)
        ]
        if isinstance(node.ctx, ast.Load) and len(names) == len(node.elts) > 1:
            for name in names:
                start, end = self.span(name)
                comma = re.match(rb"\s*,\s*", self._source[end:])
                self._edit("element dropped", start, end + (comma.end() if comma else 0), "")
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        if not isinstance(test, ast.UnaryOp) or not isinstance(test.op, ast.Not):
            self._replace("condition negated", test, f"(not ({self._text(test)}))")

    def _between(self, kind: str, left: ast.AST, right: ast.AST, old: str, new: str) -> None:
        """Replace the operator between two operands."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = self._source[start:end].decode()
        if gap.count(old) == 1 and "#" not in gap:
            place = start + len(gap[: gap.index(old)].encode())
            self._edit(kind, place, place + len(old), new)

    def _replace(self, kind: str, node: ast.AST, text: str) -> None:
        self._edit(kind, *self.span(node), text)

    def _edit(self, kind: str, start: int, end: int, text: str) -> None:
        self.edits.append((kind, start, end, text))

    def _text(self, node: ast.AST) -> str:
        start, end = self.span(node)
        return self._source[start:end].decode()

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return the first byte of a node's text, and the byte behind it."""
        place: Any = node
        first = self._offsets[place.lineno - 1] + place.col_offset
        return first, self._offsets[place.end_lineno - 1] + place.end_col_offset
