# SPDX-License-Identifier: Apache-2.0
"""Definitions are complete, keep their comments and name what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest
from rosbags.typesys import get_types_from_msg

from bam_core.errors import MissingSoftware
from bam_core.recordings.message_definition import (
    contained_types,
    message_definition,
)
from test.core.refusals import refused
from test.run_bag import STATES, definition


def test_a_definition_holds_every_type_it_needs_and_parses() -> None:
    types = get_types_from_msg(definition(STATES), STATES)
    assert set(types) == {STATES, "std_msgs/msg/Header", "builtin_interfaces/msg/Time"}


def test_units_in_comments_reach_the_bag() -> None:
    assert "# [rad] counter-clockwise positive" in definition(STATES)


def test_fields_are_told_from_constants_comments_and_primitives() -> None:
    text = (
        "# Foo bar\nuint8 OK=1  # Time\nstring<=5 name\nother_msgs/Odd[<=3] odd\nLocal[] many\nfloat64[3] x\n"
        "Local again\n\nbuiltin_interfaces/msg/Time t\n"
    )
    expected = ["other_msgs/msg/Odd", "pkg/msg/Local", "builtin_interfaces/msg/Time"]
    assert contained_types("pkg/msg/Root", text) == expected


def test_installed_definitions_are_found_on_the_ament_prefixes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "second" / "share" / "pkg" / "msg"
    folder.mkdir(parents=True)
    (folder / "Thing.msg").write_text("int8 x\n")
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"{tmp_path / 'first'}:{tmp_path / 'second'}")
    assert message_definition("pkg/msg/Thing") == "int8 x\n"


def test_a_type_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMENT_PREFIX_PATH", "")
    with refused(MissingSoftware, purpose="pkg/msg/Gone", software="pkg"):
        message_definition("pkg/msg/Gone")
