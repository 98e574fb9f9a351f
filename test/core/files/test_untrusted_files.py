# SPDX-License-Identifier: Apache-2.0
"""Files of others cannot run code, exhaust memory or stack, or put control characters on a terminal."""

from __future__ import annotations

import io
import json
import logging
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from bam_core.cli.command import Command, main
from bam_core.errors import BamError, Malformed, UnknownName, Unreadable, WrongType
from bam_core.files.json_file import read_json
from bam_core.files.npz_file import LARGEST, read_arrays
from bam_core.files.quoted_number import correct_number
from bam_core.files.yaml_file import LARGEST_FILE, read_yaml
from bam_core.text.warning_lines import print_warnings
from test.core.refusals import refused

LAUGHS = "\n".join(
    ["a0: &a0 [lol, lol]"]
    + [f"a{i}: &a{i} [*a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}, *a{i - 1}]" for i in range(1, 30)]
)
MERGED = "\n".join(
    ["a0: &a0 {x: 1}"] + [f"a{i}: &a{i} {{<<: [{', '.join([f'*a{i - 1}'] * 9)}]}}" for i in range(1, 12)]
)


@pytest.mark.parametrize(
    "text",
    [
        LAUGHS,
        MERGED,
        "&a [*a]",
        "[" * 100_000,
        "{a: " * 60,
        "- " * 5000,
        "x: " + "9" * 5000,
        "x: 999999999999999999999",
        "x: " + "1:" * 60 + "1",
        "x: 2001-99-99",
        "x: !!int a",
        "x: !!float ''",
        "x: !!timestamp never",
        "x: !!bool perhaps",
        "x: !!python/object/apply:os.system ['touch /tmp/run']",
        "x: !!python/name:os.system",
        "x: {[a]: 1}",
        "x: \x1b[2J",
    ],
)
def test_yaml_that_no_file_of_ours_is_like(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with refused(Malformed) as caught:
        read_yaml(path)
    assert len(str(caught.value)) < 1000


def test_a_large_yaml_file_is_not_even_read(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    with path.open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    with refused(Malformed):
        read_yaml(path)


def test_aliases_that_stand_for_little_are_read(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("base: &base {kp: 8}\na: {<<: *base, ki: 1}\nb: [*base, *base]\n")
    assert read_yaml(path) == {"base": {"kp": 8}, "a": {"kp": 8, "ki": 1}, "b": [{"kp": 8}, {"kp": 8}]}


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' + "9" * 5000 + "}", "{", "\xff", ""])
def test_json_that_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(text.encode("latin-1"))
    with refused(Malformed):
        read_json(path)


@pytest.mark.parametrize(
    ("text", "key", "line", "first"),
    [
        ("a: 1\nb: 2\n'a': 3\n", "a", 3, 1),
        ("a:\n  b: 1\n  c: {d: [1, 2], e: 1}\n  b: 2\n", "b", 4, 2),
        ("- {a: 1,\n   a: 1}\n", "a", 2, 1),
        ("x: &k a\n*k : 1\na: 2\n", "a", 3, 2),
        ("? [1, 2]\n: a\nb: 1\nb: 2\n", "b", 4, 3),
    ],
)
def test_yaml_with_a_key_twice(tmp_path: Path, text: str, key: str, line: int, first: int) -> None:
    path = tmp_path / "file.yaml"
    path.write_text(text)
    with refused(Malformed, problem=f"key {key!r} at line {line} is there already, at line {first}"):
        read_yaml(path)


def test_yaml_whose_sections_have_the_same_keys(tmp_path: Path) -> None:
    path = tmp_path / "file.yaml"
    path.write_text("a: {a: a, b: [a, {a: a}, {a: a}]}\nb: {a: a}\n")
    assert read_yaml(path) == {"a": {"a": "a", "b": ["a", {"a": "a"}, {"a": "a"}]}, "b": {"a": "a"}}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1, "b": 2, "a": 3}',
        '{"b": [1, {"a": 1, "a": 1}]}',
        '{"b": {"c": [{"d": {"a": 1, "a": 1}}]}}',
        '{"a" : 1, "a": "::"}',
        '{"a": 1, "\\u0061": 1}',
    ],
)
def test_json_with_a_key_twice(tmp_path: Path, text: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with refused(Malformed, problem="is no sensible JSON (key 'a' is there 2 times)"):
        read_json(path)


def test_json_with_a_colon_in_a_text(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('{"a": "12:30", "b": [{"c": {"a": ":"}}]}')
    assert read_json(path) == {"a": "12:30", "b": [{"c": {"a": ":"}}]}


@pytest.mark.parametrize(
    ("value", "yaml", "json_"),
    [
        ("0.5", "write 0.5 without", "write 0.5 without"),
        ("-3", "write -3 without", "write -3 without"),
        ("1e-5", "need a point", "write 1e-5 without"),
        ("1.0e-5", "write 1.0e-5 without", "write 1.0e-5 without"),
        (" .5 ", "write 0.5 without", "write 0.5 without"),
        ("nan", "correct it", "correct it"),
        ("half", "correct it", "correct it"),
        ([0.5], "correct it", "correct it"),
    ],
)
def test_how_to_correct_a_number(value: object, yaml: str, json_: str) -> None:
    assert yaml in correct_number(value)
    assert json_ in correct_number(value, yaml=False)


def test_json_that_is_not_there(tmp_path: Path) -> None:
    with refused(Unreadable):
        read_json(tmp_path / "file.json")


def npz(content: bytes) -> io.BytesIO:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("a.npy", content)
    return stream


@pytest.mark.long
def test_arrays_larger_than_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as entry:
        for _ in range(LARGEST // 10**6 + 1):
            entry.write(bytes(10**6))
    assert path.stat().st_size < 10**6
    with pytest.raises(ValueError, match="bytes"):
        read_arrays(path)


def test_an_array_that_says_it_is_larger_than_any_memory(tmp_path: Path) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros(3))
    path = tmp_path / "a.npz"
    told, said = b"(3,), }", b"(%d,), }" % 10**15
    large = stream.getvalue().replace(told + b" " * (len(said) - len(told)), said)
    assert len(large) == len(stream.getvalue())
    path.write_bytes(npz(large).getvalue())
    with pytest.raises(ValueError, match=r"\w"):
        read_arrays(path)


def test_pickled_objects_are_not_loaded(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, a=np.array([{"a": 1}], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        read_arrays(path)


def test_arrays_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.npz"
    np.savez_compressed(path, a=np.arange(3), b=np.array(["x"]))
    assert {name: each.tolist() for name, each in read_arrays(path).items()} == {"a": [0, 1, 2], "b": ["x"]}


@pytest.mark.parametrize("text", ["a\nb", "\x1b[2J", "\u202e", "\u2028", "\udcff", "\0"])
def test_an_error_is_one_line_that_prints(text: str) -> None:
    error = BamError(f"name {text!s}: wrong; correct it")
    assert str(error).isprintable()
    assert str(error.within(f"/tmp/{text}")).isprintable()


@pytest.mark.parametrize("text", ["a\nb", "a\x1b]0;x\x07\r\nb", "\x9b2J", "\u202e"])
def test_a_warning_is_one_line_that_prints(
    text: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    print_warnings("bam: %(message)s")
    logging.getLogger("bam_core.any").warning("logs %r, %s", "ö", text)
    line = capsys.readouterr().err.removesuffix("\n")
    assert line.startswith("bam: logs 'ö', ")
    assert line.isprintable()


def test_the_command_line_prints_warnings_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ModuleType("warning")

    def run(arguments: object) -> int:
        logging.getLogger("bam_core.any").warning("motor %s", "a\x1b]0;x\x07\r\nb")
        return 0

    vars(command).update(EXAMPLE="bam warn", add_arguments=lambda parser: None, run=run)
    monkeypatch.setitem(sys.modules, "warning", command)
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    assert main(["warn"], [Command("warn", "warns", "warning")]) == 0
    assert capsys.readouterr().err == "bam: motor a\\x1b]0;x\\x07\\r\\nb\n"


def test_a_very_long_name_leaves_place_for_what_to_do() -> None:
    line = str(BamError(f"name {'x' * 10**6}: unknown"))
    assert len(line) < 300
    assert line.startswith("name xxx")
    assert line.endswith("xxx: unknown")
    unprintable = chr(0x202E) * 10**5
    assert len(str(BamError(f"names {unprintable}: unknown; choose another"))) < 300


@pytest.mark.parametrize(
    "error",
    [
        UnknownName("servo", "x y " * 10**5, ["mx64", "mx106"]),
        WrongType("kp", "x y " * 10**5, "a number"),
        WrongType("kp", list(range(10**5)), "a number"),
        Malformed("a.yaml", f"it's no {'x y ' * 10**5!r} at the joint's end"),
        Malformed("a" * 10**5, "is no YAML"),
    ],
)
def test_of_a_long_value_the_middle_is_left_out(error: BamError) -> None:
    line = str(error)
    assert len(line) < 400
    assert "..." in line
    assert line.endswith(f"; {error.advice}")
    assert len(str(error.within("/a/place"))) == len(line) + len("/a/place: ")


def test_a_line_of_many_words_is_no_longer_than_a_reader_reads() -> None:
    line = str(BamError(f"names {'x y ' * 10**5}: unknown; choose another"))
    assert len(line) <= 1000
    assert line.endswith("; choose another")


def test_paths_and_lists_of_ordinary_length_stay_whole() -> None:
    path = "/home/somebody" + "/a_directory_of_measurements" * 6 + "/recording.mcap"
    valid = [f"joint_of_the_robot_{number}" for number in range(30)]
    line = str(UnknownName("joint", "hip", valid).within(path))
    assert line.startswith(f"{path}: joint 'hip':")
    assert ", ".join(sorted(valid)) in line


def test_json_numbers_stay_numbers(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"a": [1, 2.5, None]}))
    assert read_json(path) == {"a": [1, 2.5, None]}
