# SPDX-License-Identifier: Apache-2.0
"""Every field of every interface is explained; requests say what a field that is left empty means."""

from __future__ import annotations

from pathlib import Path

import pytest
from node_policies import NODES
from site_pages.names import Use
from site_pages.names import fields as all_fields

from bam_core.identification.search.methods import MIN_EVALUATIONS

ROOT = Path(__file__).parents[2]
FILES = sorted(file for kind in ("msg", "srv", "action") for file in (ROOT / kind).iterdir())
REQUESTS = ["action/Identify.action", "action/Record.action", "srv/IdentifyModel.srv"]


def fields(text: str) -> dict[str, str]:
    """Comment of each field; a line that only comments goes on with that of the field above."""
    comments: dict[str, str] = {}
    for line in text.splitlines():
        code, _, comment = line.partition("#")
        if code.strip():
            comments[code.split()[1]] = comment.strip()
        elif comments and comment:
            comments[list(comments)[-1]] += " " + comment.strip()
    return {name: comment for name, comment in comments.items() if name != "---"}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_field_is_explained(file: Path) -> None:
    text = file.read_text()
    assert text.startswith("# ")
    for part in text.split("---\n"):
        for name, comment in fields(part).items():
            assert comment or name.split("=")[0].isupper(), f"{file.name}: {name}"


@pytest.mark.parametrize("name", REQUESTS)
def test_a_request_says_what_its_empty_fields_mean(name: str) -> None:
    request = (ROOT / name).read_text().partition("---\n")[0]
    for field, comment in fields(request).items():
        said = ("empty: ", "0: ", "required", "the same seed")
        assert any(word in comment for word in said), f"{name}: {field}"


@pytest.mark.parametrize("name", ["action/Identify.action", "srv/IdentifyModel.srv"])
def test_the_least_number_of_trials_is_told(name: str) -> None:
    request = (ROOT / name).read_text().partition("---\n")[0]
    assert f"at least {MIN_EVALUATIONS};" in fields(request)["trials"]


# One meaning per name

USES = all_fields()
PARAMETERS = [(each.name, each.type_name, about.name) for about in NODES for each in about.parameters]
TYPES = {"double": "float64", "integer": "int", "string": "string", "bool": "bool"}
"""Type of parameters -> type of fields."""


def one(use: Use) -> str:
    """Type of one value."""
    return use.type.removesuffix("[]")


@pytest.mark.parametrize("name", sorted({use.name for use in USES}))
def test_a_field_has_the_same_type_and_unit_wherever_it_is(name: str) -> None:
    uses = [use for use in USES if use.name == name]
    assert len({(one(use), use.unit) for use in uses}) == 1, uses


def test_the_service_that_identifies_has_the_fields_of_the_action() -> None:
    def of(where: str) -> dict[str, str]:
        return {use.name: use.type for use in USES if use.where == where}

    assert of("IdentifyModel, request") == of("Identify, goal")
    assert of("IdentifyModel, response") == of("Identify, result")
    assert len(of("Identify, goal")) == 9


@pytest.mark.parametrize("name", sorted({name for name, _, _ in PARAMETERS}))
def test_a_parameter_has_the_same_type_in_all_nodes_and_that_of_the_field_of_its_name(name: str) -> None:
    uses = [(kind, node) for parameter, kind, node in PARAMETERS if parameter == name]
    assert len({kind for kind, _ in uses}) == 1, uses
    value = TYPES[uses[0][0].removesuffix("[]")]
    for use in USES:
        if use.name == name:
            assert one(use).lstrip("u").startswith(value), use


def test_a_topic_has_the_same_type_in_all_nodes() -> None:
    types: dict[str, set[str]] = {}
    for about in NODES:
        for interface in about.interfaces:
            types.setdefault(interface.name, set()).add(interface.type)
    assert {name: kinds for name, kinds in types.items() if len(kinds) > 1} == {}
