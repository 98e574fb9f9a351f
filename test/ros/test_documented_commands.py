# SPDX-License-Identifier: Apache-2.0
"""Command lines in README and docs/ parse with the real parsers; quoted error lines are those in the code."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from node_policies import NODES

from bam_core.cli.command import GROUPS
from bam_core.servo.model import servo_names
from bam_ros.composition.main import NAME as COMPOSITION
from bam_ros.composition.main import programs
from test.documented import ROOT, Block, blocks, written

from site_pages import launch_files, servo_cards  # isort: skip
from site_pages import commands as bam  # isort: skip

PAGES = written()
SHELL = [each for each in blocks({**PAGES, **servo_cards.pages()}) if each.language in ("", "bash", "text")]
LAUNCH = {file.name: {each.name for each in file.arguments} for file in launch_files.launch_files()}
TROUBLES = "docs/how-to/troubleshooting.md"


def lines(block: Block) -> Iterator[list[str]]:
    """Words of each command; comments, continuations and what follows a `>` are the shell's."""
    for line in block.code.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True) if line.strip() and line.count("'") % 2 == 0 else []
        yield words[: words.index(">")] if ">" in words else words


def typed(program: str) -> list[Any]:
    """Arguments of every line that calls a program, by its name or its path."""
    found = []
    for block in SHELL:
        for words in lines(block):
            if words and (words[0] == program or words[0].endswith(f"/{program}")):
                found.append(pytest.param(words[1:], id=f"{block}: {' '.join(words[1:4])}"))
    assert found, program
    return found


@pytest.mark.parametrize("words", typed("bam"))
def test_a_bam_command_parses(words: list[str]) -> None:
    if words[0] in ("--help", "--version", "COMMAND"):
        return
    name, arguments = bam.split(words)
    assert name in bam.commands()
    bam.parser(name).parse_args(arguments)


def test_commands_named_in_sentences_exist() -> None:
    for page, text in PAGES.items():
        for words in re.findall(r"`(?:\.venv/bin/)?bam ([a-z][a-z-]*(?: [a-z][a-z-]*)?)", text):
            name, _ = bam.split(words.split())
            assert name in bam.commands() or name in GROUPS, page


def test_commands_in_sentences_and_tables_have_words_that_their_parsers_know() -> None:
    """They may be incomplete, not wrong."""
    for page, text in PAGES.items():
        for told in re.findall(r"`(?:\.venv/bin/)?(bam [a-z][a-z-]*(?: [^`|]+)?)`", text):
            if told.split()[1:] in [[group] for group in GROUPS]:
                continue
            command, words = bam.split(
                [word for word in shlex.split(told)[1:] if word not in ("--help", "--help-all")]
            )
            parser = bam.parser(command)
            for group in parser._mutually_exclusive_groups:
                group.required = False
            for action in parser._actions:
                action.required, action.type, action.choices = False, None, None
            if words and words[-1].startswith("-"):
                assert words.pop() in parser._option_string_actions, f"{page}: {told}"
            _, unknown = parser.parse_known_args(words)
            assert set(unknown) <= {"...", "…"}, f"{page}: {told}"


@pytest.mark.parametrize("words", typed("ros2"))
def test_a_ros2_command_names_arguments_and_parameters_that_exist(words: list[str]) -> None:
    if words[:2] == ["launch", "bam_bench"]:
        given = {word.partition(":=")[0] for word in words[3:] if ":=" in word}
        assert given <= LAUNCH[words[2].removesuffix(".launch.py")]
    elif words[:2] == ["run", "bam_bench"]:
        check_node(words[2], words[3:])


@pytest.mark.parametrize("name", [about.name for about in NODES])
def test_a_node_started_by_its_path_gets_parameters_that_exist(name: str) -> None:
    for block in SHELL:
        for words in lines(block):
            if words and words[0].endswith(f"lib/bam_bench/{name}"):
                check_node(name, words[1:])


def check_node(name: str, words: list[str]) -> None:
    if name == COMPOSITION:
        check_nodes(words)
        return
    (about,) = (about for about in NODES if about.name == name)
    known = {each.name for each in about.parameters} | {"use_sim_time"}
    given = {word.partition(":=")[0] for before, word in pairwise(words) if before == "-p"}
    assert given <= known


def check_nodes(words: list[str]) -> None:
    """Several nodes in one process, with parameters as NODE:PARAMETER."""
    names = words[: words.index("--ros-args")]
    abouts = {program.about.name: program.about for program in programs(names)}
    for before, word in pairwise(words):
        if before == "-p":
            node, parameter = word.partition(":=")[0].split(":")
            assert parameter in {each.name for each in abouts[node].parameters}


def test_troubles_quote_lines_that_the_programs_print() -> None:
    said = [text for package in ("bam_core", "bam_ros") for text in strings(package)]
    rows = [line for line in PAGES[TROUBLES].splitlines() if line.startswith("| `")]
    assert len(rows) > 20
    for row in rows:
        for piece in re.findall(r"`([^`]+)`", row.split(" | ")[0]):
            assert any(piece in text for text in said), piece


def strings(package: str) -> Iterator[str]:
    """Every text in a package's code; where a value is filled in there is a NUL."""
    for file in (ROOT / package).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value
            elif isinstance(node, ast.JoinedStr):
                yield "".join(
                    str(each.value) if isinstance(each, ast.Constant) else "\0" for each in node.values
                )


def test_servos_named_in_commands_are_in_the_library() -> None:
    for words in (words for block in SHELL for words in lines(block)):
        for option, value in pairwise(words):
            if option == "--servo" and not value.endswith(".yaml") and value != "NAME":
                assert value in servo_names()
