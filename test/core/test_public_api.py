# SPDX-License-Identifier: Apache-2.0
"""The public interface is complete: short parameter lists, public types, docstrings.

A constructor that `dataclass` writes is no function here: its fields are keywords, as of all settings.
Constructors, methods and functions that are written out count.
"""

from __future__ import annotations

import ast
from importlib import import_module

import bam_core
from test.core.public_api import (
    MOST_PARAMETERS,
    PUBLIC_MODULES,
    Name,
    functions,
    longest_parameter_lists,
    mentioned,
    parameters,
    private_types,
    public_names,
    without_docstring,
)


def test_no_public_function_has_more_than_six_parameters() -> None:
    assert [each for each in longest_parameter_lists() if each[0] > MOST_PARAMETERS] == []


def test_every_type_that_a_public_signature_mentions_is_public() -> None:
    assert private_types() == []


def test_every_public_name_has_a_docstring() -> None:
    assert without_docstring() == []


def test_a_dataclass_with_many_fields_takes_them_as_keywords() -> None:
    for name in public_names():
        definition = name.definition
        if not isinstance(definition, ast.ClassDef):
            continue
        made = [ast.unparse(each) for each in definition.decorator_list if "dataclass" in ast.unparse(each)]
        fields = [each for each in definition.body if isinstance(each, ast.AnnAssign)]
        if made and len(fields) > MOST_PARAMETERS:
            assert "kw_only=True" in made[0], name
            assert "frozen=True" in made[0], name


def test_public_paths_lead_to_the_definitions() -> None:
    for name, path in public_names().items():
        module, _, word = path.rpartition(".")
        assert getattr(import_module(module), word) is getattr(import_module(name.module), name.name)


def test_all_lists_what_the_walk_visits() -> None:
    visited = set(public_names().values())
    assert {f"bam_core.{name}" for name in bam_core.__all__} <= visited
    assert {path.rpartition(".")[0] for path in visited} == set(PUBLIC_MODULES)


def test_the_walk_finds_parameters_and_types_of_functions_and_classes() -> None:
    identify = Name("bam_core.identification.identify", "identify")
    assert [each.arg for each in parameters(dict(functions(identify))["identify"])] == [
        "recordings",
        "servo",
        "settings",
        "execution",
        "interrupted",
    ]
    assert {"Recording", "ServoLike", "IdentifySettings", "Execution", "Identification"} <= {
        each.name for each in mentioned(identify)
    }
    rollout = Name("bam_core.simulation.rollout", "Rollout")
    assert "Rollout.for_servo" in dict(functions(rollout))
    assert "RolloutSettings" in {each.name for each in mentioned(rollout)}
