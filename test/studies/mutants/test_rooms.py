# SPDX-License-Identifier: Apache-2.0
"""Rooms of deliberate bugs: their sources are there, and each has tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from bam_core.errors import Missing
from studies.mutants.rooms import ROOMS, Room, mutations_of, stages_of
from test.core.refusals import refused

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", ROOMS)
def test_every_source_of_a_room_is_there_and_has_tests(name: str) -> None:
    room = ROOMS[name]
    paths = room.files(ROOT)
    assert mutations_of(ROOT, paths[0])
    for path in paths:
        assert any(stages_of(ROOT, room, path)), path
    for place in room.tests:
        assert (ROOT / place).is_dir()


def test_a_source_that_has_moved_is_an_error(tmp_path: Path) -> None:
    with refused(Missing):
        Room(group="law", sources=("gone/*.py",), tests=()).files(tmp_path)


def test_the_mirrored_test_comes_first_then_the_rooms_then_those_that_import_the_source(
    tmp_path: Path,
) -> None:
    files = {
        "test/core/room/test_other.py": "",
        "test/core/room/test_room_law.py": "",
        "test/core/room/test_lawn.py": "",
        "test/core/above/test_above.py": "from bam_core.room.law import force\n",
        "test/core/above/test_module.py": "from bam_core.room import law\n",
        "test/core/above/test_apart.py": "from bam_core.room.lawn import grass\n",
        "test/ros/driver/test_node.py": "from bam_core.room import law, other\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    room = Room(group="law", sources=(), tests=("test/core/room",))
    assert stages_of(tmp_path, room, "bam_core/room/law.py") == [
        ["test/core/room/test_room_law.py"],
        ["test/core/room/test_lawn.py", "test/core/room/test_other.py"],
        ["test/core/above/test_above.py", "test/core/above/test_module.py"],
        ["test/ros/driver/test_node.py"],
    ]
