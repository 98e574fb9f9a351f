# SPDX-License-Identifier: Apache-2.0
"""Kinds of errors: the line that each composes, the objects that it keeps, and the way between processes."""

from __future__ import annotations

import pickle

import pytest

from bam_core import errors
from bam_core.errors import (
    BadData,
    BamError,
    Conflict,
    FileError,
    Malformed,
    Missing,
    MissingSoftware,
    NotWritable,
    OutOfRange,
    Unavailable,
    UnknownName,
    Unreadable,
    Unsupported,
    WrongShape,
    WrongType,
    WrongValue,
)

DENIED = PermissionError(13, "Permission denied", "a.yaml")

LINES = [
    (
        UnknownName("servo", "MX-106", ["mx64", "mx106"]),
        "servo 'MX-106': unknown (valid: mx106, mx64); did you mean 'mx106'?",
    ),
    (
        UnknownName("servo", "?", ["mx64"], advice="or give a file"),
        "servo '?': unknown (valid: mx64); choose one of these; or give a file",
    ),
    (
        WrongValue("rule", "half", "KEY=VALUE", printed="'half', no rule"),
        "rule: is 'half', no rule (expected KEY=VALUE); correct it",
    ),
    (
        OutOfRange("supply", 7.0, "9 to 15 V", printed="7 V", advice="raise it"),
        "supply: is 7 V (expected 9 to 15 V); raise it",
    ),
    (WrongType("kp", "much", "a number"), "kp: is 'much' (expected a number); correct it"),
    (WrongShape("torque, shape", (2,), "(3,)"), "torque, shape: is (2,) (expected (3,)); correct it"),
    (Missing("mass", "a number, kg"), "mass: is missing (expected a number, kg); add it"),
    (
        Conflict("arm_mass", "is given twice", expected="once"),
        "arm_mass: is given twice (expected once); leave one out",
    ),
    (Unsupported("joint", "is a ball", advice="split it"), "joint: is a ball; split it"),
    (
        BadData("logs", "none given", expected="two", advice="name some"),
        "logs: none given (expected two); name some",
    ),
    (FileError("a", "is odd", expected="even", advice="even it"), "a: is odd (expected even); even it"),
    (
        Unreadable("a.yaml", DENIED),
        "a.yaml: cannot be read (Permission denied); check path and permissions",
    ),
    (
        Unreadable("a.xml", "no such file", expected="MJCF", advice="correct the path"),
        "a.xml: no such file (expected MJCF); correct the path",
    ),
    (
        Malformed("a.json", "is not text", expected="JSON"),
        "a.json: is not text (expected JSON); correct it",
    ),
    (
        NotWritable("a.yaml", DENIED),
        "a.yaml: cannot be written (Permission denied); choose another place",
    ),
    (
        NotWritable("a", "is a directory", expected="a file"),
        "a: is a directory (expected a file); choose another place",
    ),
    (
        MissingSoftware("videos", "ffmpeg", problem="ffmpeg is missing", advice="apt install ffmpeg"),
        "videos: ffmpeg is missing; apt install ffmpeg",
    ),
    (
        Unavailable("interface eth0", "is down", expected="up", advice="switch it on"),
        "interface eth0: is down (expected up); switch it on",
    ),
]
KINDS = pytest.mark.parametrize(("error", "line"), LINES, ids=[type(error).__name__ for error, _ in LINES])


@KINDS
def test_a_kind_composes_its_line(error: BamError, line: str) -> None:
    assert isinstance(error, BamError)
    assert str(error) == line


@KINDS
def test_within_a_place_the_line_says_where_and_all_else_stays(error: BamError, line: str) -> None:
    found = error.within("dir").within("host")
    assert str(found) == f"host: dir: {line}"
    assert type(found) is type(error)
    assert vars(found) == {**vars(error), "place": ("host", "dir")}
    assert str(error) == line


@KINDS
def test_an_error_comes_back_from_another_process_as_it_was(error: BamError, line: str) -> None:
    for one in (error, error.within("a place")):
        back = pickle.loads(pickle.dumps(one))
        assert type(back) is type(one)
        assert str(back) == str(one)
        assert vars(back) == vars(one)


def test_every_kind_is_tried_here() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, BamError)}
    assert {type(error) for error, _ in LINES} == kinds - {BamError}


def test_errors_keep_the_objects_that_they_are_about() -> None:
    name = UnknownName("servo", "MX-106", ["mx64", "mx106"])
    assert (name.kind, name.name, name.valid) == ("servo", "MX-106", ("mx106", "mx64"))
    value = OutOfRange("supply", 7.0, "9 to 15 V", printed="7 V")
    assert (value.thing, value.value, value.expected) == ("supply", 7.0, "9 to 15 V")
    missing = Missing("mass", "a number, kg")
    assert (missing.thing, missing.expected) == ("mass", "a number, kg")
    conflict = Conflict("arm_mass", "given twice", advice="drop one")
    assert (conflict.thing, conflict.problem, conflict.advice) == ("arm_mass", "given twice", "drop one")
    inner = conflict.within("entry 2").within("a.yaml")
    assert (inner.place, inner.thing, inner.advice) == (("a.yaml", "entry 2"), "arm_mass", "drop one")
    assert conflict.place == ()
    file = NotWritable("a.yaml", DENIED)
    assert file.path == "a.yaml"
    assert str(DENIED.strerror) in file.problem
    assert (UnknownName("servo", "mx107", ["mx64", "mx106"]).closest, name.closest) == ("mx106", "mx106")
    assert UnknownName("servo", "erob", ["mx64"]).closest is None
    software = MissingSoftware("videos", "ffmpeg", problem="is missing", advice="install it")
    assert (software.purpose, software.software) == ("videos", "ffmpeg")
    device = Unavailable("interface eth0", "is down", advice="switch it on")
    assert (device.thing, device.problem) == ("interface eth0", "is down")
